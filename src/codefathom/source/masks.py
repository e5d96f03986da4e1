"""The sign that replaces each character of a secret in an index. Apart from the rules, which a search never imports."""

from __future__ import annotations

# No letter and no sign of a language, so that it is neither a word nor a change of the syntax around it.
MASK = "\N{FULL BLOCK}"


def agrees(masked: str, text: str) -> bool:
    """Return True if a masked text and a text are equal, apart from the masked characters."""
    return len(masked) == len(text) and all(sign in (MASK, char) for sign, char in zip(masked, text, strict=True))
