"""The reason why no text can be taken out of a document, and the limits of that text. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from codefathom.facts.reasons import MANY_CHARACTERS, MUCH_MEMORY, TOO_SLOW, TOO_SLOW_AFTER_OTHERS, Note, Value
from codefathom.source.size_limits import (
    MAX_EXTRACTED_CHARS,
    MAX_EXTRACTION_CPU_S,
    MAX_EXTRACTION_MEMORY_BYTES,
    MAX_PAGES,
    MAX_PARTS,
    MAX_PICTURE_CPU_S,
    MAX_SLOW_EXTRACTION_CPU_S,
    MAX_UNPACKED_BYTES,
    MAX_UNPACKED_RATIO,
    USUAL_EXTRACTION_CPU_S,
    USUAL_EXTRACTION_MEMORY_BYTES,
)


class Refusal(NamedTuple):
    """The reason why a document has no text for an index, as `fathom status --skipped` shows it."""

    why: Note

    @property
    def reason(self) -> str:
        """The reason in English."""
        return str(self.why)


def refusal(kind: str, **values: Value) -> Refusal:
    """Return a refusal for the reason of a kind."""
    return Refusal(Note(kind, values))


class ExtractionLimits(NamedTuple):
    """Limits of one document; a document beyond one of them is refused."""

    chars: int = MAX_EXTRACTED_CHARS  # of its text
    pages: int = MAX_PAGES  # of a PDF
    parts: int = MAX_PARTS  # of the archive that a Word document is
    unpacked_bytes: int = MAX_UNPACKED_BYTES  # of all its parts together
    unpacked_ratio: int = MAX_UNPACKED_RATIO  # of these to the bytes of the file
    cpu_s: float = MAX_EXTRACTION_CPU_S
    memory_bytes: int = MAX_EXTRACTION_MEMORY_BYTES  # beyond what the process has before
    usual_memory_bytes: int = USUAL_EXTRACTION_MEMORY_BYTES  # of one that others may be read beside
    usual_cpu_s: float = USUAL_EXTRACTION_CPU_S  # once slow documents have used up their time
    slow_cpu_s: float = MAX_SLOW_EXTRACTION_CPU_S  # of all documents of a run, beyond the usual time of each


LIMITS = ExtractionLimits()
# Of a picture of one page, for which a person waits.
PICTURE_LIMITS = ExtractionLimits(cpu_s=MAX_PICTURE_CPU_S, usual_cpu_s=MAX_PICTURE_CPU_S)


TOO_MUCH_MEMORY = refusal(MUCH_MEMORY)


def too_long(limits: ExtractionLimits) -> Refusal:
    """Return the refusal of a text with too many characters."""
    return refusal(MANY_CHARACTERS, count=limits.chars)


def too_slow(limits: ExtractionLimits, is_late: bool) -> Refusal:
    """Return the refusal of a document that takes too long; `is_late`: because others before it took long."""
    if not is_late:
        return refusal(TOO_SLOW, seconds=f"{limits.cpu_s:g}")
    return refusal(TOO_SLOW_AFTER_OTHERS, seconds=f"{limits.usual_cpu_s:g}", all_seconds=f"{limits.slow_cpu_s:g}")


_CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends, and without characters that no text has."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [_CONTROLS.sub(" ", line).rstrip() for line in lines]
