"""The files and pages of `--doc` and `--url` → texts by name."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from codefathom.cli.face import Face
from codefathom.errors import SourceError
from codefathom.facts.languages import is_document
from codefathom.source.charset import likely_encoding, undecodable_lines
from codefathom.source.content import decode, is_binary
from codefathom.source.extraction.extracted_text import extracted_text
from codefathom.source.extraction.refusal import Refusal

STDIN = "-"
# More than two million tokens: no model takes as much.
_MAX_BYTES = 8_000_000
_NAME_OF_STDIN = "stdin"


def documents(paths: Iterable[str], urls: Iterable[str], face: Face) -> Iterator[tuple[str, str]]:
    """Yield each text once, with its name. Raises SourceError for one that is not text, or too large for any model."""
    for path in dict.fromkeys(paths):
        if path == STDIN:
            yield _NAME_OF_STDIN, text_of_stdin(face)
        else:
            yield path, _text(repr(path), _bytes_of(path), path)
    if not urls:
        return
    from codefathom.source.web import fetch, name_of  # with all that speaks to other machines

    for url in dict.fromkeys(urls):
        yield name_of(url), fetch(url)


def text_of_stdin(face: Face) -> str:
    """Return the text of stdin. Raises SourceError for what is not text."""
    return _text(_NAME_OF_STDIN, _bytes_of_stdin(face))


def _bytes_of_stdin(face: Face) -> bytes:
    if sys.stdin.isatty():
        face.note("type or paste the text, then press Ctrl-D")
    return sys.stdin.buffer.read(_MAX_BYTES + 1)


def _bytes_of(path: str) -> bytes:
    """Read what may also be a pipe, such as a shell makes of <(git diff)."""
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"cannot read {path!r}: {reason}", hint="give a file, or - for stdin") from error


def _text(shown: str, data: bytes, name: str = "") -> str:
    if len(data) > _MAX_BYTES:
        raise SourceError(
            f"{shown} is larger than {_MAX_BYTES:,} bytes, which is too large for any model",
            hint="give only the part that is important",
        )
    if is_document(name):
        return _extracted(shown, name, data)
    if is_binary(data):
        raise SourceError(f"{shown} is not text", hint="give a text file, such as plain text or Markdown")
    # One text alone: its own bytes are all there is to tell the encoding.
    text = decode(data, likely_encoding([undecodable_lines(data)])).text
    if not text.strip():
        raise SourceError(f"{shown} contains no text", hint="give a text that is not empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _extracted(shown: str, name: str, data: bytes) -> str:
    text = extracted_text(name, data)
    if isinstance(text, Refusal):
        raise SourceError(
            f"{shown} cannot be read: {text.reason}", hint="give a text file, or save it as another format"
        )
    return text
