"""`fathom mcp` with plain words: at the server of this user, or alone. Nothing is imported that it may not need.

A host waits for the list of tools, so the words of the command line are read by the first call, unless there may be
something wrong with them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from codefathom.mcp.shared_session import join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from codefathom.cli.options import McpOptions

_WITH_VALUE = ("-C", "--source-dir", "-p", "--project")
_ALONE = "--alone"


def is_plain(words: Sequence[str]) -> bool:
    """Return True for words that mean `fathom mcp` with options that cannot be wrong, seen without the parser."""
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in _WITH_VALUE:
            if not rest or rest.pop(0).startswith("-"):
                return False
        elif word not in ("--all", _ALONE):
            return False
    return list(words[:1]) == ["mcp"]


def run_plain(words: Sequence[str]) -> int:
    """Answer requests until stdin ends; for words that are plain."""
    relay = join(words, os.environ, (sys.stdin.fileno(), sys.stdout.buffer, sys.stderr)) if _may_join(words) else None
    if relay is not None and relay.run():
        return 0
    from codefathom.cli.commands.mcp_command import AgentSession, answer, stdin_lines

    def options() -> McpOptions:
        from codefathom.cli.arguments import parse

        parsed: McpOptions = parse(words).options
        return parsed

    return answer(AgentSession(options), stdin_lines() if relay is None else relay.rest())


def _may_join(words: Sequence[str]) -> bool:
    """Return True unless the session is to be alone; a name of a project that may be a folder means one from here."""
    names = [words[place + 1] for place, word in enumerate(words) if word in _WITH_VALUE[2:]]
    return _ALONE not in words and not any(os.path.isdir(name) for name in names)
