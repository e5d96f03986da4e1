"""Pictures of a project: its picture files, as far as a browser shows them without harm, and pages of its PDF files."""

from __future__ import annotations

from codefathom.errors import SourceError, UsageError
from codefathom.facts.languages import language_of
from codefathom.project.opening import OpenedProject
from codefathom.source.document_places import page_line
from codefathom.source.extraction.extraction_child import READER
from codefathom.source.extraction.refusal import PICTURE_LIMITS, Refusal
from codefathom.source.origin import origin_of
from codefathom.source.pictures import is_picture_name, picture_size
from codefathom.text.kept_names import is_kept_text
from codefathom.types import Picture


def picture(opened: OpenedProject, path: str, page: int) -> Picture:
    """Return a picture file as it is now, or with `page` a picture of that page of a PDF.

    Raises SourceError for a file that the index has not looked at, such as an ignored one, and for what is no picture;
    UsageError for a page that is not there.
    """
    if page:
        return _page(opened, path, page)
    is_there = opened.catalog.is_rejected(path) or opened.catalog.document(path) is not None
    if not is_there or not is_picture_name(path):
        raise SourceError(f"no such picture in the index: {path!r}", hint="name one that no ignore rule leaves out")
    data = _bytes(opened, path)
    size = picture_size(data)
    if size is None:
        raise SourceError(
            f"{path!r} is not shown: it is no PNG, JPEG, GIF, WebP or SVG, or too large as a picture",
            hint="open the file itself",
        )
    return Picture(size.media_type, data)


def _page(opened: OpenedProject, path: str, page: int) -> Picture:
    if opened.catalog.document(path) is None or language_of(path) != "pdf":
        raise SourceError(f"no such PDF in the index: {path!r}", hint="pages are shown of PDF files alone")
    if f"\n{page_line(page)}\n" not in f"\n{opened.catalog.text(path)}":
        raise UsageError(f"{path} has no page {page}", hint="the lines `[page N]` in its text name its pages")
    drawn = READER.picture_of(_bytes(opened, path), page, PICTURE_LIMITS)
    if isinstance(drawn, Refusal):
        raise SourceError(f"page {page} of {path!r} cannot be drawn: {drawn.reason}", hint="read its text instead")
    return Picture("image/png", drawn)


def _bytes(opened: OpenedProject, path: str) -> bytes:
    origin = origin_of(opened.recipe.tree, opened.recipe.rules, opened.catalog)
    data = None if is_kept_text(path) else origin.content(path)
    if data is None:
        raise SourceError(f"{path!r} cannot be read", hint="`fathom index` tells why it is left out")
    return data
