"""Questions to paths over HTTP: the projects that they belong to, what belongs to none, and what a token may name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.layout import CHAT, KEEPER, NOTES, add_code, make_layout, routes_of, routes_text
from tests.server.conftest import Serve, files_in, serving
from tests.waiting import LONG_S, comes

from codefathom import Engine
from codefathom.askers.open_paths import PathSearch
from codefathom.config.settings import ServerSettings
from codefathom.errors import SettingsError
from codefathom.server.app import create_app
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig, config_of

QUESTION = "who feeds the kangaroo in the morning"
CHATS = [f"chats/{CHAT}", "chats/second", "chats/third"]
IDS = {"uploads": "uploads", f"chats/{CHAT}": "chat-abc-9", "chats/second": "chat-second", "chats/third": "chat-third"}
TOKENS = (
    Token("all", hash_of("open")),
    Token("two", hash_of("limited"), frozenset({"uploads", "chat-second"})),
    Token("none", hash_of("nothing"), frozenset({"elsewhere"})),
)


def laid_out(folder: Path) -> Path:
    top = make_layout(folder / "data")
    add_code(top)
    (folder / "secret.md").write_text(NOTES.format(name="secret"))
    return top


@contextmanager
def served(data: Path) -> Iterator[str]:
    """Run a server with the routes of the layout, to which every project is added; yield its address."""
    config = ServerConfig(data_dir=str(data.parent / "server"), allowed_roots=(str(data),), tokens=TOKENS)
    with serving(create_app(replace(config, routes=routes_of(data)))) as address, opened(address) as client:
        with PathSearch.open([str(data)], routes_of(data)) as search:  # makes the indexes that the server is to use
            search.symbols("feed")
        for place, name in IDS.items():
            assert client.post("/projects", json={"path": str(data / place)}).json()["id"] == name
        yield address


def opened(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=LONG_S, headers={"authorization": "Bearer open"})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


@pytest.fixture
def client(data: Path) -> Iterator[httpx.Client]:
    with served(data) as address, opened(address) as client:
        yield client


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server, and its layout with what lies outside: for tests that change nothing."""
    data = laid_out(tmp_path_factory.mktemp("kept"))
    lay_outside(data)
    with served(data) as address:
        before = files_in(data)
        yield address, data
        assert {path: state for path, state in files_in(data).items() if "/.index/" not in path} == {
            path: state for path, state in before.items() if "/.index/" not in path
        }


@pytest.fixture
def kept_data(kept: tuple[str, Path]) -> Path:
    return kept[1]


@pytest.fixture
def reader(kept: tuple[str, Path]) -> Iterator[httpx.Client]:
    with opened(kept[0]) as client:
        yield client


def searched(client: httpx.Client, *paths: object, **body: object) -> dict[str, Any]:
    answer = client.post("/search", json={"query": QUESTION, "limit": 100, "paths": list(map(str, paths)), **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def places(told: dict[str, Any], data: Path) -> set[str]:
    return {os.path.relpath(f"{told['roots'][hit['project_id']]}/{hit['path']}", data) for hit in told["hits"]}


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (["uploads"], {"uploads": "uploads/zoo"}),
        (["uploads/zoo"], {"uploads": "uploads/zoo"}),
        (["uploads/zoo", "chats/second"], {"uploads": "uploads/zoo", "chat-second": "chats/second"}),
        (["chats/../uploads/zoo"], {"uploads": "uploads/zoo"}),
        (["misc"], {"files": "misc"}),
        (["chats/second", "misc/notes.md"], {"chat-second": "chats/second", "files": "misc"}),
        (
            [""],
            {
                "uploads": "uploads/zoo",
                "chat-abc-9": f"chats/{CHAT}/notes",
                "chat-second": "chats/second",
                "chat-third": "chats/third",
                "files": "misc",
            },
        ),
    ],
)
def test_a_search_a_context_and_an_answer_are_kept_to_the_paths(
    reader: httpx.Client, kept_data: Path, scopes: Sequence[str], expected: dict[str, str]
) -> None:
    paths = [str(kept_data / scope) for scope in scopes]
    told = searched(reader, *paths)
    assert {f"{folder}/notes.md" for folder in expected.values()} <= places(told, kept_data)
    inside = tuple(os.path.normpath(path) for path in paths)
    assert all(str(kept_data / place).startswith(inside) for place in places(told, kept_data))
    assert {item["project_id"] for item in told["projects"]} == set(told["roots"]) == set(expected)
    scores = [hit["score"] for hit in told["hits"]]
    assert (scores, told["left_out"]) == (sorted(scores, reverse=True), [])
    body = {"query": QUESTION, "paths": paths, "anyway": True}
    collected = reader.post("/context", json={**body, "max_files": 50})
    answer = reader.post("/ask", json=body)
    files = [file["path"] for file in collected.json()["files"]]
    assert {path.partition("/")[0] for path in files} == set(expected)
    sources = answer.json()["sources"]
    assert {item["path"] for item in sources} == {f"{item['project_id']}/{item['file']}" for item in sources}
    named = {f"{told['roots'][path.partition('/')[0]]}/{path.partition('/')[2]}" for path in files}
    assert collected.json()["roots"] == answer.json()["roots"] == told["roots"]
    named |= {f"{told['roots'][item['project_id']]}/{item['file']}" for item in sources}
    assert all(path.startswith(inside) for path in named)


def test_the_index_lies_where_the_rule_says(client: httpx.Client, data: Path) -> None:
    assert (data / ".index" / "uploads" / "catalog.db").is_file()
    assert (data / ".index" / "chats" / CHAT / "catalog.db").is_file()
    assert not (data / "uploads" / ".fathom").exists()
    shown = client.get("/projects/uploads").json()
    assert shown["status"] == "indexed"


def test_what_is_named_is_taken_in_first(client: httpx.Client, data: Path) -> None:
    (data / "uploads" / "zoo" / "new.md").write_text("# New\n\nThe wombat sleeps all day.\n")
    body = {"query": "wombat sleeps", "paths": [str(data / "uploads" / "zoo")]}
    assert "zoo/new.md" in [hit["path"] for hit in client.post("/search", json=body).json()["hits"]]
    (data / "uploads" / "zoo" / "late.py").write_text(KEEPER.format(name="late"))
    context = client.post("/context", json={**body, "query": "late keeper", "anyway": True}).json()
    assert "uploads/zoo/late.py" in [file["path"] for file in context["files"]]


def test_a_folder_that_is_no_project_yet_is_named_beside_the_others(client: httpx.Client, data: Path) -> None:
    (data / "chats" / "new").mkdir()
    (data / "chats" / "new" / "notes.md").write_text(NOTES.format(name="new"))
    before = {path for path in data.rglob("*") if ".index" not in path.parts}
    told = searched(client, data / "chats" / "new", data / "uploads")
    assert {hit["project_id"] for hit in told["hits"]} == {"uploads"}
    problems = {item["project_id"]: item["problem"]["code"] for item in told["projects"] if item["problem"]}
    assert problems == {"chat-new": "not_found"}
    for route in ("/search", "/context", "/ask"):
        answer = client.post(route, json={"query": QUESTION, "paths": [str(data / "chats" / "new")]})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert {path for path in data.rglob("*") if ".index" not in path.parts} == before
    assert not (data / ".index" / "chats" / "new").exists()
    assert len(client.get("/projects").json()["projects"]) == len(IDS)


def test_a_folder_of_a_rule_is_indexed_as_the_rule_says_whatever_lies_above(client: httpx.Client, data: Path) -> None:
    (data / "fathom.toml").touch()
    (data / "chats" / "new" / "inside").mkdir(parents=True)
    (data / "chats" / "new" / "notes.md").write_text(NOTES.format(name="new"))
    told = client.post("/index", json={"codebase_path": str(data / "chats" / "new" / "inside")})
    assert told.status_code < 300, told.text
    assert comes(lambda: client.get("/projects/chat-new").json()["status"] == "indexed")
    assert client.get("/projects/chat-new").json()["root"] == str(data / "chats" / "new")
    assert places(searched(client, data / "chats" / "new"), data) == {"chats/new/notes.md"}
    assert (data / ".index" / "chats" / "new" / "catalog.db").is_file()
    assert not (data / "chats" / "new" / ".fathom").exists()


def corrupt(catalogue: Path) -> None:
    content = catalogue.read_bytes()
    catalogue.unlink()
    catalogue.write_bytes(content[:50] + b"x" * (len(content) - 50))


@pytest.mark.parametrize(
    ("route", "params"),
    [
        ("/federated/symbols", {"query": "feed_the_kangaroo"}),
        ("/federated/related", {"target": "@@feed_the_kangaroo"}),
        ("/federated/map", {"query": QUESTION}),
    ],
)
def test_a_corrupt_project_of_four_is_named_when_looking_around(
    client: httpx.Client, data: Path, route: str, params: dict[str, str]
) -> None:
    corrupt(data / ".index" / "chats" / "second" / "catalog.db")
    told = client.get(route, params=params).json()
    assert {name: problem["code"] for name, problem in told["failed"].items()} == {"chat-second": "damaged"}
    listed = told.get("symbols") or told.get("projects") or told["files"]
    projects = {item["project_id"] if "project_id" in item else item["path"].partition("/")[0] for item in listed}
    assert projects == {"uploads", "chat-abc-9", "chat-third"}


def test_projects_with_two_models_are_asked_together(client: httpx.Client, data: Path) -> None:
    settings = {"embed.dimensions": 64, "embed.reduce": "truncate"}
    client.patch("/projects/chat-second", json={"settings": settings}).raise_for_status()
    events = client.post("/projects/chat-second/index", json={}).text  # a stream, which ends with the job
    assert '"state": "done"' in events
    told = searched(client, data / "chats", data / "misc", mode="vector")
    assert {hit["project_id"] for hit in told["hits"]} == {"chat-abc-9", "chat-second", "chat-third", "files"}
    assert not [item for item in told["projects"] if item["problem"]]
    body = {"query": QUESTION, "paths": [str(data / "chats")], "anyway": True}
    for route, key in (("/context", "files"), ("/ask", "sources")):
        answer = client.post(route, json=body).json()
        assert "chat-second" in {item["path"].partition("/")[0] for item in answer[key]}


@pytest.mark.parametrize("route", ["/search", "/context", "/ask"])
def test_a_corrupt_project_of_three_is_named_beside_the_others(client: httpx.Client, data: Path, route: str) -> None:
    corrupt(data / ".index" / "chats" / "second" / "catalog.db")
    more = {"limit": 50} if route == "/search" else {"anyway": True}
    told = client.post(route, json={"query": QUESTION, "paths": [str(data / "chats")], **more}).json()
    if route == "/search":
        assert {hit["project_id"] for hit in told["hits"]} == {"chat-abc-9", "chat-third"}
        problems = {item["project_id"]: item["problem"]["detail"] for item in told["projects"] if item["problem"]}
        assert list(problems) == ["chat-second"]
        assert "damaged" in problems["chat-second"]
    else:
        paths = [item["path"] for item in told["files" if route == "/context" else "sources"]]
        assert {path.partition("/")[0] for path in paths} == {"chat-abc-9", "chat-third"}
        assert any(note.startswith("chat-second: ") and "damaged" in note for note in told["degraded"])


# ---- what may be named


def lay_outside(data: Path) -> None:
    """Make what lies beside the allowed roots, and what leads there."""
    folder = data.parent / "outside"
    (folder / "folder").mkdir(parents=True)
    (folder / "file.md").write_text(NOTES.format(name="outside"))
    (data / "misc" / "out").symlink_to(folder)
    (data / "misc" / "out-file").symlink_to(folder / "file.md")
    (data / "misc" / "out-nowhere").symlink_to(folder / "nowhere")


LOOKING_AROUND = {
    "/federated/symbols": {"query": "feed_the_kangaroo"},
    "/federated/related": {"target": "@@feed_the_kangaroo"},
    "/federated/map": {"query": QUESTION},
}


def asked(client: httpx.Client, route: str, *paths: object) -> httpx.Response:
    named = list(map(str, paths))
    if route in LOOKING_AROUND:
        return client.get(route, params={**LOOKING_AROUND[route], "paths": named})
    return client.post(route, json={"query": QUESTION, "paths": named})


@pytest.mark.parametrize("route", LOOKING_AROUND)
def test_looking_around_is_kept_to_the_paths(client: httpx.Client, data: Path, route: str) -> None:
    (data / "misc" / "keeper.py").write_text(KEEPER.format(name="loose") + "\nfeed_the_kangaroo()\n")
    (data / "chats" / "second" / "late.py").write_text("def feed_the_kangaroo():\n    pass\n")
    everywhere = client.get(route, params=LOOKING_AROUND[route])
    assert everywhere.json()["roots"] == {}
    response = asked(client, route, data / "uploads" / "zoo", data / "chats" / "second", data / "misc")
    assert response.status_code == 200, response.text
    told = response.json()
    roots = told["roots"]
    assert roots == {
        "uploads": str(data / "uploads"),
        "chat-second": str(data / "chats" / "second"),
        "files": str(data / "misc"),
    }
    if route == "/federated/map":
        pairs = [item["path"].split("/", 1) for item in told["files"]]
    elif route == "/federated/symbols":
        pairs = [[item["project_id"], item["path"]] for item in told["symbols"]]
    else:
        pairs = [[item["project_id"], edge["path"]] for item in told["projects"] for edge in item["edges"]]
    named = {f"{roots[name]}/{path}" for name, path in pairs}
    inside = (f"{data}/uploads/zoo/", f"{data}/chats/second/", f"{data}/misc/")
    assert named and all(path.startswith(inside) for path in named)
    if route != "/federated/related":
        assert f"{data}/misc/keeper.py" in named
        assert f"{data}/chats/second/late.py" in named  # what is named is taken in first
    refused = client.get(route, params={**LOOKING_AROUND[route], "paths": [str(data)], "project_id": "uploads"})
    assert (refused.status_code, refused.json()["code"]) == (400, "usage")


@pytest.mark.parametrize("route", ["/context", "/ask"])
def test_loose_files_alone_are_enough_for_an_answer(
    client: httpx.Client, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    (data / "misc" / "broken.py").write_bytes(b"\0\1" * 100)
    body = {"query": QUESTION, "paths": [str(data / "misc")], "anyway": True}
    told = client.post(route, json=body).json()
    listed = {item["path"] for item in told["files" if route == "/context" else "sources"]}
    assert listed and all(path.startswith("files/") for path in listed)
    assert not [note for note in told["degraded"] if "left out" in note]
    assert any("broken.py: binary" in note for note in told["degraded"])
    assert told["roots"] == {"files": str(data / "misc")}
    assert [path for path in temporary.rglob("*") if path.is_file()] == []
    outside = client.post(route, json={**body, "directory_filter": ["nowhere"]})
    assert outside.status_code == 400 or route == "/ask"


def test_who_reads_an_answer_as_it_is_written_is_told_the_folders_too(client: httpx.Client, data: Path) -> None:
    body = {"query": QUESTION, "paths": [str(data / "misc"), str(data / "uploads")], "anyway": True, "keep": True}
    response = client.post("/ask/stream", json=body)
    told = [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line.startswith("data: ")]
    said = {item["data"]["phase"]: item["data"] for item in told if item["type"] == "status"}
    roots = {"uploads": str(data / "uploads"), "files": str(data / "misc")}
    assert said["found"]["roots"] == said["answered"]["roots"] == roots
    conversation = client.get(f"/conversations/{said['searching']['conversation_id']}").json()
    assert conversation["turns"][0]["details"]["roots"] == roots
    of_project = client.post("/ask", json={"query": QUESTION, "project_id": "uploads", "anyway": True}).json()
    assert of_project["roots"] == {}


@pytest.mark.parametrize("route", ["/search", "/context", "/ask", *LOOKING_AROUND])
@pytest.mark.parametrize("secret", ["open", "limited", "nothing"])
def test_a_path_outside_is_as_one_that_does_not_exist(
    reader: httpx.Client, kept_data: Path, route: str, secret: str
) -> None:
    outside = kept_data.parent / "outside"
    reader.headers["authorization"] = f"Bearer {secret}"
    names = ("file.md", "folder", "nowhere")
    paths = [f"{outside}/{name}{end}" for name in names for end in ("", "/", "/.", "/below")]
    paths += [f"{kept_data}/../outside/{name}" for name in names] + [f"{kept_data}/misc/out/{name}" for name in names]
    paths += [
        f"{kept_data}/misc/out-file",
        f"{kept_data}/misc/out-nowhere",
        f"{kept_data}/uploads/../../outside/file.md",
        "/",
        "/etc",
    ]
    paths += [f"{kept_data.parent}/data/server-data", str(kept_data.parent)]
    if secret != "open":
        paths += [
            str(kept_data / place) for place in ("", "misc", "misc/notes.md", "misc/nowhere", "chats", "chats/third")
        ]
        paths += [str(kept_data / "chats" / "third" / name) for name in ("notes.md", "nowhere")]
    if secret == "nothing":
        paths += [str(kept_data / place) for place in ("uploads", "uploads/nowhere", "chats/second/notes.md")]
    answers = set()
    for path in paths:
        answer = asked(reader, route, path)
        answers.add((answer.status_code, answer.text.replace(path, "PATH")))
    assert len(answers) == 1, answers
    assert "there is no file or folder" in answers.pop()[1]


def test_a_token_names_what_lies_in_its_own_projects_only(client: httpx.Client, data: Path) -> None:
    client.headers["authorization"] = "Bearer limited"
    told = searched(client, data / "uploads" / "zoo", data / "chats" / "second")
    assert set(told["roots"]) == {"uploads", "chat-second"}
    for path in (f"{data}/uploads/../chats/second", f"{data}/chats/third/../second"):
        answer = client.post("/search", json={"query": QUESTION, "paths": [path]})
        said = "leads out of" if "uploads" in path else None
        assert (answer.status_code == 200) if said is None else (said in answer.text)
    body = {"query": QUESTION, "paths": [str(data / "uploads" / "zoo")], "pinned": ["chat-third/notes.md"]}
    answer = client.post("/ask", json=body)
    assert answer.status_code == 404
    assert "is not inside any of the projects" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "uploads",
        "./uploads",
        "../data/uploads",
        "~",
        "~root",
        "~/x",
        "",
        "a\0b",
        "x" * 4_096,
        "\ud800",
        "C:/x",
        "/x/.." * 600,
    ],
)
def test_odd_paths_are_clear_errors(reader: httpx.Client, kept_data: Path, path: str) -> None:
    for route in ("/search", "/context", "/ask"):
        body = json.dumps({"query": "x", "paths": [path]})
        answer = reader.post(route, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), answer.text
        assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"project_id": "uploads"}, "paths cannot be used with a project"),
        ({"project_ids": ["uploads"]}, "paths cannot be used with a project"),
        ({"files": ["a.py"]}, "paths cannot be used with files"),
        ({"query": " "}, "the query is empty"),
        ({"paths": ["{}/nothing"]}, "there is no file or folder"),
    ],
)
def test_bodies_that_contradict_themselves_are_refused(
    reader: httpx.Client, kept_data: Path, body: dict[str, Any], said: str
) -> None:
    body = {"query": QUESTION, "paths": [str(kept_data / "uploads")], **body}
    body["paths"] = [path.format(kept_data) for path in body["paths"]]
    answer = reader.post("/search", json=body)
    assert (answer.status_code, said in answer.text) == (400, True), answer.text


def test_hidden_files_and_those_of_the_server_are_never_loose(
    serve: Serve, config: ServerConfig, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = data / "server-data"
    (data / ".secrets").mkdir()
    for place in (data / ".secrets" / "notes.md", data / "misc" / ".notes.md"):
        place.write_text(NOTES.format(name="hidden"))
    with serve(replace(config, data_dir=str(own), allowed_roots=(str(data),))) as client:
        (own / "notes.md").write_text(NOTES.format(name="own"))
        told = searched(client, data)
        assert "misc/notes.md" in places(told, data)
        assert not [place for place in places(told, data) if "server-data" in place or "/." in f"/{place}"]
        hidden = (data / ".secrets", data / ".secrets" / "notes.md", data / "misc" / ".notes.md")
        for place in (*hidden, own, own / "notes.md"):
            answer = client.post("/search", json={"query": QUESTION, "paths": [str(place)]})
            assert (answer.status_code, answer.json()["code"]) == (400, "usage")
            assert "kangaroo" not in answer.text.replace(QUESTION, "")


def test_what_a_budget_leaves_out_is_named(client: httpx.Client, data: Path) -> None:
    (data / "misc" / "program").write_bytes(b"\0\1\2" * 100)
    for number in range(210):
        (data / "misc" / f"f{number}.txt").write_text(f"word {number}\n")
    left_out = {item["path"]: item["reason"] for item in searched(client, data / "misc")["left_out"]}
    assert left_out[str(data / "misc")] == "only 200 files outside of projects are searched"


def test_nothing_of_loose_files_stays(
    client: httpx.Client, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))  # of processes that are started from now on
    assert searched(client, data / "misc" / "notes.md")["hits"]
    assert [path for path in temporary.rglob("*") if path.is_file()] == []


def test_routes_that_cannot_be_are_told_when_the_server_starts(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "user.toml"
    file.write_text(routes_text(data))
    assert config_of(ServerSettings(), {"FATHOM_CONFIG": str(file)}).routes == routes_of(data)
    file.write_text('[[routes]]\npattern = "data"\nproject = "p"\n')
    with pytest.raises(SettingsError, match=r"user\.toml: the pattern of a route cannot be 'data'"):
        config_of(ServerSettings(), {"FATHOM_CONFIG": str(file)})


def test_a_project_stays_where_it_is_whatever_appears_above(client: httpx.Client, data: Path) -> None:
    (data / "fathom.toml").touch()
    (data / ".git").mkdir()
    told = searched(client, data / "chats" / "second")
    assert told["roots"] == {"chat-second": str(data / "chats" / "second")}
    assert places(told, data) <= {f"chats/second/{name}" for name in ("notes.md", "keeper.py", "morning.py")}
    with Engine.open(str(data / "chats" / "second")) as engine:
        assert engine.root == str(data)
