"""Indexing over real sockets: streams that are joined, left and gone on with; cancelling; the route that waits."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.waiting import LONG_S

from codefathom.engine import Engine
from codefathom.server.server_config import ServerConfig

from .conftest import Serve

JSON_ONLY = {"accept": "application/json"}


@pytest.fixture
def project(server: httpx.Client, shop: Path) -> str:
    """The id of the shop, which is not indexed yet."""
    added = server.post("/projects", json={"path": str(shop)})
    return str(added.json()["id"])


def messages(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def ids(text: str) -> list[str]:
    return [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")]


def indexed(server: httpx.Client, project: str, **headers: str) -> httpx.Response:
    response = server.post(f"/projects/{project}/index", headers=headers)
    assert response.status_code == 200
    return response


def test_indexing_is_told_from_its_beginning_to_its_end(server: httpx.Client, project: str) -> None:
    response = indexed(server, project)
    assert response.headers["content-type"].startswith("text/event-stream")
    told = messages(response.text)
    types = [message["type"] for message in told]
    assert types[0] == "queued"
    assert types[-2:] == ["complete", "done"]
    assert {"scan_start", "scan_complete", "indexing", "saving"} <= set(types)
    extent = next(message["data"] for message in told if message["type"] == "scan_complete")
    assert extent["n_to_index"] == extent["n_files"] == extent["file_count"] > 0
    assert extent["n_to_remove"] == 0
    complete = told[-2]["data"]
    assert complete["file_count"] == complete["report"]["n_added"] > 0
    assert complete["chunk_count"] > 0
    step = next(message["data"] for message in told if message["type"] == "indexing")
    assert {"current_file", "current", "total", "percent", "estimated_remaining_seconds"} <= step.keys()


def test_a_report_counts_what_is_not_embedded(server: httpx.Client, project: str) -> None:
    assert server.patch(f"/projects/{project}", json={"settings": {"index.min_tokens": 10_000}}).status_code == 200
    report = messages(indexed(server, project).text)[-2]["data"]["report"]
    assert report["n_by_text"] == report["n_files"] > 0


def test_a_first_run_that_was_ended_is_not_indexed(server: httpx.Client, project: str, shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        events = engine.index_events()
        assert any(getattr(event, "phase", "") == "write" for event in events)
        events.close()  # type: ignore[attr-defined]
    shown = server.get(f"/projects/{project}").json()
    assert (shown["status"], shown["indexed_at"]) == ("incomplete", 0.0)
    assert "not completed" in shown["problem"]
    assert server.get("/projects/indexed").json()["projects"] == []
    assert server.patch(f"/projects/{project}", json={"settings": {"search.refresh": "never"}}).status_code == 200
    result = server.post("/search", json={"query": "cart", "project_id": project}).json()
    assert any("files are indexed; until then" in note for note in result["degraded"])
    assert "files are indexed" in server.get(f"/projects/{project}/status").json()["incomplete"]
    indexed(server, project)
    shown = server.get(f"/projects/{project}").json()
    assert (shown["status"], shown["problem"]) == ("indexed", "")
    assert [item["id"] for item in server.get("/projects/indexed").json()["projects"]] == [project]


def test_what_was_indexed_is_found(server: httpx.Client, project: str) -> None:
    assert server.post("/search", json={"query": "cart", "project_id": project}).status_code == 409
    indexed(server, project)
    assert server.post("/search", json={"query": "cart", "project_id": project}).json()["hits"]


def test_a_search_sees_what_a_job_has_just_indexed(server: httpx.Client, project: str, shop: Path) -> None:
    indexed(server, project)
    server.post("/search", json={"query": "cart", "project_id": project})
    (shop / "zebra.py").write_text("def count_zebra_stripes(animal):\n    return animal.stripes\n")
    indexed(server, project)
    found = server.post("/search", json={"query": "count_zebra_stripes", "project_id": project}).json()
    assert found["hits"][0]["path"] == "zebra.py"
    assert not found["stale"]


def test_a_client_that_wants_json_gets_the_job(server: httpx.Client, project: str) -> None:
    response = server.post(f"/projects/{project}/index", headers=JSON_ONLY)
    assert response.status_code == 202
    job = response.json()
    assert response.headers["location"] == f"/jobs/{job['id']}"
    assert job["state"] in {"queued", "running"}
    assert messages(server.get(f"/jobs/{job['id']}/events").text)[-1] == {
        "type": "done",
        "data": {"job_id": job["id"], "state": "done"},
    }
    assert server.get(f"/jobs/{job['id']}").json()["state"] == "done"
    assert [item["id"] for item in server.get("/jobs", params={"project_id": project}).json()["jobs"]] == [job["id"]]
    assert server.get("/jobs", params={"state": "failed"}).json()["jobs"] == []


def test_a_page_that_is_loaded_again_sees_where_the_job_is(server: httpx.Client, project: str) -> None:
    indexed(server, project)
    told = messages(server.get(f"/projects/{project}/index").text)
    assert [message["type"] for message in told] == ["status", "complete", "done"]
    assert told[0]["data"]["state"] == "done"


def test_a_stream_goes_on_after_the_last_event_that_came(server: httpx.Client, project: str) -> None:
    whole = indexed(server, project).text
    known = ids(whole)
    for place in (0, len(known) // 2, len(known) - 1):
        rest = server.get(f"/projects/{project}/index", headers={"Last-Event-ID": known[place]}).text
        assert ids(rest) == known[place + 1 :]
    unknown = server.get(f"/projects/{project}/index", headers={"Last-Event-ID": "other.3"}).text
    assert messages(unknown)[0]["type"] == "status"


def test_an_event_source_gets_named_events(server: httpx.Client, project: str) -> None:
    text = server.post(f"/projects/{project}/index", params={"events": "typed"}).text
    assert "event: complete\ndata: {" in text
    assert text.endswith("\n\n")


def test_a_raw_client_reads_the_stream_byte_by_byte(server: httpx.Client, project: str) -> None:
    address = urlsplit(str(server.base_url))
    body = b""
    with socket.create_connection((address.hostname, address.port), timeout=LONG_S) as connection:
        headers = "Host: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        connection.sendall(f"POST /projects/{project}/index HTTP/1.1\r\n{headers}".encode())
        while piece := connection.recv(1):
            body += piece
    lines = body.decode().split("\r\n\r\n", 1)[1].splitlines()
    assert [message["type"] for message in messages("\n".join(lines))][-2:] == ["complete", "done"]


@pytest.fixture
def held(shop: Path) -> Any:
    """Hold the lock of the index, so that a job of the server waits."""
    with Engine.open(str(shop)) as engine:
        writing = engine.index_events()
        next(writing)
        yield writing
        writing.close()


def test_a_waiting_job_can_be_joined_left_and_cancelled(server: httpx.Client, project: str, held: Any) -> None:
    job = server.post(f"/projects/{project}/index", headers=JSON_ONLY).json()
    with server.stream("GET", f"/jobs/{job['id']}/events") as stream:
        for line in stream.iter_lines():
            if '"phase": "waiting"' in line:
                break
    again = server.post(f"/projects/{project}/index", headers=JSON_ONLY).json()
    assert again["id"] == job["id"]
    assert server.get(f"/jobs/{job['id']}").json()["state"] == "running"  # leaving a stream ends no job
    cancelled = server.post(f"/jobs/{job['id']}/cancel")
    assert cancelled.json()["state"] == "cancelled"
    told = messages(server.get(f"/projects/{project}/index").text)
    assert [message["type"] for message in told] == ["status", "cancelled", "done"]
    assert server.post(f"/jobs/{job['id']}/cancel").json()["state"] == "cancelled"


def test_removing_an_index_leaves_nothing(server: httpx.Client, project: str, shop: Path) -> None:
    indexed(server, project)
    assert server.post("/search", json={"query": "cart", "project_id": project}).json()["hits"]
    assert server.delete(f"/projects/{project}/index").status_code == 204
    assert not (shop / ".fathom").exists()
    assert server.get(f"/projects/{project}").json()["status"] == "not_indexed"
    refused = server.delete(f"/projects/{project}/index")
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    refused = server.post("/search", json={"query": "cart", "project_id": project})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_indexed")
    indexed(server, project)
    assert server.post("/search", json={"query": "cart", "project_id": project}).json()["hits"]


def test_removing_an_index_cancels_its_job(server: httpx.Client, project: str, held: Any) -> None:
    job = server.post(f"/projects/{project}/index", headers=JSON_ONLY).json()
    answer = server.delete(f"/projects/{project}/index")
    assert (answer.status_code, answer.json()["code"]) == (409, "locked")  # another program writes it
    assert server.get(f"/jobs/{job['id']}").json()["state"] == "cancelled"


def test_a_job_goes_on_when_the_server_is_started_again(
    config: ServerConfig, serve: Serve, shop: Path, held: Any
) -> None:
    with serve(config) as server:
        project = server.post("/projects", json={"path": str(shop)}).json()["id"]
        job = server.post(f"/projects/{project}/index", headers=JSON_ONLY).json()
    held.close()  # the other writer has ended meanwhile
    with serve(config) as server:
        told = messages(server.get(f"/jobs/{job['id']}/events").text)
        assert told[-1]["data"] == {"job_id": job["id"], "state": "done"}
        assert server.get(f"/jobs/{job['id']}").json()["attempts"] == 1


def test_the_route_of_the_third_document_waits_and_counts(server: httpx.Client, shop: Path) -> None:
    answer = server.post("/api/index", json={"codebase_path": str(shop)})
    assert answer.status_code == 200
    counts = answer.json()
    assert counts["status"] == "success"
    assert counts["total_files"] > 0
    assert counts["total_chunks"] == counts["file_chunks"] + counts["function_chunks"]
    assert counts["output_dir"] == str(shop.resolve() / ".fathom")
    assert counts["project_id"] in {item["id"] for item in server.get("/projects").json()["projects"]}
    again = server.post("/index", json={"codebasePath": str(shop)}).json()
    assert again["project_id"] == counts["project_id"]
    assert again["job_id"] != counts["job_id"]


def test_a_job_that_fails_is_told_as_an_error(server: httpx.Client, project: str, shop: Path) -> None:
    (shop / "fathom.toml").write_text("search.limit = 'many'\n")
    told = messages(indexed(server, project).text)
    assert [message["type"] for message in told][-2:] == ["error", "done"]
    assert told[-2]["data"]["code"] == "SettingsError"
    assert server.get("/jobs").json()["jobs"][0]["error"]["hint"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/projects/none/index", 404),
        ("GET", "/projects/none/index", 404),
        ("DELETE", "/projects/none/index", 404),
        ("GET", "/jobs/none", 404),
        ("GET", "/jobs/none/events", 404),
        ("POST", "/jobs/none/cancel", 404),
        ("GET", "/jobs?state=lost", 400),
        ("GET", "/jobs?limit=0", 422),
    ],
)
def test_what_is_not_there_is_a_problem(server: httpx.Client, method: str, path: str, status: int) -> None:
    response = server.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"].startswith("application/problem+json")
    assert response.json()["status"] == status


def test_a_folder_outside_the_allowed_ones_is_not_indexed(server: httpx.Client) -> None:
    assert server.post("/index", json={"codebase_path": "/usr"}).status_code == 403
    assert server.post("/index", json={}).status_code == 422
