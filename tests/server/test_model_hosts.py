"""Who may send requests does not choose where code and keys go: addresses, keys, folders and masking over HTTP."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.protocols.server import ServedSettings, Turn
from tests.protocols.server import serving as model_server

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_adjusting import of, tried
from .test_projects import add
from .test_routes_ask import QUESTION, spoken

KEY = "sk-of-the-user-0123456789"
KEYS = {"OPENAI_API_KEY": KEY, "RERANK_API_KEY": KEY}


@pytest.fixture
def ready(server: httpx.Client, shop: Path, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    """A server with the shop, run by somebody who has keys."""
    for name, value in {**KEYS, "FATHOM_LIMITS__ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    add(server, shop)
    return server


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedSettings]:
    """Stands for every other machine, as a proxy does."""
    with model_server(spoken("OK")) as model:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, model.base_url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "127.0.0.1")
        yield model


def sends(client: httpx.Client) -> list[Any]:
    """The requests that bring settings of a project."""
    other = f"{client.get('/projects/shop').json()['root']}/.."
    return [
        lambda settings: client.post("/projects/shop/test", json={"settings": settings}),
        lambda settings: client.patch("/projects/shop", json={"settings": settings}),
        lambda settings: client.post("/projects", json={"path": other, "settings": settings}),
    ]


# ---- addresses


@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example/v1",
        "http://evil.example",
        "http://EVIL.example:80/v1",
        "http://localhost.evil.example/v1",
        "http://evil.example./v1",
        "http://evil.example#@localhost",
        "http://evil.example?@localhost",
        "http://evil.example\\@localhost",
        "http://evil.example/v1#",
        "http://10.0.0.1/v1",
        "http://169.254.169.254/latest",
        "http://127.1/v1",
        "http://2130706433/v1",
        "http://0x7f000001/v1",
        "http://0177.0.0.1/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "http://[fe80::1%25eth0]/v1",
        "http://localhost./v1",
        "http://ⓛocalhost/v1",
        "http://localhost%2eevil.example/v1",
        "http://localhost\t.evil.example/v1",
    ],
)
def test_a_model_elsewhere_is_not_asked(ready: httpx.Client, elsewhere: ServedSettings, address: str) -> None:
    for send in sends(ready):
        answer = send({"llm.model": f"openai:x@{address}"})
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
        assert answer.json()["code"] in {"closed", "bad_request"}, answer.text
    assert elsewhere.asked == []
    assert ready.get("/projects/shop").json()["settings"] == {}


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1@evil.example/v1", "http://localhost:80@evil.example/v1", "http://me:x@localhost/v1"]
)
def test_an_address_with_a_login_is_not_asked(ready: httpx.Client, elsewhere: ServedSettings, address: str) -> None:
    assert {send({"llm.model": f"openai:x@{address}"}).status_code for send in sends(ready)} == {400}
    assert elsewhere.asked == []


@pytest.mark.parametrize(
    "settings",
    [
        {"llm.judge": "openai:x@http://evil.example/v1"},
        {"llm.agent": "ollama:x@http://evil.example"},
        {"llm.index": "openai:x@http://evil.example/v1", "index.purposes": True},
        {"llm.base_url": "http://evil.example/v1"},
        {"llm.base_url": "evil.example/v1"},
        {"llm.base_url": "http://evil.example/v1", "llm.model": "openai:x"},
        {"llm.model": "openai:gpt-5-mini"},
        {"embed.model": "openai:x@http://evil.example/v1"},
        {"embed.model": "openai:x", "embed.base_url": "http://evil.example/v1"},
        {"embed.base_url": "http://evil.example"},
        {"rerank.model": "http://evil.example/v1"},
        {"rerank.model": "http:x@http://evil.example/v1"},
        {"rerank.model": "http:x", "rerank.base_url": "http://evil.example/v1"},
    ],
)
def test_no_setting_leads_elsewhere(
    ready: httpx.Client, elsewhere: ServedSettings, settings: dict[str, object]
) -> None:
    for send in sends(ready):
        answer = send(settings)
        assert (answer.status_code, answer.json()["code"]) == (400, "closed"), answer.text
        assert "server.model_hosts" in answer.json()["hint"]
    assert elsewhere.asked == []


def test_what_is_on_the_list_of_the_operator_is_asked(
    serve: Serve, config: ServerConfig, shop: Path, elsewhere: ServedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve(replace(config, model_hosts=("gpu.example", "http://box.example:8000", "nas.example:1"))) as client:
        add(client, shop)
        for address in ("http://gpu.example/v1", "http://GPU.example:9/v1", "http://box.example:8000"):
            assert of(tried(client, **{"llm.model": f"openai:x@{address}"}), "model for")["ok"]
        refused = ("http://box.example", "https://box.example:8000", "http://nas.example", "http://127.0.0.1:1/v1")
        for address in refused:
            answer = client.post("/projects/shop/test", json={"settings": {"llm.model": f"openai:x@{address}"}})
            assert (answer.status_code, answer.json()["code"]) == (400, "closed"), address
    # The list says that they may be asked; no key was given for them.
    assert [asked.headers.get("authorization") for asked in elsewhere.asked] == [None] * 3


def test_a_list_that_became_shorter_holds_for_what_is_kept(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with model_server(spoken("OK")) as model:
        name = f"openai:x@{model.base_url}/v1"
        with serve(config) as client:
            client.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
            client.patch("/projects/shop", json={"settings": {"llm.model": name}}).raise_for_status()
        with serve(replace(config, model_hosts=())) as client:
            answer = client.post("/ask", json={"question": QUESTION, "project_id": "shop"})
            assert (answer.status_code, answer.json()["code"]) == (409, "settings")
            job = client.post("/index", json={"codebase_path": str(shop)})
            assert job.status_code >= 400
            project = client.get("/projects/shop").json()
            assert "may not use models" in project["problem"]
            assert client.patch("/projects/shop", json={"settings": {}}).json()["problem"] == project["problem"]
            client.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    assert model.asked == []


WORDS = st.text("abz.-_@:/\\[]%#?0127\t ⓛ", max_size=12)


@given(st.builds("{}://{}{}/{}".format, st.sampled_from(["http", "https", "HTTP"]), WORDS, WORDS, WORDS))
@example("http://LOCALHOST:80/v1")
@example("http://[0:0:0:0:0:0:0:1]:8000")
def test_an_address_leads_to_the_host_that_was_read_in_it(address: str) -> None:
    from codefathom.remote.chat_models import host_and_port

    server = host_and_port(address)
    if server is not None:
        url = httpx.URL(address)
        assert (url.scheme, url.port or {"http": 80, "https": 443}[url.scheme]) == (server.scheme, server.port)
        assert host_and_port(f"{url.scheme}://{url.netloc.decode()}") == server
        assert url.userinfo == b""


# ---- keys


def test_a_key_does_not_go_to_an_address_that_came_over_http(ready: httpx.Client) -> None:
    with model_server(spoken("OK"), Turn([b'{"data": [{"embedding": [1.0, 0.5], "index": 0}]}'])) as model:
        address = f"{model.base_url}/v1"
        tried(ready, **{"llm.model": f"openai:x@{address}"})
        tried(ready, **{"embed.model": f"openai:x@{address}", "rerank.model": f"http:x@{address}"})
        ready.patch("/projects/shop", json={"settings": {"llm.model": "openai:x", "llm.base_url": address}})
        ready.get("/monitoring/services", params={"project_id": "shop", "ask_models": True})
        assert len(model.asked) >= 4
        assert {asked.headers.get("authorization") for asked in model.asked} == {None}


def test_a_key_goes_where_the_users_own_settings_say(
    serve: Serve, config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with model_server(spoken("OK")) as model, model_server(spoken("OK")) as other:
        monkeypatch.setenv("FATHOM_LLM__MODEL", f"openai:own@{model.base_url}/v1")
        with serve(replace(config, variables=dict(os.environ))) as client:
            add(client, shop)
            for name in (f"openai:own@{model.base_url}/v1", f"openai:else@{model.base_url}/other"):
                assert of(tried(client, **{"llm.model": name}), "model for")["ok"]
            assert of(tried(client), "model for")["ok"]
            assert of(tried(client, **{"llm.judge": f"openai:x@{other.base_url}/v1"}), "model for judge")["ok"]
    assert {asked.headers.get("authorization") for asked in model.asked} == {f"Bearer {KEY}"}
    assert {asked.headers.get("authorization") for asked in other.asked} == {None}


def test_a_host_may_have_a_key_of_its_own(ready: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY_127_0_0_1", "sk-host")
    with model_server(spoken("OK"), Turn([b"no"], 401)) as model:
        tried(ready, **{"llm.model": f"openai:x@{model.base_url}/v1"})
        refused = of(tried(ready, **{"llm.model": f"openai:x@{model.base_url}/v1"}), "model for")
        assert {asked.headers.get("authorization") for asked in model.asked} == {"Bearer sk-host"}
    assert "OPENAI_API_KEY_127_0_0_1" in refused["hint"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_model_leads_on_to_another_host(ready: httpx.Client, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("OPENAI_API_KEY_127_0_0_1", "sk-host")
    with model_server(spoken("OK")) as other:
        location = {"location": f"{other.base_url.replace('127.0.0.1', 'localhost')}/v1/chat/completions"}
        with model_server(Turn([b""], status, location)) as model:
            check = of(tried(ready, **{"llm.model": f"openai:x@{model.base_url}/v1"}), "model for")
        assert (check["ok"], other.asked) == (False, [])


# ---- words of a server that failed

WORD = "word-of-a-neighbour"


@pytest.mark.parametrize(
    "turn",
    [
        Turn([WORD.encode()], 500),
        Turn([WORD.encode()], 404),
        Turn([WORD.encode()], 401),
        Turn([b"context", WORD.encode()], 400),
        Turn([b""], 302, {"location": f"http://{WORD}/v1"}),
        Turn([b"data: " + WORD.encode() + b"\n\n"]),
        Turn([b'{"a": "' + WORD.encode() + b'"}']),
        Turn([b'data: {"error": {"message": "' + WORD.encode() + b'"}}\n\n']),
        Turn([b'data: {"choices": "' + WORD.encode() + b'"}\n\n']),
    ],
)
def test_a_failing_host_is_not_read_by_its_errors(
    ready: httpx.Client, turn: Turn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "codefathom")
    with model_server(turn) as model:
        address = f"{model.base_url}/v1"
        names = {"llm.model": f"openai:x@{address}", "embed.model": f"openai:x@{address}", "rerank.model": address}
        for key, name in names.items():
            answer = ready.post("/projects/shop/test", json={"settings": {key: name}})
            assert answer.status_code == 200
            assert not answer.json()["ok"]
            assert WORD not in answer.text
        assert len(model.asked) >= len(names)
    assert WORD in caplog.text  # whoever runs the server reads it there


@contextmanager
def greeting(line: bytes) -> Iterator[str]:
    """A server that speaks first, and no HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    connection.sendall(line)

        threading.Thread(target=greet, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_what_a_service_says_that_is_no_web_server_is_not_told(ready: httpx.Client) -> None:
    with greeting(b"SSH-2.0-OpenSSH_9.9 secret-banner\r\n") as address:
        answer = ready.post("/projects/shop/test", json={"settings": {"llm.model": f"openai:x@{address}/v1"}})
    assert not answer.json()["ok"]
    assert "secret-banner" not in answer.text and "OpenSSH" not in answer.text


def test_a_job_that_fails_does_not_tell_the_words_either(
    serve: Serve, config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_LIMITS__ATTEMPTS", "1")
    with model_server(Turn([WORD.encode()], 500)) as model, serve(config) as client:
        add(client, shop, settings={"embed.model": f"openai:x@{model.base_url}/v1"})
        answer = client.post("/projects/shop/index", headers={"accept": "application/json"})
        text = answer.text + client.get("/projects/shop/index").text + client.get("/jobs").text
        text += client.get("/projects/shop").text + client.get("/monitoring/store").text
    assert model.asked
    assert WORD not in text


# ---- masking, folders, the server itself


@pytest.mark.parametrize(
    ("settings", "closed"),
    [
        ({"answer.mask_secrets": False}, "answer.mask_secrets"),
        ({"tokenizer_path": "/etc/passwd"}, "tokenizer_path"),
        ({"source_dir": "/"}, "source_dir"),
        ({"server.model_hosts": ["evil.example"]}, "server.model_hosts"),
    ],
)
def test_what_only_the_server_decides_is_closed(ready: httpx.Client, settings: dict[str, object], closed: str) -> None:
    for send in sends(ready):
        answer = send(settings)
        assert (answer.status_code, answer.json()["code"]) == (400, "closed"), answer.text
        assert answer.json()["detail"] == f"{closed} cannot be set for a project"


@pytest.mark.parametrize("form", ["onnx:{}", "model2vec:{}"])
@pytest.mark.parametrize("key", ["embed.model", "rerank.model"])
def test_folders_of_the_server_cannot_be_felt_for(ready: httpx.Client, tmp_path: Path, form: str, key: str) -> None:
    (tmp_path / "there").mkdir()
    for send in sends(ready):
        answers = [send({key: form.format(tmp_path / name)}).json() for name in ("there", "not-there")]
        assert [answer["code"] for answer in answers] == ["closed"] * 2
        assert answers[0] == answers[1]


def test_a_model_in_a_folder_that_the_server_names_may_be_repeated(
    serve: Serve, config: ServerConfig, shop: Path
) -> None:
    own = {"FATHOM_EMBED__MODEL": "onnx:/models/own"}
    with serve(replace(config, variables=own)) as client:
        add(client, shop, settings={"embed.model": "onnx:/models/own"})


def test_each_setting_says_why_it_is_closed_and_which_hosts_it_takes(
    serve: Serve, config: ServerConfig, shop: Path
) -> None:
    own = {"FATHOM_LLM__MODEL": "openai:m@https://me:pass-word@gpu.example:8443/v1"}
    with serve(replace(config, variables=own)) as client:
        add(client, shop)
        text = client.get("/config", params={"project_id": "shop"})
        listed = {item["key"]: item for item in text.json()["settings"]}
    closed = {"answer.mask_secrets": "masking", "index.dir": "path", "server.port": "server", "llm.model": ""}
    assert {key: listed[key]["closed"] for key in closed} == closed
    assert {key: listed[key]["changeable"] for key in closed} == {key: not why for key, why in closed.items()}
    hosts = ["localhost", "127.0.0.1", "[::1]", "gpu.example:8443"]
    assert {key: listed[key]["hosts"] for key in ("llm.model", "embed.base_url", "search.limit")} == {
        "llm.model": hosts,
        "embed.base_url": hosts,
        "search.limit": [],
    }
    assert "pass-word" not in text.text


def test_no_page_is_fetched_for_a_client(ready: httpx.Client, elsewhere: ServedSettings) -> None:
    for name in ("url", "urls", "documents", "doc"):
        answer = ready.post("/ask", json={"question": QUESTION, name: "http://evil.example/"})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert elsewhere.asked == []
