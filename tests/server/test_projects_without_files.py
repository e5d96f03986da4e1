"""A project of which no file can be indexed: after its job the remedy is another one than a job."""

from __future__ import annotations

from pathlib import Path

import httpx
from tests.server.test_projects import add


def test_after_its_job_the_reason_is_told(server: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "a.bin").write_bytes(bytes(range(256)) * 4)
    add(server, tmp_path / "bare")
    before = server.get("/map").json()
    assert before["hint"] == "POST /projects/bare/index makes it"
    assert '"type": "complete"' in server.post("/projects/bare/index").text
    for answer in (server.get("/map"), server.post("/search", json={"query": "price"})):
        told = answer.json()
        assert (answer.status_code, told["code"]) == (409, "not_indexed")
        assert told["detail"] == "no file of the project 'bare' can be indexed"
        assert told["hint"].startswith("GET /projects/bare/status lists what is left out; add files, then POST ")
    assert server.get("/projects/bare/status").json()["skipped"][0]["path"] == "a.bin"
