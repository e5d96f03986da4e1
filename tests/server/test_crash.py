"""A server that is killed in the middle of a job: the next one carries the job out."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.fathom import Fathom
from tests.waiting import LONG_S

from codefathom.engine import Engine

from .test_routes_jobs import JSON_ONLY, messages


def environment_of(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    return kept | {"FATHOM_SERVER__DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)}


@contextmanager
def process(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Run `fathom serve` on a free port."""
    with Fathom(["serve", "--port", "0"], env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
            assert address is not None
            with httpx.Client(base_url=address[0], timeout=LONG_S) as client:
                yield server, client
        finally:
            server.kill()


def test_an_open_stream_does_not_keep_the_server_from_stopping(shop: Path, tmp_path: Path) -> None:
    environment = environment_of(tmp_path)
    with Engine.open(str(shop)) as engine:
        writing = engine.index_events()
        next(writing)
        with process(environment) as (server, client):
            project = client.post("/projects", json={"path": str(shop)}).json()["id"]
            with client.stream("POST", f"/projects/{project}/index") as stream:
                lines = stream.iter_lines()
                assert any('"phase": "waiting"' in line for line in lines)
                server.send_signal(signal.SIGTERM)
                rest = "\n".join(lines)  # ends, in order
            assert messages(rest)[-1:] != [{"type": "done"}]
            assert server.wait() in {0, -signal.SIGTERM}  # as it was told, and after cleaning up
        writing.close()


def test_a_job_outlives_a_server_that_is_killed(shop: Path, tmp_path: Path) -> None:
    environment = environment_of(tmp_path)
    with Engine.open(str(shop)) as engine:
        writing = engine.index_events()
        next(writing)  # keeps the job of the server waiting
        with process(environment) as (server, client):
            project = client.post("/projects", json={"path": str(shop)}).json()["id"]
            job = client.post(f"/projects/{project}/index", headers=JSON_ONLY).json()
            with client.stream("GET", f"/jobs/{job['id']}/events") as stream:
                assert any('"phase": "waiting"' in line for line in stream.iter_lines())
            server.send_signal(signal.SIGKILL)
            server.wait()
        writing.close()
    with process(environment) as (_, client):
        told = messages(client.get(f"/jobs/{job['id']}/events").text)
        assert told[-1]["data"] == {"job_id": job["id"], "state": "done"}
        assert client.get(f"/jobs/{job['id']}").json()["attempts"] == 2
        assert client.post("/search", json={"query": "cart", "project_id": project}).json()["hits"]
