"""The text of a script → the names under which it passes on its own definitions. Pure.

What is passed on from another file by `export … from` is an import, which the parser has seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

DEFAULT = "default"  # the name of what a file exports by default, and of what `module.exports` is set to

_MOST_CHARS = 500_000  # of a file; a longer one was made by a program
# A text or a comment, each up to its end, so that no character is read twice.
_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*+(?:"|(?=\n)|\\?\Z)|'(?:\\.|[^'\\\n])*+(?:'|(?=\n)|\\?\Z))"""
    r"""|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"""
)
_NAME = r"[A-Za-z_$][\w$]*"
_BRACES = r"\{([^{}]{0,20000})\}"
_LIST = re.compile(rf"\bexport\s*(?:type\s*)?{_BRACES}(?!\s*from\b)|\bmodule\.exports\s*=\s*{_BRACES}")
_WHOLE = re.compile(
    rf"\bexport\s+default\s+(?:(?:abstract\s+)?class\s+|(?:async\s+)?function\s*\*?\s*)?({_NAME})\s*"
    rf"(?=[;({{<\n]|extends\b|$)|\bmodule\.exports\s*=\s*({_NAME})\s*(?:;|$)",
    re.MULTILINE,
)
_MEMBER = re.compile(rf"\b(?:module\.)?exports\.({_NAME})\s*=\s*({_NAME})\s*(?:;|$)", re.MULTILINE)
_NO_NAMES = frozenset({"function", "class", "async", "new", "await", "null", "true", "false", "this", "undefined"})


def exported_names(text: str) -> Mapping[str, str]:
    """Return by the name that others import the name that the file itself has for it."""
    if len(text) > _MOST_CHARS or "export" not in text:
        return {}
    plain = _COMMENT.sub(lambda match: match[1] or " ", text)
    return {exported: local for exported, local in _pairs(plain) if local not in _NO_NAMES}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for match in _WHOLE.finditer(text):
        yield DEFAULT, match[1] or match[2]
    for match in _MEMBER.finditer(text):
        yield match[1], match[2]
    for match in _LIST.finditer(text):
        for part in (match[1] or match[2] or "").split(","):
            words = re.sub(r"^\s*type\s+(?!as\b)", "", part).split()
            if match[2] is not None:
                exported, colon, local = "".join(words).partition(":")
                words = [local, "as", exported] if colon else words
            if len(words) == 1 and re.fullmatch(_NAME, words[0]):
                yield words[0], words[0]
            elif len(words) == 3 and words[1] == "as" and re.fullmatch(_NAME, words[0]):
                yield words[2].strip("'\""), words[0]
