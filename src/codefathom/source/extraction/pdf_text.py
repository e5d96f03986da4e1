"""PDF → its text, page by page, by pdfium. Needs the extra `documents`; runs in `extraction_child.py` only.

A line `[page 3]` stands before the text of each page. Pictures, forms and notes are left out.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from codefathom.facts import reasons as say
from codefathom.source.document_places import page_line, unmarked
from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, plain_lines, refusal, too_long

_pdfium: Any = import_module("pypdfium2")  # it has no types
_NEEDS_PASSWORD = 4  # FPDF_ERR_PASSWORD
# Where a word is hyphenated at the end of a line, pdfium leaves out the line end and has one of these for the hyphen.
_HYPHENS = str.maketrans({"\x02": "", "\ufffe": "", "\xad": ""})


def text_of(data: bytes, limits: ExtractionLimits) -> str | Refusal:
    """Return the text of a PDF, or the reason why it has none."""
    document = opened(data, limits)
    return document if isinstance(document, Refusal) else _text(document, limits)


def opened(data: bytes, limits: ExtractionLimits) -> Any:
    """Return a PDF as pdfium has it, or the reason why it cannot be read."""
    try:
        document = _pdfium.PdfDocument(data)
    except _pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", 0) == _NEEDS_PASSWORD
        return refusal(say.ENCRYPTED if is_locked else say.BROKEN_PDF)
    return refusal(say.MANY_PAGES, count=limits.pages) if len(document) > limits.pages else document


def _text(document: Any, limits: ExtractionLimits) -> str | Refusal:
    lines: list[str] = []
    n_chars, has_text = 0, False
    for number in range(len(document)):
        page = _page_lines(document, number)
        n_chars += sum(len(line) + 1 for line in page)
        if n_chars > limits.chars:
            return too_long(limits)
        has_text = has_text or any(page)
        lines += [page_line(number + 1), *page, ""]
    return "\n".join(lines) if has_text else refusal(say.PDF_WITHOUT_TEXT)


def _page_lines(document: Any, number: int) -> list[str]:
    """Return the lines of a page, none where it is broken: the other pages may be sound."""
    try:
        page = document[number]
        text_page = page.get_textpage()
        text = text_page.get_text_bounded()
        text_page.close()
        page.close()
    except _pdfium.PdfiumError:
        return []
    return [unmarked("pdf", line) for line in plain_lines(text.translate(_HYPHENS))] if text.strip() else []
