"""The sign that replaces each character of a secret in an index. Apart from the rules, which a search never imports."""

from __future__ import annotations

import re

# No letter and no sign of a language, so that it is neither a word nor a change of the syntax around it.
MASK = "\N{FULL BLOCK}"
# What whoever passes a text on to a model puts there instead: it tells the model why.
MARK = "«masked: secret»"
_RUN = re.compile(rf"{MASK}+(?:[ \t]+{MASK}+)*")
_MASKS = re.compile(f"{MASK}+")
_LEAST_RUN = 4  # of a text whose original is not at hand: fewer of these signs may be drawn, such as a bar


def agrees(masked: str, text: str) -> bool:
    """Return True if a masked text and a text are equal, apart from the masked characters."""
    if masked == text or MASK not in masked:  # the usual case, and a hundred times as fast
        return masked == text
    if len(masked) != len(text):
        return False
    end = 0
    for run in _MASKS.finditer(masked):
        if not text.startswith(masked[end : run.start()], end):
            return False
        end = run.end()
    return text.endswith(masked[end:])


def marked(masked: str, text: str) -> str:
    """Return a text with a mark for each secret of it, given the same text with masks; see `agrees`."""
    return _RUN.sub(lambda run: run[0] if text[run.start() : run.end()] == run[0] else MARK, masked)


def marked_alone(masked: str) -> str:
    """Return a masked text with a mark for each run of masks, where nobody knows what the masks stand for."""
    return _RUN.sub(lambda run: MARK if run[0].count(MASK) >= _LEAST_RUN else run[0], masked)
