"""The sign that stands in an index for each character of a secret; apart from the rules, which no search needs."""

from __future__ import annotations

# No letter and no sign of a language, so that it is neither a word nor a change of the syntax around it.
MASK = "\N{FULL BLOCK}"


def agrees(kept: str, text: str) -> bool:
    """Whether a text is the one that was kept, but for what is masked in that."""
    return len(kept) == len(text) and all(sign in (MASK, other) for sign, other in zip(kept, text, strict=True))
