"""An index of an older format on a server: the first result of a search says what its asker has waited for."""

from __future__ import annotations

from pathlib import Path

from tests.older_formats import made_older

from codefathom import Engine
from codefathom.server.server_config import ServerConfig
from codefathom.stores.catalog.schema import FORMAT

from .conftest import Serve


def test_the_first_search_says_what_it_has_waited_for(config: ServerConfig, serve: Serve, shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
    with serve(config) as client:
        project = client.post("/projects", json={"path": str(shop)}).json()["id"]
    made_older(shop / ".fathom" / "catalog.db", FORMAT - 1)
    with serve(config) as client:
        question = {"query": "price of an order", "project_id": project}
        first, second = (client.post("/search", json=question).json() for _ in range(2))
    assert first.get("hits") and second.get("hits"), first.keys()
    kinds = [[part["kind"] for part in answer["degraded_parts"]] for answer in (first, second)]
    assert ["old_format" in some for some in kinds] == [True, False]
