"""The text of a document that is no text itself, for all who read one: the same bytes always give the same text."""

from __future__ import annotations

from codefathom.source.extraction import notebook_text
from codefathom.source.extraction.extraction_child import READER
from codefathom.source.extraction.refusal import LIMITS, Refusal
from codefathom.source.languages import is_extracted, language_of
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.system.extras import EXTRAS, install_line

_MODULES = {"pdf": "pypdfium2", "docx": "docx"}
_SAVE_IT = Refusal("the format of Word before 2007 is not read; save it as .docx")
_POINTER = b"version https://git-lfs.github.com/spec/"


def extracted_text(path: str, data: bytes) -> str | Refusal:
    """Return the text of a document, or the reason why it has none; never raises, whatever the bytes are.

    PDF and Word documents are read in a process of their own, see `extraction_child`.
    """
    kind = language_of(path)
    if data.startswith(_POINTER):
        return Refusal("a pointer of Git LFS; `git lfs pull` brings the file")
    if not is_extracted(path):
        return _SAVE_IT
    if kind == "notebook" and len(data) <= MAX_WHOLE_FILE_BYTES:
        return notebook_text.text_of(data, LIMITS)
    if _MODULES.get(kind) in EXTRAS["documents"].missing():
        return Refusal(f"needs the extra `documents`: {install_line('documents')}")
    return READER.text_of(kind, data, LIMITS)
