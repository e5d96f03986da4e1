"""Pictures of a project over HTTP: what is shown, how a browser has to take it, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.documents import pdf, png
from tests.server.conftest import serving
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.errors import SourceError
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig
from codefathom.source.extraction.extraction_child import READER
from codefathom.source.extraction.refusal import PICTURE_LIMITS, too_slow
from codefathom.source.pictures import picture_size

SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>\n"


@pytest.fixture
def server(config: ServerConfig, shop: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    (tmp_path / "outside.png").write_bytes(png(2, 2))
    (shop / "logo.png").write_bytes(png(4, 3))
    (shop / "bomb.png").write_bytes(png(60_000, 60_000, b"x"))
    (shop / "page.png").write_bytes(b"\0<html><script>alert(1)</script>")
    (shop / "drawing.svg").write_text(SVG)
    (shop / "hidden.png").write_bytes(png(2, 2))
    (shop / "linked.png").symlink_to(tmp_path / "outside.png")
    (shop / "data.bin").write_bytes(png(2, 2))
    (shop / ".fathomignore").write_text("hidden.png\n")
    (shop / "book.pdf").write_bytes(pdf(["One", "Two"]))
    (shop / "wide.pdf").write_bytes(pdf(["Street"]).replace(b"[0 0 612 792]", b"[0 0 99999 792]"))
    with Engine.open(str(shop)) as engine:
        engine.index()
    app = create_app(config)
    app.state.server.projects.find_or_add(str(shop))
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        yield client


def test_a_picture_is_shown_so_that_it_can_do_nothing(server: httpx.Client, shop: Path) -> None:
    for path, kind in (("logo.png", "image/png"), ("drawing.svg", "image/svg+xml")):
        answer = server.get("/picture", params={"path": path})
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
        assert answer.content == (shop / path).read_bytes()
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert ("default-src 'none'" in policy, "sandbox" in policy, "script-src" in policy) == (True, True, False)
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_what_is_no_picture_of_the_project_is_refused(server: httpx.Client) -> None:
    # Too many pixels, no picture, ignored, a link, no name of a picture, outside, code, not there, on no disk.
    names = "bomb page hidden linked ../outside nowhere texts://x"
    for path in ("data.bin", "shop/pricing.py", *(f"{name}.png" for name in names.split())):
        answer = server.get("/picture", params={"path": path})
        assert (path, answer.status_code) == (path, 404)
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_picture_that_became_a_link_or_something_else_is_refused(
    server: httpx.Client, shop: Path, tmp_path: Path
) -> None:
    (shop / "logo.png").unlink()
    (shop / "logo.png").symlink_to(tmp_path / "outside.png")
    assert server.get("/picture", params={"path": "logo.png"}).status_code == 404
    (shop / "drawing.svg").write_text("<html><script>alert(1)</script></html>")
    assert server.get("/picture", params={"path": "drawing.svg"}).status_code == 404


def test_pages_of_a_pdf_are_drawn_within_limits(server: httpx.Client) -> None:
    pages = [server.get("/picture", params={"path": "book.pdf", "page": page}).content for page in (1, 2)]
    assert [picture_size(page) for page in pages] == [("image/png", 1_200, 1_553)] * 2
    assert pages[0] != pages[1]
    wide = picture_size(server.get("/picture", params={"path": "wide.pdf", "page": 1}).content)
    assert wide is not None
    assert (wide.width <= 1_200, wide.height <= 2_000) == (True, True)
    assert server.get("/picture", params={"path": "book.pdf", "page": 3}).status_code == 400
    assert server.get("/picture", params={"path": "logo.png", "page": 1}).status_code == 404


def test_a_page_that_takes_too_long_is_refused_and_the_next_one_is_drawn(shop: Path) -> None:
    curves = "0 0 m 600 700 200 300 1 1 c b* " * 2_000
    slow = pdf(["One", f"x) Tj ET {curves} BT (y"])
    limits = PICTURE_LIMITS._replace(cpu_s=0.2, usual_cpu_s=0.2)
    assert READER.picture_of(slow, 2, limits) == too_slow(limits, is_late=False)
    assert isinstance(READER.picture_of(slow, 1, limits), bytes)


def test_a_pdf_that_is_none_any_more_is_refused(shop: Path) -> None:
    (shop / "book.pdf").write_bytes(pdf(["One"]))
    with Engine.open(str(shop)) as engine:
        engine.index()
        assert picture_size(engine.picture("book.pdf", page=1).data) is not None
        (shop / "book.pdf").write_bytes(b"%PDF-1.4 nothing more")
        with pytest.raises(SourceError, match="cannot be drawn: broken PDF"):
            engine.picture("book.pdf", page=1)
