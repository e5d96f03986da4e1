"""A hook in the settings of Claude Code: added, renewed or taken out, without touching the hooks of others.

It comes after a call (PostToolUse): so it cannot keep the agent from one, whatever happens to it. The command ends with
code 0 also where fathom is not there any more, or is too old to know the command.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from codefathom.hosts import json_edits
from codefathom.hosts.instructions import ChangedError

_KEY, _EVENT = "hooks", "PostToolUse"
_END = " hook || exit 0"
_TIMEOUT_S = 5
_OWN = re.compile(rf"(?P<command>.*\bfathom(?:\.exe)?'?){re.escape(_END)}", re.IGNORECASE)


def hook(command: str) -> dict[str, Any]:
    """Return the hook that starts a command of fathom."""
    return _item(shlex.quote(command))


def created(command: str) -> str:
    """Return the text of a new file."""
    return json_edits.created(_KEY, _EVENT, [hook(command)])


def may_have_hook(text: str) -> bool:
    """Return True for settings in which the command of a hook stands, whatever their form."""
    return f"fathom{_END}" in text.replace(".exe", "").replace("'", "")


def with_hook(text: str, command: str) -> str:
    """Return settings with the hook, in the place of an older one. Raises FormError, and ChangedError."""
    at = _place(text)
    item = hook(command)
    if at is not None and json_edits.items_in(text, _KEY, _EVENT)[at] == item:
        return text
    return json_edits.with_item(text, _KEY, _EVENT, item, at)


def without_hook(text: str) -> str | None:
    """Return settings without the hook; None where that is the whole file. Raises FormError, and ChangedError."""
    at = _place(text)
    return text if at is None else json_edits.without_item(text, _KEY, _EVENT, at)


def _item(quoted: str) -> dict[str, Any]:
    return {
        "matcher": "Grep|Bash",
        "hooks": [{"type": "command", "command": f"{quoted}{_END}", "timeout": _TIMEOUT_S}],
    }


def _place(text: str) -> int | None:
    """Return the place of the hook among those of others, None without one. Raises FormError, and ChangedError."""
    for at, item in enumerate(json_edits.items_in(text, _KEY, _EVENT)):
        inner = item.get("hooks") if isinstance(item, dict) else None
        commands = [one.get("command") for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
        for own in filter(None, (_OWN.fullmatch(command) for command in commands if isinstance(command, str))):
            if item != _item(own["command"]):
                raise ChangedError
            return at
    return None
