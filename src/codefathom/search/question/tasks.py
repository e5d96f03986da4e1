"""A question that asks what must change for a task → the task. Pure.

"what I need to change to limit uploads" is about limits and uploads: "change" would lead to the list of changes.
"""

from __future__ import annotations

import re

_PEOPLE = "i|we|you|one"
_MUST = "need|have|must|should|would|want|ought"
_FRAME = (
    r"(?:please )?(?:(?:show|give|tell)(?: me)? )?(?:(?:a |the )?map (?:of|for) )?"
    r"(?:what|where|which (?:files?|code|places?)|everything|all|the (?:files?|code|places?))(?: that)?"
    rf"(?: (?:do|does|must|should))?(?: (?:{_PEOPLE}))?(?: (?:{_MUST}))?(?: to)?(?: be)? "
    r"(?:changed?|touch(?:ed)?|edit(?:ed)?|modify|modified|know|look at|understand)"
    r"(?: in order to| so that| when (?:i|we)(?: want to)?| if (?:i|we)(?: want to)?| to| for),? "
)


def task_of(text: str) -> str:
    """Return the task of such a question, and any other text as it is."""
    match = re.match(_FRAME, text, re.IGNORECASE)
    return text[match.end() :] if match and text[match.end() :].strip() else text
