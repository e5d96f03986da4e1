"""Pages of a real server → text, or an error that says what to do."""

from __future__ import annotations

import gzip
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest
from tests.waiting import join

from codefathom.errors import SourceError
from codefathom.source.web import fetch, name_of

HTML = """<!doctype html><html><head><title>Guide</title><style>p {color: red}</style>
<script>var evil = 1</script></head>
<body><nav><a href="/">the menu</a></nav><header><h1>How <code>retry_all</code> works</h1></header>
<p hidden>not to be seen</p><p>It waits &amp; tries again. See <a href="/next">the next page</a>.</p>
<ul><li>first wait<ul><li>then double it</li></ul></li></ul><ol><li>one</li><li>two</li></ol>
<pre><code class="language-python">def retry_all(call):

    # ``` is no end here
    return call(2 * 3)
</code></pre><table><tr><th>try</th><th>for</th></tr><tr><td>one</td><td>2 s</td></tr></table>
<img src="data:image/png;base64,AAAA"><noscript>without scripts</noscript></body></html>"""
MARKDOWN = """# How `retry_all` works

It waits & tries again. See [the next page](/next).

- first wait
  * then double it

1. one
2. two

````python
def retry_all(call):

    # ``` is no end here
    return call(2 * 3)
````

| try | for |
| --- | --- |
| one | 2 s |
"""


class Page(NamedTuple):
    body: bytes = b""
    headers: Mapping[str, str] = {"content-type": "text/plain"}
    status: int = 200
    silent_s: float = 0.0
    pause_s: float = 0.0  # between two bytes
    says_length: bool = True


def html(body: str) -> Page:
    return Page(body.encode(), {"content-type": "text/html; charset=utf-8"})


def leading(to: str) -> Page:
    return Page(status=302, headers={"location": to})


PAGES: dict[str, Page] = {
    "/plain": Page(b"one\r\ntwo\n"),
    "/markdown": Page(b"# One\n", {"content-type": "text/markdown; charset=UTF-8"}),
    "/json": Page(b'{"a": 1}', {"content-type": "application/json"}),
    "/problem": Page(b'{"a": 1}', {"content-type": "application/problem+json"}),
    "/xml": Page(b"<a>1</a>", {"content-type": "application/xml"}),
    "/nothing-said": Page(b"plain\n", {}),
    "/latin": Page("Grüße".encode("latin-1"), {"content-type": "text/plain; charset=ISO-8859-1"}),
    "/utf-8": Page("Grüße, 世界".encode()),
    "/marked": Page(b"\xef\xbb\xbfone"),
    "/wrong-byte": Page(b"a\xffb"),
    "/odd-charset": Page("ü".encode(), {"content-type": "text/plain; charset=klingon"}),
    "/undefined-charset": Page("ü".encode(), {"content-type": "text/plain; charset=undefined"}),
    "/packed": Page(gzip.compress(b"unpacked"), {"content-type": "text/plain", "content-encoding": "gzip"}),
    "/html": html(HTML),
    "/xhtml": Page(b"<html><body><h2>Part</h2></body></html>", {"content-type": "application/xhtml+xml"}),
    "/moved": leading("/plain"),
    "/loop": leading("/loop"),
    "/to-a-file": leading("file:///etc/hostname"),
    "/to-nothing": leading("http://nowhere:port/"),
    "/image": Page(b"\x89PNG", {"content-type": "image/png"}),
    "/drawing": Page(b"<svg/>", {"content-type": "image/svg+xml"}),
    "/zeros": Page(b"a\0b", {}),
    "/missing": Page(b"no such page", status=404),
    "/closed": Page(status=401),
    "/busy": Page(status=429),
    "/broken": Page(status=503),
    "/empty": Page(b" \n"),
    "/program": html("<html><body><div id=root></div><script>draw()</script></body></html>"),
    "/large": Page(b"x" * 3_000),
    "/large-and-silent-about-it": Page(b"x" * 3_000, says_length=False),
    "/bomb": Page(gzip.compress(b"x" * 3_000), {"content-type": "text/plain", "content-encoding": "gzip"}),
    "/not-packed": Page(b"plain", {"content-type": "text/plain", "content-encoding": "gzip"}),
    "/silent": Page(silent_s=3_600),
    "/slow": Page(b"x" * 200, pause_s=0.05),
}
for n in range(1, 7):
    PAGES[f"/step{n}"] = leading(f"/step{n - 1}" if n > 1 else "/plain")


class Site(NamedTuple):
    url: str
    asked: list[tuple[str, Mapping[str, str]]]


class Handler(BaseHTTPRequestHandler):
    asked: list[tuple[str, Mapping[str, str]]]
    stop: threading.Event

    def do_GET(self) -> None:
        self.asked.append((self.path, dict(self.headers.items())))
        # As a proxy it is asked for a whole address.
        page = PAGES["/" + self.path.partition("://")[2].partition("/")[2] if "://" in self.path else self.path]
        self.stop.wait(page.silent_s)
        self.send_response(page.status)
        for name, value in page.headers.items():
            self.send_header(name, value.replace("HERE", f"{self.server.server_address[1]}"))  # type: ignore[misc]
        if page.says_length:
            self.send_header("content-length", str(len(page.body)))
        self.end_headers()
        pieces = [page.body[at : at + 1] for at in range(len(page.body))] if page.pause_s else [page.body]
        try:
            for piece in pieces:
                self.wfile.write(piece)
                if page.pause_s and self.stop.wait(page.pause_s):
                    return
        except OSError:  # the other side has heard enough
            pass

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    stop, asked = threading.Event(), list[tuple[str, Mapping[str, str]]]()
    handler = type("Handler", (Handler,), {"asked": asked, "stop": stop})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield Site(f"http://127.0.0.1:{server.server_port}", asked)
        stop.set()
        server.shutdown()
        join(thread)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/plain", "one\ntwo\n"),
        ("/markdown", "# One\n"),
        ("/json", '{"a": 1}'),
        ("/problem", '{"a": 1}'),
        ("/xml", "<a>1</a>"),
        ("/nothing-said", "plain\n"),
        ("/latin", "Grüße"),
        ("/utf-8", "Grüße, 世界"),
        ("/marked", "one"),
        ("/wrong-byte", "a\ufffdb"),
        ("/odd-charset", "ü"),
        ("/undefined-charset", "ü"),
        ("/packed", "unpacked"),
        ("/moved", "one\ntwo\n"),
        ("/step5", "one\ntwo\n"),
        ("/html", MARKDOWN),
        ("/xhtml", "## Part\n"),
    ],
)
def test_a_page_becomes(site: Site, path: str, text: str) -> None:
    assert fetch(site.url + path) == text


@pytest.mark.parametrize(
    ("path", "said", "hint"),
    [
        ("/loop", "/loop redirects more than 5 times", "the address at which it ends"),
        ("/step6", "/step6 redirects more than 5 times", "the address at which it ends"),
        ("/to-a-file", "not a web address", "correct the address"),
        ("/to-nothing", "was lost", "try again"),
        ("/image", "/image is not text but image/png", "--doc"),
        ("/drawing", "/drawing is not text but image/svg+xml", "--doc"),
        ("/zeros", "/zeros is not text", "--doc"),
        ("/missing", "/missing answered 404 Not Found", "check the address"),
        ("/closed", "/closed answered 401 Unauthorized", "a login"),
        ("/busy", "/busy answered 429 Too Many Requests", "later"),
        ("/broken", "/broken answered 503 Service Unavailable", "later"),
        ("/empty", "/empty holds no text", "--doc"),
        ("/program", "/program holds no text", "is built in the browser"),
        ("/not-packed", "was lost", "try again"),
    ],
)
def test_what_cannot_be_read_is_said(site: Site, path: str, said: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        fetch(site.url + path)
    assert site.url in str(caught.value)
    assert said in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize("path", ["/large", "/large-and-silent-about-it", "/bomb"])
def test_a_page_may_not_be_too_large(site: Site, path: str) -> None:
    assert len(fetch(site.url + path, max_bytes=3_000)) == 3_000
    with pytest.raises(SourceError, match="is larger than 2,999 bytes"):
        fetch(site.url + path, max_bytes=2_999)


@pytest.mark.parametrize("path", ["/silent", "/slow"])
def test_a_server_has_so_much_time_in_all(site: Site, path: str) -> None:
    with pytest.raises(SourceError, match=r"took longer than 0\.3 s"):
        fetch(site.url + path, timeout_s=0.3)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("file:///etc/hostname", "'file:///etc/hostname' is not a web address"),
        ("ftp://example.org/x", "'ftp://example.org/x' is not a web address"),
        ("example.org/x", "'example.org/x' is not a web address"),
        ("http://", "'http://' is not a web address"),
        ("", "'' is not a web address"),
        ("http://a:port/", "http://a:port/ is not a web address, or redirects to one that is not"),
        ("http://\udcff/", "not a web address"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/ cannot be reached"),
    ],
)
def test_an_address_that_leads_nowhere(address: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        fetch(address)
    assert said in str(caught.value)
    assert caught.value.hint


def test_a_host_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SourceError, match=r"no such host: 'nowhere\.invalid'"):
        fetch("http://nowhere.invalid/page")


def test_a_login_is_used_and_never_shown(site: Site) -> None:
    with pytest.raises(SourceError) as caught:
        fetch(site.url.replace("://", "://me:geheim@") + "/missing#part")
    assert "authorization" in {name.lower() for name in site.asked[-1][1]}
    assert "geheim" not in str(caught.value)
    assert f"{site.url}/missing answered 404" in str(caught.value)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://a.org/x?y=1#z", "https://a.org/x?y=1"),
        ("https://me:no@a.org/x@y", "https://a.org/x@y"),
        ("https://me@a.org", "https://a.org"),
        ("a.org", "a.org"),
    ],
)
def test_an_address_is_shown_without_its_login(address: str, shown: str) -> None:
    assert name_of(address) == shown


def test_a_page_elsewhere_does_not_lead_into_a_private_network(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # The server of this test stands in as a proxy, so that a public address is asked for and never reached.
    monkeypatch.setenv("HTTP_PROXY", site.url)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setitem(PAGES, "/inside", leading("http://127.0.0.1:HERE/plain"))
    assert fetch("http://1.1.1.1/moved") == "one\ntwo\n"
    with pytest.raises(SourceError, match=r"http://1\.1\.1\.1/inside redirects into a private network") as caught:
        fetch("http://1.1.1.1/inside")
    assert "give that address" in caught.value.hint
    assert site.asked[-1][0] == "http://1.1.1.1/inside"  # the other one was not asked for
    assert fetch(site.url + "/inside") == "one\ntwo\n"  # what is typed may be private


def test_html_needs_a_library_and_names_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "html_to_markdown", None)
    assert fetch(site.url + "/markdown") == "# One\n"
    with pytest.raises(SourceError, match="'html-to-markdown' must be installed") as caught:
        fetch(site.url + "/html")
    assert caught.value.hint == "pip install 'codefathom[web]'"


@pytest.mark.parametrize("page", ["<div>" * 100_000, "<!--" * 100_000, "<b " + "x=1 " * 100_000, "<" * 100_000])
def test_html_that_means_harm_is_read_in_time(site: Site, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setitem(PAGES, "/harm", html(f"<p>seen</p>{page}"))
    started = time.process_time()
    assert fetch(site.url + "/harm").startswith("seen")
    # It takes a fifth of a second; parsers that read it again and again, minutes.
    assert time.process_time() - started < 10
