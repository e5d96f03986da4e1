"""A paragraph in a file of instructions, such as AGENTS.md: added between two marks, or taken out. Pure.

An empty line stands before it, and where the text had no line end, none follows: so taking it out restores the text to
the byte. A file that was made for it has neither.
"""

from __future__ import annotations

import re
from hashlib import sha256

_TEXT = """\
To find code by what it does, or what calls or uses a name, ask the tools `search`, `related`, `map` and `read` of the
MCP server `fathom`, or run `fathom search "question"` in a shell. To find every place of one exact text, use ripgrep.
Stop at the first answer that shows the lines you need."""
_BEGIN = re.compile(r'<!-- fathom: begin(?: "(?P<checksum>[0-9a-f]{8})")? -->')
_END = "<!-- fathom: end -->"
_OWN = re.compile(rf"{_BEGIN.pattern}(?P<inner>(?s:.*?)){_END}")


class ChangedError(ValueError):
    """A person has changed what fathom has written."""


def paragraph(newline: str = "\n") -> str:
    """Return the paragraph with its marks, without a line end behind it."""
    inner = f"\n{_TEXT}\n"
    return f'<!-- fathom: begin "{_checksum(inner)}" -->{inner}{_END}'.replace("\n", newline)


def has_paragraph(text: str) -> bool:
    """Return True if a text has one of the marks."""
    return _BEGIN.search(text) is not None or _END in text


def created() -> str:
    """Return the text of a new file."""
    return f"{paragraph()}\n"


def with_paragraph(text: str) -> str:
    """Return a text with the paragraph, at its end or in the place of an older one. Raises ChangedError."""
    if has_paragraph(text):
        own = _own(text)
        return f"{text[: own.start()]}{paragraph(_newline(own['inner']))}{text[own.end() :]}"
    newline = _newline(text)
    is_ended = not text or text.endswith("\n")
    return f"{text}{newline if is_ended else 2 * newline}{paragraph(newline)}{newline if is_ended else ''}"


def without_paragraph(text: str) -> str | None:
    """Return a text without the paragraph; None where that is the whole file. Raises ChangedError."""
    if not has_paragraph(text):
        return text
    own = _own(text)
    newline = _newline(own["inner"])
    before, after = text[: own.start()], text[own.end() :]
    if (before, after) == ("", newline):
        return None
    if not after:  # nor had the text before it a line end
        return before.removesuffix(newline).removesuffix(newline)
    if before == newline or before.endswith(f"\n{newline}"):
        before = before.removesuffix(newline)
    return before + after.removeprefix(newline)


def _own(text: str) -> re.Match[str]:
    """Return the only paragraph, as some version of fathom has written it. Raises ChangedError."""
    match = _OWN.search(text)
    is_single = len(_BEGIN.findall(text)) == text.count(_END) == 1
    if match is None or not is_single or match["checksum"] != _checksum(match["inner"]):
        raise ChangedError
    return match


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _checksum(inner: str) -> str:
    return sha256(inner.replace("\r\n", "\n").encode()).hexdigest()[:8]
