"""Below a sub-path of a proxy: every address that the server gives out, and the headers of proxies that are trusted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codefathom.config.settings import ServerSettings
from codefathom.errors import SettingsError
from codefathom.server.app import create_app
from codefathom.server.http import page
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.behind_proxy import ROUTE_NAMES
from codefathom.server.http.client_address import network_of
from codefathom.server.server_config import ServerConfig, config_of

from .conftest import Serve

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# As `vite build` writes it.
INDEX = """\
<head><meta name="root-path" content="" /><link rel="icon" href="./assets/mark-1a.svg" />
<script type="module" crossorigin src="./assets/index-1a2b.js"></script></head>
"""
LOOPBACK = (network_of("127.0.0.1"),)


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "static" / "assets").mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text(INDEX, encoding="utf-8")
    (tmp_path / "static" / "assets" / "index-1a2b.js").write_text("1;", encoding="utf-8")
    monkeypatch.setattr(page, "STATIC", tmp_path / "static")


# A proxy that strips the prefix sends the second path, another one the first.
@pytest.mark.parametrize("sent", ["/code", ""])
def test_every_address_that_is_given_out_lies_below_the_prefix(
    sent: str, serve: Serve, config: ServerConfig, shop: Path
) -> None:
    with serve(replace(config, root_path="/code")) as client:
        for path in ("/", "/search", "/chat/5f0c", "/no/such/page"):
            text = client.get(f"{sent}{path}", headers=BROWSER).text
            assert '<meta name="root-path" content="/code" />' in text
            assert 'src="/code/assets/index-1a2b.js"' in text
            assert 'href="/code/assets/mark-1a.svg"' in text
        assert client.get(f"{sent}/assets/index-1a2b.js").text == "1;"
        moved = client.get(f"{sent}/training", headers=BROWSER)
        assert (moved.status_code, moved.headers["location"]) == (307, "/code/projects")
        slash = client.get(f"{sent}/version/")
        assert slash.is_redirect is False or slash.headers["location"] == "/code/version"
        assert client.get(f"{sent}/openapi.json").json()["servers"] == [{"url": "/code"}]
        assert 'href="openapi.json"' in client.get(f"{sent}/docs").text
        assert client.get(f"{sent}/v1/models").json()["object"] == "list"
        assert client.post(f"{sent}/v1/chat/completions", json={}).json()["error"]["code"] == "invalid"
        project = client.post(f"{sent}/api/projects", json={"path": str(shop)}).raise_for_status().json()["id"]
        job = client.post(f"{sent}/api/projects/{project}/index", headers={"accept": "application/json"})
        place = job.headers["location"]
        assert place == f"/code/jobs/{job.json()['id']}"
        events = client.get(f"{sent}/api/jobs/{job.json()['id']}/events").text
        assert '"type": "done"' in events
        assert client.get(place).json()["id"] == job.json()["id"]


def test_the_prefix_alone_is_the_first_page_and_a_longer_name_is_another_path(
    serve: Serve, config: ServerConfig
) -> None:
    with serve(replace(config, root_path="/code")) as client:
        assert 'content="/code"' in client.get("/code", headers=BROWSER).text
        assert client.get("/codex/version").status_code == 404
        assert client.get("/code/code/version").status_code == 404
        assert client.get("/code/api/code/version").status_code == 404
        assert client.get("/api/code/version").status_code == 404


def test_at_the_root_the_page_is_as_it_was(serve: Serve, config: ServerConfig) -> None:
    with serve(config) as client:
        text = client.get("/chat/5f0c", headers=BROWSER).text
        assert ('content="" />' in text, 'src="/assets/index-1a2b.js"' in text) == (True, True)
        assert client.get("/training", headers=BROWSER).headers["location"] == "/projects"
        assert "servers" not in client.get("/openapi.json").json()


def test_the_prefix_keeps_the_guard_at_its_post(serve: Serve, config: ServerConfig) -> None:
    """What needs a token needs it below the prefix; what needs none does not."""
    with serve(replace(config, root_path="/code", tokens=(Token("team", hash_of("secret")),))) as client:
        for path, status in {
            "/health": 200,
            "/": 200,
            "/assets/index-1a2b.js": 200,
            "/projects": 401,
            "/mcp": 401,
        }.items():
            method = "POST" if path == "/mcp" else "GET"
            codes = {client.request(method, f"{prefix}{path}").status_code for prefix in ("", "/code", "/code/api")}
            assert codes == {status}, path


@pytest.mark.parametrize(
    ("setting", "peers", "header", "root"),
    [
        ("", LOOPBACK, "/code", "/code"),
        ("", LOOPBACK, "/team/code/", "/team/code"),
        ("", (), "/code", ""),  # from anybody: not believed
        ("/tools", LOOPBACK, "/code", "/tools"),  # what the settings say counts
        ("", LOOPBACK, "//evil.example", ""),
        ("", LOOPBACK, '/"><script>alert(1)</script>', ""),
        ("", LOOPBACK, "/a/../b", ""),
        ("", LOOPBACK, "/api", ""),  # the name of a route
        ("", LOOPBACK, "/a, /b", ""),
    ],
)
def test_a_prefix_in_a_header_is_believed_from_trusted_proxies(
    setting: str, peers: Any, header: str, root: str, serve: Serve, config: ServerConfig
) -> None:
    with serve(replace(config, root_path=setting, trusted_proxies=peers)) as client:
        text = client.get("/", headers={**BROWSER, "x-forwarded-prefix": header}).text
        assert f'content="{root}" />' in text
        assert f'src="{root}/assets/' in text
        assert "<script>alert" not in text


@pytest.mark.parametrize(("peers", "is_believed"), [(LOOPBACK, True), ((), False)])
def test_the_host_and_scheme_of_a_client_are_believed_from_trusted_proxies(
    peers: Any, is_believed: bool, serve: Serve, config: ServerConfig
) -> None:
    config = replace(config, trusted_proxies=peers, hosts=("code.example.org",))
    named = {"x-forwarded-host": "code.example.org", "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.7"}
    with serve(config) as client:
        slash = client.get("/version/", headers=named)
        if slash.is_redirect:
            assert slash.headers["location"].startswith("https://code.example.org/") == is_believed
        own = client.post(
            "/validate-path", json={"path": "/x"}, headers={**named, "origin": "https://code.example.org"}
        )
        assert own.status_code == (200 if is_believed else 403)
        # A name that is not of this server, said by anybody.
        other = client.get("/version", headers={"x-forwarded-host": "evil.example"})
        assert other.status_code == (403 if is_believed else 200)
        odd = client.get("/version", headers={"x-forwarded-proto": "javascript", "x-forwarded-host": "a b"})
        assert odd.status_code == 200
        # Of several values the last is what the trusted proxy itself has seen.
        spoofed = client.get("/version", headers={"x-forwarded-host": "code.example.org, evil.example"})
        assert spoofed.status_code == (403 if is_believed else 200)


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("", ""),
        ("/", ""),
        ("/code", "/code"),
        ("/code/", "/code"),
        ("/team/code", "/team/code"),
        ("/c.o-d_e~1", "/c.o-d_e~1"),
    ],
)
def test_root_paths(text: str, root: str, tmp_path: Path) -> None:
    settings = ServerSettings(root_path=text, data_dir=str(tmp_path))
    assert config_of(settings, {"HOME": str(tmp_path)}).root_path == root


@pytest.mark.parametrize(
    "text",
    ["code", "//code", "/co de", "/a/../b", "/.", '/"x', "/a%2fb", "/a?b", "https://x/code", "/api", "/search/x"],
)
def test_a_root_path_that_cannot_be_names_the_value_and_the_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        config_of(ServerSettings(root_path=text, data_dir=str(tmp_path)), {"HOME": str(tmp_path)})
    assert repr(text) in str(raised.value)
    assert "/code" in raised.value.hint


def test_no_route_is_hidden_by_a_root_path(config: ServerConfig) -> None:
    """Behind a proxy that strips the prefix, /search/… would be both a route and the prefix."""
    app = create_app(config)
    paths = [
        *app.openapi()["paths"],
        "/docs",
        "/openapi.json",
        "/assets/x",
        "/api/x",
        "/chat",
        "/monitoring",
        "/training",
    ]
    assert {path.split("/")[1] for path in paths} <= ROUTE_NAMES
