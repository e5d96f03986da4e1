"""JSON that somebody else has written: a model, a code host, an agent, a file of a repository. Pure."""

from __future__ import annotations

import json
import re
from itertools import accumulate

TYPE_CHECKING = False  # see `cli`: a session that another process answers holds as little as can be
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 200  # brackets inside one another; what people and programs write has a tenth of it
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_NO_BRACKETS = r'(?s:"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[^"\[\]{}]+)'


def read_json(text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of a JSON text; without `strict`, its strings may hold line ends.

    Raises ValueError for a text that is not JSON, and for one that is nested more than `MAX_DEPTH` deep. The parser
    would go on to the end of the stack, where whatever Python tidies up at that moment fails.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if _is_too_deep(text):
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep")
    return json.loads(text, strict=strict)


def _is_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    brackets = re.sub(_NO_BRACKETS, "", text)  # compiled where it is needed: few texts have so many
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH
