"""Requests made from the OpenAPI document, right and wrong ones: none breaks the server, each answer has its form."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.server.conftest import Serve
from tests.server.test_projects import index
from tests.waiting import LONG_S

from codefathom.server.server_config import ServerConfig

N_REQUESTS = 5  # of each route and kind
MODES = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
CHECKS = [status_code_conformance, content_type_conformance]


@pytest.fixture
def server(serve: Serve, config: ServerConfig, shop: Path) -> Iterator[httpx.Client]:
    index(shop)
    with serve(replace(config, allowed_roots=(str(shop.resolve()),))) as server:
        yield server


def test_no_request_breaks_the_server(server: httpx.Client, shop: Path) -> None:
    document = server.get("/openapi.json").json()
    n_operations = 0
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(found, Ok), found
        server.post("/projects", json={"path": str(shop)})  # one of the requests may have removed it
        for mode in MODES:
            # Where nothing is taken nothing can be wrong.
            with suppress(Unsatisfiable):
                ask_often(str(server.base_url), found.ok(), mode)
        n_operations += 1
    assert n_operations == sum(len(methods) for methods in document["paths"].values()) > 0
    assert server.get("/health").status_code == 200


def ask_often(address: str, operation: Any, mode: schemathesis.GenerationMode) -> None:
    @settings(
        max_examples=N_REQUESTS,
        phases=[Phase.explicit, Phase.generate],
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        answer = case.call(base_url=address, timeout=LONG_S)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)
        # The document describes a stream as text; tests of their own hold what is in it.
        is_stream = answer.headers.get("content-type", [""])[0].startswith("text/event-stream")
        case.validate_response(answer, checks=CHECKS if is_stream else [*CHECKS, response_schema_conformance])

    ask()
