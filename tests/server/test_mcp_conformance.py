"""The official conformance suite of the protocol against /mcp: as it is, and with the tools that the suite asks for."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from tests.fathom import Fathom
from tests.server.conftest import serving
from tests.server.mcp_fixtures import server as fixture_server
from tests.waiting import LONG_S, Started

from codefathom.server.app import create_app
from codefathom.server.guard import Guard
from codefathom.server.mcp.mcp_route import McpEndpoint, router
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState

SUITE = Path(__file__).parent / "conformance"
NPM = Path(__file__).parents[2] / "web" / "npm"
OF_THE_STATELESS_ERA, OF_THE_HANDSHAKE_ERA = "2026-07-28", "2025-11-25"

# One fixture sends log messages, as the suite wants it.
pytestmark = pytest.mark.filterwarnings("ignore:The logging capability")


@pytest.fixture(autouse=True)
def suite() -> None:
    """Skip where the suite is not installed; where everything must be there, fail."""
    if not (SUITE / "node_modules" / ".bin" / "conformance").exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the suite is not installed: make test-mcp")


def verdict(address: str, revision: str, baseline: str = "") -> dict[str, bool]:
    """Run all scenarios that a revision requires; return whether each has passed."""
    said = content(address, ["--requirements", revision], baseline)
    return {name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) ([\w-]+): \d+ passed", said, re.MULTILINE)}


def content(address: str, choice: list[str], baseline: str = "") -> str:
    """Run some scenarios; the suite must be content, but for what its baseline names. Returns what it said."""
    words = ["--prefix", str(SUITE), "exec", "--", "conformance", "server", "--url", f"{address}/mcp", *choice]
    words += ["--expected-failures", str(SUITE / baseline)] if baseline else []
    # Its limit for a scenario is a time: on a busy machine none of them is near it.
    command = ["sh", str(NPM), *words, "--timeout", str(int(LONG_S * 1000))]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with Started(command, **streams, text=True, env={**os.environ, "LEAST_NODE": "22"}) as process:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    return said


@contextmanager
def with_fixtures(config: ServerConfig) -> Iterator[str]:
    """Our guard and our route, before the tools that the suite asks for."""
    real = create_app(config)
    state: ServerState = real.state.server
    endpoint = McpEndpoint(state, lambda _: fixture_server())
    root = logging.getLogger()
    before = root.handlers[:], root.level

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with real.router.lifespan_context(real), endpoint.running():
            yield

    app = FastAPI(lifespan=lifespan)
    app.state.server = state
    app.include_router(router(endpoint))
    app.add_middleware(Guard, state=state)
    try:
        with serving(app) as address:
            yield address
    finally:
        root.handlers, root.level = before  # the SDK's server with decorators sets up the log of the process


def test_all_that_the_revision_requires(config: ServerConfig) -> None:
    with with_fixtures(config) as address:
        passed = verdict(address, OF_THE_STATELESS_ERA)
    required = [name for name in passed if not name.startswith(("tasks-", "json-schema-", "http-"))]
    assert len(required) == 37
    assert all(passed[name] for name in required)


def test_the_older_handshake(config: ServerConfig) -> None:
    with with_fixtures(config) as address:
        passed = verdict(address, OF_THE_HANDSHAKE_ERA, "older-era.yaml")
    assert sum(passed.values()) >= 22


def test_the_server_as_it_is(server: httpx.Client) -> None:
    passed = verdict(str(server.base_url).rstrip("/"), OF_THE_STATELESS_ERA, "real-server.yaml")
    own = {"tools-list", "server-sse-multiple-streams", "dns-rebinding-protection", "http-header-validation"}
    assert {name for name in own if passed[name]} == own


@contextmanager
def session_on_stdin(shop: Path) -> Iterator[str]:
    """`fathom mcp` behind an address: each body becomes a line, and its answer the response."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Fathom(["mcp"], cwd=shop, **streams) as process:
        app = FastAPI()

        @app.post("/mcp")
        async def pass_on(request: Request) -> Response:
            message = await request.json()
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if "id" not in message:
                return Response(status_code=202)
            return Response(process.stdout.readline(), media_type="application/json")

        app.state.server = SimpleNamespace(config=ServerConfig(data_dir=str(shop), allowed_roots=()))
        with serving(app) as address:
            yield address
        process.stdin.close()


@pytest.mark.parametrize(
    ("revision", "scenario", "baseline"),
    [
        (OF_THE_STATELESS_ERA, "tools-list", ""),
        (OF_THE_STATELESS_ERA, "caching", "real-server.yaml"),
        (OF_THE_HANDSHAKE_ERA, "server-initialize", ""),
        (OF_THE_HANDSHAKE_ERA, "ping", ""),
        (OF_THE_HANDSHAKE_ERA, "tools-list", ""),
    ],
)
def test_the_messages_on_stdin(shop: Path, revision: str, scenario: str, baseline: str) -> None:
    """Those of the suite that need neither HTTP nor fixtures; each compares the messages with the schema, too."""
    with session_on_stdin(shop) as address:
        assert "SUCCESS" in content(
            address, ["--scenario", scenario, "--spec-version", revision, "--verbose"], baseline
        )
