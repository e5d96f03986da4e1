"""A question that is too long is refused at once, on every route that takes one, with the limit and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

LONG = "返" * 400_000  # 1.2 MB, of the 2 that a body may have
BODIES: dict[str, dict[str, Any]] = {
    "/search": {"query": LONG},
    "/federated/search": {"query": LONG},
    "/context": {"query": LONG},
    "/ask": {"query": LONG},
    "/ask/stream": {"query": LONG},
    "/ask/agent": {"query": LONG},
    "/query": {"question": LONG},
    "/v1/chat/completions": {"model": "shop", "messages": [{"role": "user", "content": LONG}]},
}


@pytest.mark.parametrize("route", BODIES)
def test_a_question_that_is_too_long(server: httpx.Client, shop: Path, route: str) -> None:
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    answer = server.post(route, json=BODIES[route])
    assert answer.status_code == 422
    told = answer.json()
    message = told["error"]["message"] if route.startswith("/v1/") else f"{told['detail']} ({told['hint']})"
    assert "100000" in message
    assert message.endswith("(send a shorter text)")
    assert len(answer.text) < 1_000


def test_a_long_issue_is_answered(server: httpx.Client, shop: Path) -> None:
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    answer = server.post("/search", json={"query": "the total of a cart is priced twice\n" * 1_500})
    assert answer.json()["hits"]
