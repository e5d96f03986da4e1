"""The table of hostile requests: what is sent, and nothing about the answers; see `hostile.py`."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any


@dataclass(frozen=True)
class Case:
    """One request, as bytes: usually one that ends its connection."""

    name: str
    data: bytes
    pause_s: float = 0.0  # before the last byte
    reads: bool = True  # else the client leaves without reading anything
    may_be_silent: bool = False  # the server may close without a word
    long: bool = False  # one of many that take as long as a search may; not a part of the short form


def raw(method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """Return a request that ends its connection. A header that is given replaces that of the same name."""
    usual = {"host": "localhost", "connection": "close", "accept": "application/json"}
    if body or method in {"POST", "PATCH", "PUT"}:
        usual |= {"content-type": "application/json", "content-length": str(len(body))}
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in (usual | dict(headers or {})).items() if value is not None]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def get(name: str, target: str, **more: Any) -> Case:
    headers = more.pop("headers", None)
    return Case(name, raw("GET", target, headers=headers), **more)


def post(name: str, route: str, body: Any, **more: Any) -> Case:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers, method = more.pop("headers", None), more.pop("method", "POST")
    return Case(name, raw(method, route, data, headers), **more)


def search(name: str, **fields: Any) -> Case:
    more = {key: fields.pop(key) for key in ("long",) if key in fields}
    return post(name, "/search", {"query": "price", "project_id": "shop", **fields}, **more)


def _message(content: object, times: int = 1) -> dict[str, object]:
    return {"model": "shop", "messages": [{"role": "user", "content": content}] * times}


_MANY: dict[str, object] = {f"k{number}": {} for number in range(100_000)}

# ---- the table


def bodies() -> Iterator[Case]:
    for route in ("/search", "/ask", "/projects", "/context"):
        yield post(f"deeply nested lists to {route}", route, b"[" * 100_000)
        yield post(f"deeply nested objects to {route}", route, b'{"query":' * 50_000)
    yield post("nested but whole", "/search", b'{"query":' + b"[" * 20_000 + b"]" * 20_000 + b"}")
    yield post(
        "a nested value of a setting", "/projects/shop/test", b'{"settings":{"a":' + b"[" * 900 + b"]" * 900 + b"}}"
    )
    yield post("no JSON", "/search", b"price")
    yield post("half JSON", "/search", b'{"query": "pri')
    yield post("nothing", "/search", b"")
    yield post("null", "/search", b"null")
    yield post("a list", "/search", b"[1, 2]")
    yield post("a number", "/search", b"7")
    yield post("a text", "/search", b'"price"')
    yield post("not UTF-8", "/search", b'{"query": "\xff\xfe\x80"}')
    yield post("UTF-16", "/search", '{"query": "price"}'.encode("utf-16"))
    yield post("UTF-7", "/search", b'{"query": "+AD0-"}', headers={"content-type": "application/json; charset=utf-7"})
    yield post("a mark of bytes", "/search", b'\xef\xbb\xbf{"query": "price"}')
    yield post("NUL in text", "/search", {"query": "a\0b"})
    yield post("NUL in bytes", "/search", b'{"query": "a\0b"}')
    yield post("only NUL", "/search", b"\0" * 10_000)
    yield post("half a surrogate", "/search", b'{"query": "\\ud800"}')
    yield post("halves the wrong way round", "/ask", b'{"query": "\\udc00\\ud800"}')
    yield post("NaN", "/search", b'{"query": "price", "min_score": NaN}')
    yield post("Infinity", "/search", b'{"query": "price", "min_score": Infinity}')
    yield post("minus Infinity", "/search", b'{"query": "price", "limit": -Infinity}')
    yield post("1e999", "/search", b'{"query": "price", "limit": 1e999}')
    yield post("a number of 100,000 digits", "/search", b'{"query": "price", "limit": ' + b"9" * 100_000 + b"}")
    yield post("a fraction of 100,000 digits", "/search", b'{"query": "p", "min_score": 0.' + b"1" * 100_000 + b"}")
    yield post("a key twice", "/search", b'{"query": "price", "query": "cart", "limit": 1, "limit": "x"}')
    yield post("a key of 1 MB", "/search", b'{"' + b"k" * 1_000_000 + b'": 1}')
    yield post("100,000 keys", "/search", {f"k{number}": 0 for number in range(100_000)})
    yield post("100,000 settings of a wrong kind", "/projects/shop/test", {"settings": _MANY})
    yield post("a list of 500,000 wrong values", "/search", {"query": "x", "directory_filter": [1] * 500_000})
    yield post("a message of 500,000 wrong parts", "/v1/chat/completions", _message([1] * 500_000))
    yield post("keys of the language", "/search", {"__class__": 1, "__proto__": {"a": 1}, "query": "x"})
    yield post("10 MB", "/search", b'{"query": "' + b"x" * 10_000_000 + b'"}', may_be_silent=True)
    yield post("a body with GET", "/health", b"x" * 1_000, method="GET")
    yield post("a form", "/search", b"query=price", headers={"content-type": "application/x-www-form-urlencoded"})
    parts = b'--b\r\ncontent-disposition: form-data; name="query"; filename="../../x"\r\n\r\nprice\r\n--b--\r\n'
    yield post("parts", "/search", parts, headers={"content-type": "multipart/form-data; boundary=b"})
    yield post(
        "XML with entities",
        "/search",
        b'<!DOCTYPE x [<!ENTITY a "a">]><x>&a;</x>',
        headers={"content-type": "text/xml"},
    )
    yield post("a packed body", "/search", b"\x1f\x8b\x08\0" + b"\0" * 100, headers={"content-encoding": "gzip"})
    yield post("a pickle", "/search", b"cos\nsystem\n(S'true'\ntR.", headers={"content-type": "application/x-pickle"})


def values() -> Iterator[Case]:
    for value in (10**20, -1, 0, -(10**20), 1.5, "10", "many", None, True, [], {}):
        yield search(f"limit {value!r}", limit=value)
    for name in ("query", "project_id", "project_ids", "filter", "level", "mode", "directory_filter", "min_score"):
        yield search(f"a list of objects as {name}", **{name: [{"a": 1}]})
    yield search("a query of 1 MB", query="price " * 160_000)
    yield search("a query of 1 MB without spaces", query="x" * 1_000_000)
    yield search("a query of signs", query="!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" * 100)
    yield search("a query of brackets", query="(" * 5_000)
    yield search("a query of quotes", query='"' * 5_001)
    yield search("a query of wildcards", query="* ? ~ ^ AND OR NOT" * 100)
    yield search("a query of paths", query=" ".join(f"@p{number}" for number in range(1_000)))
    yield search("a query of Chinese", query="价格" * 2_000)
    yield search("a query in a query", query=json.dumps({"query": json.dumps({"query": "x"})}))
    yield search("a query of nested JSON", query='{"query":' * 1_000)
    yield search("a query that is SQL", query="'; DROP TABLE documents; --")
    yield search("bidi, tags and joined letters", query="\u202e\u2066\U000e0041\u200d\ufeff" * 50)
    yield search("letters that grow in lower case", query="İ" * 3_000)
    yield search("one letter with 5,000 marks", query="e" + "\u0301" * 5_000)
    yield search("ligatures that grow", query="\ufdfa" * 3_000)
    yield search("control characters", query="".join(map(chr, range(1, 32))) + "\x7f\x9b31m")
    yield search("1,000 filters of folders", directory_filter=["a"] * 1_000)
    yield search("a filter of 10,000 terms", filter=" or ".join(["lines > 1"] * 10_000))
    yield search("a filter of 500 terms", filter=" or ".join(["lines > 1"] * 380))
    yield search("a filter of 1,600 brackets", filter="(" * 1_600 + "lines > 1" + ")" * 1_600)
    yield search("a filter of 1,200 nots", filter="not " * 1_200 + "lines > 1")
    yield search("a filter with a large number", filter=f"lines > {'9' * 4_000}")
    yield search("a filter that is SQL", filter="lines > 1; DROP TABLE x")
    yield search("a filter with NUL", filter="path == '\0'")
    yield search("a filter as a JSON bomb", filter='{"$and": [' * 500)
    yield search("a filter of another database", filter='{"$where": "sleep(1000)"}')
    yield search("1,000 projects", project_ids=["shop"] * 1_000)
    yield search("100 projects that are not there", project_ids=[f"p{number}" for number in range(100)])
    yield search("a project with a way out", project_id="../../etc/passwd")
    yield post(
        "a history of 200 turns", "/ask", {"query": "x", "history": [{"role": "user", "content": "y" * 9_000}] * 200}
    )
    yield post("a history of another shape", "/ask", {"query": "x", "history": [{"role": "system", "content": {}}]})
    yield post("10^20 rounds", "/query", {"question": "x", "max_iterations": 10**20})
    yield post("candidates 10^20", "/ask", {"query": "x", "top_k": 10**20})
    for path in ("../../etc/passwd", "/etc/passwd", "\0", "shop/../../x"):
        yield post(f"pinned {path!r}", "/ask", {"query": "x", "pinned": [path]})
    yield post("messages without content", "/v1/chat/completions", {"model": "shop", "messages": [{"role": "user"}]})
    yield post(
        "500 messages", "/v1/chat/completions", {"model": "shop", "messages": [{"role": "user", "content": "x"}] * 500}
    )
    yield post("n of 10^9", "/v1/chat/completions", {"model": "shop", "messages": [], "n": 10**9})
    yield post("a title of 1 MB", "/conversations", {"project_ids": ["shop"], "title": "t" * 1_000_000})
    yield post("a conversation with NUL", "/conversations", {"project_ids": ["shop"], "title": "a\0b\ud800"})
    for target in (
        "/file?project_id=shop&path=shop/pricing.py&start_line=99999999999999999999",
        "/file?project_id=shop&path=shop/pricing.py&start_line=-1&end_line=NaN",
        "/files?project_id=shop&limit=0&offset=-5",
        "/files?project_id=shop&offset=1000000000",
        "/related?project_id=shop&target=%00&depth=1e9",
        "/history?project_id=shop&place=%00&since=%ff&author=%00&limit=1e9",
        "/history?project_id=shop&place=--output=x:1&since=--all",
        "/map?project_id=shop&query=%00&file=%00&folder=%ff&max_tokens=1e9",
        "/map?project_id=shop&max_tokens=1" + "&file=shop/pricing.py" * 200,
        "/symbols?project_id=shop&query=" + "x" * 5_000,
        "/jobs?limit=10000000000000000000000",
        "/jobs?state=%00&project_id=%ff",
        "/config?project_id=%2e%2e%2f",
    ):
        yield get(f"GET {target}"[:90], target)


def settings_and_paths() -> Iterator[Case]:
    for key, value in (
        ("llm.model", "openai:x@http://169.254.169.254/latest"),
        ("llm.model", "openai:x@http://127.0.0.1@evil.example"),
        ("llm.base_url", "file:///etc/passwd"),
        ("llm.base_url", "gopher://127.0.0.1:6379/_FLUSHALL"),
        ("embed.model", "onnx:/etc"),
        ("context.tokenizer_path", "/etc/shadow"),
        ("answer.mask_secrets", False),
        ("server.tokens", []),
        ("index.dir", "/"),
        ("search.limit", 10**30),
        ("search.min_similarity", "nan"),
        ("source.ignore", ["[" * 5_000]),
        ("source.ignore", ["**/" * 2_000 + "x"]),
        ("store.vectors", "__import__('os')"),
        ("parse.chain", ["\0"]),
        ("__class__.__init__", 1),
        ("", ""),
    ):
        yield post(f"{key} = {str(value)[:40]}", "/projects/shop/test", {"settings": {key: value}})
    for path in (
        "../../../etc",
        "/etc/passwd",
        "\0",
        "~root",
        "/proc/self/fd/0",
        "/proc/self/root",
        "//evil/share",
        "\\\\evil\\share",
        "C:\\",
        "a" * 4_096,
        "/" * 4_096,
        "a/" * 2_000,
        "$(touch x)",
        "\ud800",
        "file:///etc",
    ):
        yield post(f"the path {path[:20]!r}", "/projects", {"path": path})
        yield post(f"is {path[:20]!r} a path", "/validate-path", {"path": path})
    yield post("index a path out of the roots", "/index", {"codebase_path": "/etc"})
    for url in (
        "ext::sh -c 'touch x'",
        "file:///etc",
        "https://user:pass-word@evil.example/x",
        "--upload-pack=touch",
        "https://evil.example/\r\nx: y",
        "http://[::1",
        "x" * 2_000,
    ):
        yield post(f"the repository {url[:30]!r}", "/projects", {"url": url})
    yield post(
        "a branch that is an option", "/projects", {"url": "https://evil.example/x", "branch": "--upload-pack=x"}
    )


IDS = (
    "%00",
    "%ff%fe",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "..;",
    "%0d%0ax-injected:%20yes",
    "%e2%80%ae",
    "%1b[31m",
    "%25%30%30",
    "%c0%ae%c0%ae",
    "x" * 5_000,
    "%f0%9f%92%a9",
    "__init__",
    "'%20OR%201=1--",
)


def addresses() -> Iterator[Case]:
    for number, one in enumerate(IDS):
        for route in ("/projects/{}", "/jobs/{}/events", "/conversations/{}", "/answers/{}/events", "/assets/{}"):
            if number < 6 or route in {"/projects/{}", "/assets/{}"}:
                yield get(f"{route.format(one[:24])}", route.format(one))
    for target in (
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/index.html",
        "/../../etc/passwd",
        "//evil.example/",
        "/api/api/api/health",
        "/api//projects",
        "/projects/shop/../../etc",
        "/" + "a/" * 4_000,
        "/" + "%41" * 5_000,
        "/?" + "&".join(f"a{number}=1" for number in range(5_000)),
        "/files?" + "project_id=shop&" * 3_000,
        "/health;a=b#c",
        "/%",
        "/%zz",
        "*",
        "http://evil.example/health",
        "/openapi.json%00.txt",
    ):
        yield get(f"address {target[:40]}", target)
    for method in ("TRACE", "CONNECT", "PUT", "OPTIONS", "PROPFIND", "get", "DELETE", "HEAD", "X" * 100):
        yield Case(f"method {method[:20]}", raw(method, "/projects"))
    yield Case("delete everything", raw("DELETE", "/projects/%2a"))


def heads() -> Iterator[Case]:
    for host in (
        "evil.example",
        "",
        "localhost@evil.example",
        "localhost:evil",
        "[::1",
        "localhost, evil",
        "127.0.0.1.nip.io",
    ):
        yield get(f"host {host!r}", "/health", headers={"host": host})
    yield Case("no host", b"GET /health HTTP/1.1\r\nconnection: close\r\n\r\n")
    yield Case(
        "two hosts", b"GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n"
    )
    for origin in (
        "null",
        "https://evil.example",
        "http://localhost.evil.example",
        "file://",
        "http://localhost:1\ud7ff",
    ):
        headers = {"origin": origin.encode("ascii", "replace").decode()}
        yield post(f"origin {headers['origin']}", "/projects", {"path": "/"}, headers=headers)
    yield Case(
        "asks as another page",
        raw("OPTIONS", "/search", headers={"origin": "https://evil.example", "access-control-request-method": "POST"}),
    )
    yield get("a header of 60 KB", "/health", headers={"x-large": "x" * 60_000})
    yield get("a header of 1 MB", "/health", headers={"x-large": "x" * 1_000_000}, may_be_silent=True)
    yield get("5,000 headers", "/health", headers={f"x-{number}": "y" for number in range(5_000)}, may_be_silent=True)
    yield get("a line of 200 KB", "/" + "x" * 200_000, may_be_silent=True)
    yield get("a header folded over lines", "/health", headers={"x-a": "b\r\n c"})
    yield get("a header with a line feed", "/health", headers={"x-a": "b\nx-b: c"})
    yield get("a header with NUL", "/health", headers={"x-a": "b\0c"})
    yield get("a header with bytes", "/health", headers={"x-a": "\xff\xfe"})
    yield Case("a header without a name", b"GET /health HTTP/1.1\r\nhost: localhost\r\n: x\r\n\r\n")
    yield get(
        "an id of an event from elsewhere",
        "/projects/shop/index",
        headers={"last-event-id": "x.99999999999999999999999"},
    )
    yield get("an id of an event of 1 KB", "/jobs/none/events", headers={"last-event-id": "9" * 1_000})
    yield get("a range", "/openapi.json", headers={"range": "bytes=0-0,1-1,-1"})
    yield get("10,000 ranges", "/openapi.json", headers={"range": "bytes=" + ",".join(["0-"] * 9_000)})
    yield get("10,000 languages", "/health", headers={"accept-language": ",".join(["x;q=0.1"] * 6_000)})
    yield get("a cookie of 50 KB", "/health", headers={"cookie": "a=" + "b" * 50_000})
    yield get("a token of 50 KB", "/projects", headers={"authorization": "Bearer " + "b" * 50_000})
    yield get("a login", "/projects", headers={"authorization": "Basic " + base64.b64encode(b"a:b").decode()})
    yield get("a page that is not there", "/nowhere", headers={"accept": "text/html"})
    yield get(
        "another address behind a proxy",
        "/health",
        headers={"x-forwarded-for": "evil", "x-forwarded-host": "evil", "forwarded": "for=evil"},
    )
    yield get("a method over a method", "/projects/shop", headers={"x-http-method-override": "DELETE"})
    yield get(
        "an upgrade to a web socket",
        "/health",
        headers={
            "connection": "Upgrade, close",
            "upgrade": "websocket",
            "sec-websocket-key": "eA==",
            "sec-websocket-version": "13",
        },
    )
    yield get(
        "an upgrade to HTTP/2",
        "/health",
        headers={"connection": "Upgrade, HTTP2-Settings, close", "upgrade": "h2c", "http2-settings": ""},
    )
    yield post("waits for 100", "/validate-path", {"path": "/"}, headers={"expect": "100-continue"})
    yield post("expects something else", "/validate-path", {"path": "/"}, headers={"expect": "200-ok"})


CLOSING = b"host: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n"
SEARCH = b"POST /search HTTP/1.1\r\n" + CLOSING


def wires() -> Iterator[Case]:
    yield Case("no HTTP", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"\0" * 500)
    yield Case("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    yield Case("HTTP/0.9", b"GET /\r\n\r\n")
    yield Case("HTTP/9.9", b"GET /health HTTP/9.9\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    yield Case("only line feeds", b"\n" * 10_000, may_be_silent=True)
    yield Case("only spaces", b" " * 100_000 + b"\r\n\r\n")
    yield Case("random bytes", random.Random(12).randbytes(20_000) + b"\r\n\r\n")
    yield Case("line feeds for line ends", b"GET /health HTTP/1.1\nhost: localhost\nconnection: close\n\n")
    yield Case("spaces in the line", b"GET  /health  HTTP/1.1\r\nhost: localhost\r\n\r\n")
    yield Case("bytes in the address", b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n")
    yield Case("NUL in the address", b"GET /\0 HTTP/1.1\r\nhost: localhost\r\n\r\n")
    yield Case("a negative length", SEARCH + b"content-length: -1\r\n\r\n")
    yield Case("two lengths", SEARCH + b"content-length: 1\r\ncontent-length: 9\r\n\r\n{}")
    yield Case("a length of 10^30", SEARCH + b"content-length: 1000000000000000000000000000000\r\n\r\n{}")
    yield Case("a length of 30,000 digits", SEARCH + b"content-length: " + b"9" * 30_000 + b"\r\n\r\n{}")
    yield Case("a length in Arabic digits", SEARCH + "content-length: ٣\r\n\r\n{}".encode())
    yield Case("length and chunks", SEARCH + b"content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")
    yield Case("chunks of no length", SEARCH + b"transfer-encoding: chunked\r\n\r\nxyz\r\n\r\n")
    yield Case("a chunk of 10^20", SEARCH + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\n{}")
    yield Case("a negative chunk", SEARCH + b"transfer-encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n")
    yield Case(
        "chunks with words of 60 KB",
        SEARCH + b"transfer-encoding: chunked\r\n\r\n2;" + b"a" * 60_000 + b"\r\n{}\r\n0\r\n\r\n",
    )
    yield Case("10,000 chunks", SEARCH + b"transfer-encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 10_000 + b"0\r\n\r\n")
    yield Case(
        "chunks with a tail of headers",
        SEARCH + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nhost: evil\r\n\r\n",
    )
    yield Case("chunks under another name", SEARCH + b"transfer-encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    inner = b"GET /metrics HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n"
    yield Case("a request in a body", SEARCH + b"content-length: %d\r\n\r\n" % len(inner) + inner)
    one = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
    yield Case("500 requests in a row", one * 500 + raw("GET", "/health"))
    yield Case("requests in a row, the last one broken", one * 20 + b"GARBAGE\r\n\r\n")
    yield Case("less of a body than said", raw("POST", "/search", b"{}", {"content-length": "100"}), may_be_silent=True)
    yield Case("more of a body than said", raw("POST", "/search", b'{"query": "x"}', {"content-length": "2"}))
    yield Case("half a head", b"GET /health HTTP/1.1\r\nhost: loc", may_be_silent=True)
    yield Case("a client that leaves at once", b"", reads=False)
    yield Case("a client that leaves in its request", SEARCH + b"content-length: 100\r\n\r\n{", reads=False)
    yield Case("a client that does not wait for its answer", raw("POST", "/search", b'{"query": "price"}'), reads=False)
    for route in ("/ask/stream", "/ask/agent"):
        yield Case(f"a reader of {route} that leaves", raw("POST", route, b'{"query": "price"}'), reads=False)
    yield Case("a reader of a job that leaves", raw("POST", "/projects/shop/index"), reads=False)


# On the lines of `WILD_TEXT` they take longer than anyone waits.
NESTED = "(" * 90 + "a" + ")*" * 90
WILD = ("(a+)+$", "(a|aa)+$", "(.*a){25}$", r"^(\w+\s?)*$", r"(?=(a+))\1*c", "(a{1,99}){1,99}$", NESTED)
WILD_TEXT = ("a" * 60 + "!\n") * 20


def expressions() -> Iterator[Case]:
    for number, wild in enumerate(WILD):
        long = number not in {0, len(WILD) - 1}
        asked = {"query": wild, "mode": "regex", "project_id": "shop"}
        yield post(f"the expression {wild[:12]} as a search", "/search", asked, long=long)
        yield search(f"the expression {wild[:12]} in a filter", filter=f"content matches '{wild}'", long=long)
        for route in ("/context", "/ask", "/ask/stream"):
            body = {"query": "price", "project_id": "shop", "filter": f"content matches '{wild}'"}
            yield post(f"the expression {wild[:12]} to {route}", route, body, long=long)
        asked = {"question": wild, "project_id": "shop"}
        yield post(f"the expression {wild[:12]} to /query", "/query", asked, long=long)


def table() -> tuple[Case, ...]:
    """Return all requests."""
    parts = (bodies(), values(), settings_and_paths(), addresses(), heads(), wires(), expressions())
    return tuple(chain.from_iterable(parts))
