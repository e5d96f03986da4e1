"""Secrets in a text, found by what they look like and by where they stand. Pure.

What is kept of a text has a mask of the same length in the place of each secret (`blank`); what goes to a remote
provider has the kind of each (`mask`). Mask whole documents and cut afterwards: half a key may not look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codefathom.source.masks import MASK
from codefathom.source.secrets.files import files
from codefathom.source.secrets.formats import formats
from codefathom.source.secrets.keys import PRIVATE_KEY, private_keys
from codefathom.source.secrets.names import PASSWORD, SECRET, assignments
from codefathom.source.secrets.passwords import passwords
from codefathom.source.secrets.scanned import ScannedText, SecretSpan
from codefathom.source.secrets.usages import AUTHORIZATION, COOKIE, places
from codefathom.source.secrets.values import is_mixed

__all__ = ["MASK", "Masked", "SecretSpan", "blank", "find", "mask", "mask_chunk"]

# What stands beside a masked place may be seen better without it; two rounds are the rule.
_MAX_ROUNDS = 6


class MaskedText(NamedTuple):
    """A text without its secrets, line by line as long as the original."""

    text: str
    kinds: tuple[str, ...]  # sorted, each once


def find(text: str, path: str = "", *, is_piece: bool = False) -> list[SecretSpan]:
    """Return the places of secrets in order, none of them over another. `path` tells more than the text alone.

    `is_piece`: the text was cut out of a document, so that wrapped lines of random base64 may be those of a key.
    """
    secrets: list[SecretSpan] = []
    hidden = text
    for _ in range(_MAX_ROUNDS):
        spans = [span for span in _spans(ScannedText(hidden, path, is_piece=is_piece)) if not _is_hidden(hidden, span)]
        if not spans:
            break
        spans = _merged([*spans, *_repeated(spans, hidden)])
        secrets += spans
        hidden = _blanked(hidden, spans)
    return _merged(secrets)


# Signs of a value that is looked for in the rest of its text, and how many values are.
_LEAST_REPEATED, _MOST_REPEATED = 8, 100


def _repeated(spans: list[SecretSpan], text: str) -> Iterator[SecretSpan]:
    """Yield the other places of values that were found, such as in a comment."""
    values = {text[span.start : span.end]: span.kind for span in spans}
    own = [value for value in values if len(value) >= _LEAST_REPEATED and is_mixed(value) and MASK not in value]
    for value in own[:_MOST_REPEATED]:
        place = text.find(value)
        while place >= 0:
            yield SecretSpan(place, place + len(value), values[value])
            place = text.find(value, place + len(value))


def mask(text: str, path: str = "") -> MaskedText:
    """Replace every secret by its kind, such as "«masked: GitHub token»"; all else and the number of lines stay.

    A text without a path may be a piece of a document.
    """
    return _masked(text, find(text, path, is_piece=not path))


def mask_chunk(text: str) -> MaskedText:
    """Mask a piece of a document whose first line is the path, as models that embed or grade are given it."""
    return _masked(text, find(text, text.partition("\n")[0], is_piece=True))


def _masked(text: str, spans: list[SecretSpan]) -> MaskedText:
    return MaskedText(_marked(text, spans), tuple(sorted({span.kind for span in spans})))


def blank(text: str, path: str = "") -> str:
    """Replace every character of a secret by `MASK`: all lines and columns stay, and quotes and names around it."""
    spans = find(text, path)
    return _blanked(text, spans) if spans else text


# One round ------------------------------------------------------------------------------------------------------------

_GUESSED = frozenset({SECRET, PASSWORD, AUTHORIZATION, COOKIE, "token"})


def _spans(scanned: ScannedText) -> list[SecretSpan]:
    sources = (private_keys, formats, places, assignments, passwords, files)
    return _merged([span for source in sources for span in source(scanned) if span.end > span.start])


def _merged(candidates: list[SecretSpan]) -> list[SecretSpan]:
    """Return the places in order; those that overlap are one."""
    # A known format says more than a suspicious name: it comes first where both begin at the same place.
    ordered = sorted(candidates, key=lambda span: (span.start, span.kind in _GUESSED, -span.end))
    spans: list[SecretSpan] = []
    for span in ordered:
        if not spans or span.start >= spans[-1].end:
            spans.append(span)
        else:
            spans[-1] = spans[-1]._replace(end=max(span.end, spans[-1].end))
    return spans


def _is_hidden(text: str, span: SecretSpan) -> bool:
    return not text[span.start : span.end].replace(MASK, "").strip()


_TEXT_OF_LINE = re.compile(r"[^\s](?:[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]*[^\s])?")
_NO_SPACE = re.compile(r"\S")
# Of a private key its first and last line stay, and the quotes and signs around each line.
_OF_KEY = re.compile(r"-----(?:BEGIN|END) [A-Z0-9 ]+-----|\\[nrt]|([A-Za-z0-9+/=])")


def _marked(text: str, spans: list[SecretSpan]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        mark = f"«masked: {span.kind}»"
        pieces += text[end : span.start], _TEXT_OF_LINE.sub(mark, text[span.start : span.end])
        end = span.end
    return "".join((*pieces, text[end:]))


def _blanked(text: str, spans: list[SecretSpan]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        secret = text[span.start : span.end]
        if span.kind == PRIVATE_KEY:
            hidden = _OF_KEY.sub(lambda match: MASK if match[1] else match[0], secret)
        else:
            hidden = _NO_SPACE.sub(MASK, secret)
        pieces += text[end : span.start], hidden
        end = span.end
    return "".join((*pieces, text[end:]))
