"""The page's files, and who gets the page where a route has the same path."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from codefathom.server.http import page
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig

from .conftest import Serve

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SCRIPT = "console.log('codefathom');\n" * 50


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that was built, and a secret beside it."""
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<title>the page</title>", encoding="utf-8")
    (static / "secret.js").write_text("secret", encoding="utf-8")
    (static / "assets" / "index-1a2b.js").write_text(SCRIPT, encoding="utf-8")
    (static / "assets" / "mark-3c4d.svg").write_text("<svg/>", encoding="utf-8")
    (static / "assets" / "notes.txt").write_text("secret", encoding="utf-8")
    monkeypatch.setattr(page, "STATIC", static)
    return static


@pytest.mark.parametrize(
    "path", ["/", "/chat", "/chat/5f0c", "/search", "/project/shop", "/projects", "/projects/", "/monitoring"]
)
def test_a_browser_that_goes_there_gets_the_page(server: httpx.Client, path: str) -> None:
    answer = server.get(path, headers=BROWSER)
    assert (answer.status_code, answer.text) == (200, "<title>the page</title>")
    assert answer.headers["content-type"].startswith("text/html")
    # Else a browser would show an old page, whose files are gone.
    assert answer.headers["cache-control"] == "no-cache"
    assert "default-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/training", "/training/"])
def test_the_page_for_training_is_that_of_the_projects(server: httpx.Client, path: str) -> None:
    answer = server.get(path, headers=BROWSER, follow_redirects=False)
    assert (answer.status_code, answer.headers.get("location")) == (307, "/projects")
    assert server.get(path).json()["code"] == "not_found"


@pytest.mark.parametrize("path", ["/projects", "/api/projects"])
def test_a_program_gets_what_the_route_gives(server: httpx.Client, path: str) -> None:
    assert server.get(path).json() == {"projects": []}


@pytest.mark.parametrize("path", ["/api/projects", "/health", "/conversations"])
def test_other_routes_are_no_pages_even_for_a_browser(server: httpx.Client, path: str) -> None:
    assert server.get(path, headers=BROWSER).headers["content-type"] == "application/json"


def test_what_is_not_a_page_is_an_error(server: httpx.Client) -> None:
    unknown = server.get("/chat/a/b", headers=BROWSER)
    assert (unknown.status_code, unknown.text) == (404, "<title>the page</title>")
    assert server.get("/chat/a/b").json()["code"] == "not_found"
    assert server.get("/projects/none", headers=BROWSER).json()["code"] == "not_found"
    assert server.post("/search", headers=BROWSER, json={}).status_code == 422
    assert server.head("/chat", headers=BROWSER).status_code == 200


def test_a_file_may_be_kept_for_ever_and_comes_packed(server: httpx.Client) -> None:
    packed = server.get("/assets/index-1a2b.js")  # the client unpacks it
    assert packed.text == SCRIPT
    assert packed.headers["content-type"].startswith("text/javascript")
    assert "immutable" in packed.headers["cache-control"]
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) == len(gzip.compress(SCRIPT.encode(), 9, mtime=0))
    plain = server.get("/assets/index-1a2b.js", headers={"accept-encoding": "identity"})
    assert (plain.text, plain.headers.get("content-encoding")) == (SCRIPT, None)
    assert server.get("/assets/mark-3c4d.svg").headers["content-type"] == "image/svg+xml"


def test_a_file_that_was_built_anew_is_not_the_one_from_before(server: httpx.Client, built: Path) -> None:
    assert server.get("/assets/mark-3c4d.svg").text == "<svg/>"
    (built / "assets" / "mark-3c4d.svg").write_text("<svg></svg>", encoding="utf-8")
    assert server.get("/assets/mark-3c4d.svg").text == "<svg></svg>"


@pytest.mark.parametrize("name", ["../secret.js", "..%2Fsecret.js", "..%5Csecret.js", "notes.txt", "gone.js", "%00.js"])
def test_no_other_file_is_given_out(server: httpx.Client, name: str) -> None:
    answer = server.get(f"/assets/{name}")
    assert answer.status_code == 404
    assert "secret" not in answer.text.replace(name, "").replace("secret.js", "")


def test_a_page_that_is_not_built_says_so(server: httpx.Client, built: Path) -> None:
    (built / "index.html").unlink()
    answer = server.get("/search", headers=BROWSER)
    assert answer.status_code == 503
    assert "make web" in answer.text


def test_the_page_that_asks_for_the_token_needs_none(config: ServerConfig, serve: Serve) -> None:
    with serve(replace(config, tokens=(Token("team", hash_of("secret")),))) as client:
        assert client.get("/projects", headers=BROWSER).status_code == 200
        assert client.get("/assets/index-1a2b.js").status_code == 200
        assert client.get("/api/projects", headers=BROWSER).status_code == 401
        assert client.get("/projects").status_code == 401
