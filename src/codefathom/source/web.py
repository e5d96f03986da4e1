"""A page of the web → text, for `--url`. Only the address that the user gave is fetched, and where it redirects to.

Imported only when an address is given: importing httpx takes longer than a search. HTML needs the library
`html-to-markdown`, which is optional (`pip install 'codefathom[web]'`); plain text, Markdown and JSON do not.
"""

from __future__ import annotations

import importlib
import ipaddress
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

import httpx

from codefathom import __version__
from codefathom.errors import SourceError, without_login
from codefathom.source.size_limits import MAX_PAGE_BYTES
from codefathom.system.bounded_http import AnswerLimits, keep_to
from codefathom.system.extras import install_line

_MAX_REDIRECTS = 5
_MOST_SENT_BYTES = 1 << 30
_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = ("text/", "application/json", "application/xml")
_OF_TEXT = ("+json", "+xml")  # such as application/problem+json
_HEADERS = {
    # Some servers hand out Markdown to those who prefer it.
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "User-Agent": f"codefathom/{__version__}",
}
_SAVE_IT = "save the page as text and give the file with --doc"


def fetch(url: str, *, max_bytes: int = MAX_PAGE_BYTES, timeout_s: float = 20) -> str:
    """Return the text of a page; of HTML what a reader sees, with its headings, lists and code as Markdown.

    Addresses of private networks are allowed: the user who types the address runs this on a machine that reaches them
    anyway, and documentation often lies there. A page of the public network may not redirect to one, because the user
    did not type that address. A server must not pass addresses from its clients to this function.
    Raises SourceError for an address, an answer or a type that cannot be read, for more than `max_bytes`, and after
    `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    with _lost(url, timeout_s), _client(url, timeout_s) as client:
        response = _final(client, client.build_request("GET", url), deadline)
        try:
            _check_answer(response)
            data = _body(response, max_bytes, deadline)
        finally:
            response.close()
        return _text(response, data)


def name_of(url: str) -> str:
    """Return an address as it may be shown: without the name, the password and the fragment in it."""
    return without_login(url.partition("#")[0])


def _client(url: str, timeout_s: float) -> httpx.Client:
    address = httpx.URL(url)
    if address.scheme not in {"http", "https"} or not address.host:
        raise SourceError(
            f"{name_of(url)!r} is not a web address",
            hint="write it with http:// or https://; a file is given with --doc",
        )
    # A proxy of the environment does not lead to this machine.
    client = httpx.Client(headers=_HEADERS, timeout=timeout_s, trust_env=not _is_this_machine(address.host))
    keep_to(client, AnswerLimits(timeout_s, _MOST_SENT_BYTES))  # what a page may have is counted where it is read
    return client


def _final(client: httpx.Client, request: httpx.Request, deadline: float) -> httpx.Response:
    """Follow the redirects of a page. The response is open and not yet read."""
    first = request.url
    for _ in range(_MAX_REDIRECTS + 1):
        response = client.send(request, stream=True)
        if response.next_request is None:
            return response
        response.close()
        _check_time(deadline)
        request = response.next_request
        if request.url.host != first.host and _is_private(request.url.host) and not _is_private(first.host):
            raise SourceError(
                f"{_shown(first)} redirects into a private network, to {_shown(request.url)}",
                hint="to read it anyway, give that address itself",
            )
    raise SourceError(
        f"{_shown(first)} redirects more than {_MAX_REDIRECTS} times",
        hint="open it in a browser and give the address at which it ends",
    )


def _check_answer(response: httpx.Response) -> None:
    shown, status = _shown(response.url), response.status_code
    if not response.is_success:
        raise SourceError(f"{shown} answered {status} {response.reason_phrase}".rstrip(), hint=_hint(status))
    media_type = _media_type(response)
    is_text = media_type.startswith(_TEXTS) or (media_type.startswith("application/") and media_type.endswith(_OF_TEXT))
    if media_type and not is_text:
        raise SourceError(f"{shown} is not text but {media_type}", hint=_SAVE_IT)


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _body(response: httpx.Response, max_bytes: int, deadline: float) -> bytes:
    """Read at most `max_bytes`. The size that a server declares is only used to refuse a page that is too large."""
    length = response.headers.get("content-length", "")
    pieces, n_bytes = [], int(length) if length.isdecimal() and int(length) > max_bytes else 0
    for piece in response.iter_bytes() if not n_bytes else ():
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > max_bytes:
            break
        _check_time(deadline)
    if n_bytes > max_bytes:
        raise SourceError(f"{_shown(response.url)} is larger than {max_bytes:,} bytes", hint=_SAVE_IT)
    return b"".join(pieces)


def _check_time(deadline: float) -> None:
    # What httpx limits is each wait, not their sum.
    if time.monotonic() > deadline:
        raise httpx.ReadTimeout("the page came too slowly")


def _text(response: httpx.Response, data: bytes) -> str:
    shown = _shown(response.url)
    text = _decoded(data, response.charset_encoding or "utf-8")
    if "\0" in text:
        raise SourceError(f"{shown} is not text", hint=_SAVE_IT)
    if _media_type(response) in _HTML:
        text = _markdown(text, shown)
    if not text.strip():
        raise SourceError(f"{shown} holds no text", hint=f"a page that is built in the browser has none: {_SAVE_IT}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset, "replace").removeprefix("\ufeff")
    except (LookupError, UnicodeError):  # a server may name anything
        return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _markdown(html: str, shown: str) -> str:
    library = _library(shown)
    options = library.ConversionOptions(
        extract_metadata=False,
        skip_images=True,
        exclude_selectors=["nav"],
        # Scripts and styles go; headers and forms may hold what was asked for.
        preprocessing=library.PreprocessingOptions(preset="minimal", remove_forms=False),
    )
    try:
        content: str | None = library.convert(html, options).content
    except library.ConversionError as error:
        raise SourceError(f"the HTML of {shown} cannot be read: {error}", hint=_SAVE_IT) from error
    return content or ""


def _library(shown: str) -> ModuleType:
    try:
        return importlib.import_module("html_to_markdown")
    except ImportError as error:
        raise SourceError(
            f"{shown} is HTML; to read it, the library 'html-to-markdown' must be installed",
            hint=install_line("web"),
        ) from error


@contextmanager
def _lost(url: str, timeout_s: float) -> Iterator[None]:
    """Turn all errors of the connection into SourceError, with a remedy."""
    shown = name_of(url)
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise SourceError(
            f"{shown} is not a web address, or redirects to one that is not: {error}", hint="correct the address"
        ) from error
    except httpx.TimeoutException as error:
        raise SourceError(f"{shown} took longer than {timeout_s:g} s", hint=f"try again, or {_SAVE_IT}") from error
    except httpx.ConnectError as error:
        if _is_unknown_host(error):
            remedy = "check the spelling, and the connection of this machine"
            raise SourceError(f"no such host: {error.request.url.host!r}", hint=remedy) from error
        raise SourceError(
            f"{shown} cannot be reached: {error}", hint="check the address, and that the server is running"
        ) from error
    except httpx.HTTPError as error:
        raise SourceError(f"the connection to {shown} was lost: {error}", hint="try again") from error


def _is_unknown_host(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_private(host: str) -> bool:
    """Return True if a host has an address outside the public network; False for a host without any address."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return any(not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global for *_, address in addresses)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(url: httpx.URL) -> str:
    return name_of(str(url))


def _hint(status: int) -> str:
    return _HINTS.get(status, "try again later" if status >= 500 else "check the address")


_HINTS: Mapping[int, str] = {
    401: f"the page needs a login: {_SAVE_IT}",
    403: f"the page refuses programs, or needs a login: {_SAVE_IT}",
    429: "too many requests: try again later",
}
