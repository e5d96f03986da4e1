"""The text of a document that is no text itself, for all who read one: the same bytes always give the same text."""

from __future__ import annotations

from codefathom.facts import reasons as say
from codefathom.facts.languages import EXTRACTIONS, is_extracted, language_of, reason_unread
from codefathom.source.extraction.extraction_child import READER, Task, reading
from codefathom.source.extraction.refusal import LIMITS, Refusal, refusal
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.system.extras import EXTRAS, install_line

_POINTER = b"version https://git-lfs.github.com/spec/"


def extracted_text(path: str, data: bytes) -> str | Refusal:
    """Return the text of a document, or the reason why it has none; never raises, whatever the bytes are.

    Most are read in a process of their own, see `extraction_child`.
    """
    kind = language_of(path)
    if data.startswith(_POINTER):
        return refusal(say.LFS_POINTER)
    if not is_extracted(path):
        return refusal(reason_unread(path))
    how = EXTRACTIONS[kind]
    if how.is_plain and len(data) <= MAX_WHOLE_FILE_BYTES:
        outcome = reading(Task(kind), data, LIMITS)
        assert not isinstance(outcome, bytes)  # which a picture is
        return outcome
    if how.library in EXTRAS["documents"].missing():
        return refusal(say.NEEDS_EXTRA, extra="documents", command=install_line("documents"))
    return READER.text_of(kind, data, LIMITS)
