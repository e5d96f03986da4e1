"""A hook in the settings of an agent: added, renewed or taken out, without touching the hooks of others.

It comes after a call: so it cannot keep the agent from one, whatever happens to it. The command ends with code 0 also
where fathom is not there any more, or is too old to know the command. Claude Code, Codex and Gemini CLI document one
form of a hook, in which the event, the names of tools and the unit of the time limit differ. GitHub Copilot, in VS Code
and on the command line, reads all files of a folder; the item of its list is the command itself.
"""

from __future__ import annotations

import re
import shlex
from typing import Any, NamedTuple

from codefathom.hosts import json_edits
from codefathom.hosts.instructions import ChangedError

_KEY = "hooks"
_END = " hook || exit 0"
_OWN = re.compile(rf"(?P<command>.*\bfathom(?:\.exe)?'?){re.escape(_END)}", re.IGNORECASE)


class HookForm(NamedTuple):
    """What differs between the hooks of hosts."""

    event: str  # after a call of a tool
    tools: str  # an expression for the names of the tools that search, or run commands
    timeout: int  # five seconds, in the unit of the host
    version: int = 0  # of the form, which its file says; 0: it says none, and an item holds a list of commands

    def item(self, quoted: str) -> dict[str, Any]:
        """Return the item of the list for the program of this name."""
        command = {"type": "command", "command": f"{quoted}{_END}"}
        if self.version:
            return {**command, "matcher": self.tools, "timeoutSec": self.timeout}
        return {"matcher": self.tools, "hooks": [{**command, "timeout": self.timeout}]}


# See code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks, geminicli.com/docs/hooks/reference and
# docs.github.com/en/copilot/reference/hooks-reference.
FORMS = {
    "claude": HookForm("PostToolUse", "Grep|Bash", 5),
    "codex": HookForm("PostToolUse", "Bash", 5),
    "vscode": HookForm("postToolUse", "bash|powershell|grep|rg", 5, version=1),
    "gemini": HookForm("AfterTool", "grep_search|search_file_content|run_shell_command", 5_000),
}


def created(form: HookForm, command: str) -> str:
    """Return the text of a new file."""
    return _whole(form, [form.item(shlex.quote(command))])


def _whole(form: HookForm, items: list[Any]) -> str:
    text = json_edits.created(_KEY, form.event, items)
    return text.replace("{\n", f'{{\n  "version": {form.version},\n', 1) if form.version else text


def may_have_hook(text: str) -> bool:
    """Return True for settings in which the command of a hook stands, whatever their form."""
    return f"fathom{_END}" in text.replace(".exe", "").replace("'", "")


def with_hook(form: HookForm, text: str, command: str) -> str:
    """Return settings with the hook, in the place of an older one. Raises FormError, and ChangedError."""
    at = _place(form, text)
    item = form.item(shlex.quote(command))
    if at is not None and json_edits.items_in(text, _KEY, form.event)[at] == item:
        return text
    return json_edits.with_item(text, _KEY, form.event, item, at)


def without_hook(form: HookForm, text: str) -> str | None:
    """Return settings without the hook; None where that is the whole file. Raises FormError, and ChangedError."""
    at = _place(form, text)
    if at is None:
        return text
    items = json_edits.items_in(text, _KEY, form.event)
    if len(items) == 1 and text == _whole(form, items):
        return None
    return json_edits.without_item(text, _KEY, form.event, at)


def _place(form: HookForm, text: str) -> int | None:
    """Return the place of the hook among those of others, None without one. Raises FormError, and ChangedError."""
    for at, item in enumerate(json_edits.items_in(text, _KEY, form.event)):
        inner = [item] if form.version else item.get("hooks") if isinstance(item, dict) else None
        commands = [one.get("command") for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
        for own in filter(None, (_OWN.fullmatch(command) for command in commands if isinstance(command, str))):
            if item != form.item(own["command"]):
                raise ChangedError
            return at
    return None
