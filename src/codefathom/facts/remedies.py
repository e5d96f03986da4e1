"""What a remedy says on a face that has no commands: the route or the tool in the place of the command. Pure.

Whoever knows the remedy writes it for a terminal, in backticks. A face where nobody can type it says it in its own
words; what only the person at the machine of the server can do stays a command.
"""

from __future__ import annotations

import re

_INDEX = "POST /projects/ID/index"
# By the words behind `fathom`; ID stands for the project, NAME for a fleet.
_ROUTES = {
    "ask": "POST /ask",
    "config show": "GET /config",
    "files": "GET /files",
    "fleet index": _INDEX,
    "fleet index --full": f'{_INDEX} with {{"full": true}}',
    "history": "GET /history",
    "index": _INDEX,
    "index --full": f'{_INDEX} with {{"full": true}}',
    "index --only": "POST /projects/ID/files",
    "search": "POST /search",
    "status": "GET /projects/ID",
    "status --skipped": "GET /projects/ID/status",
    "store init": "POST /projects/ID/store/init",
    "store list": "GET /projects/ID/store",
    "store move": "POST /projects/ID/store/move",
    "store test": "GET /projects/ID/store",
    "store verify --fix": 'POST /projects/ID/store/verify with {"fix": true}',
    "symbols": "GET /symbols",
    "tokens list": "GET /tokens",
}
# Not what is to be done in a folder, or by another user: no route does that.
_COMMAND = re.compile(r"(\brun )?`fathom ([^`]*)`(?! in the folder| once as)")
_OR_DOCTOR = "`fathom doctor --fix` or "  # no route repairs a view alone; a run makes it again, too
_LEAST = ("`--min-score`", "min_score")
_OPTIONS = (("`--anyway`", '"anyway": true in POST /ask and POST /context'), _LEAST)  # a search needs no `anyway`
_FLEET = re.compile(r"(fleet index) (?!-)\S+")
_FOLDERS = "read with path . lists the folders of the project"
# What an agent can do instead, by the words of the remedy.
_TOOLS = (
    (re.compile(r"`fathom symbols` lists all symbols"), "search with mode symbol finds names"),
    (
        re.compile(r"the index is empty; `fathom status --skipped` tells which files were left out and why"),
        "the index is empty: the project has no text file, or ignore rules leave all of them out",
    ),
    (re.compile(r"`fathom (?:files|status|status --skipped)` (?:lists|shows|tells)[^;]*"), _FOLDERS),
    (re.compile(r"give a folder that `fathom files` lists"), _FOLDERS),
    (re.compile(r"name one file with `fathom history`"), "name one file in read, with history"),
)


def over_http(text: str) -> str:
    """Return a text with the routes that do what its commands do; a command without one stays."""
    for option, field in _OPTIONS:
        text = text.replace(option, field)
    return _COMMAND.sub(_route, text.replace(_OR_DOCTOR, "")) if "`fathom " in text else text


def for_agents(text: str) -> str:
    """Return a text with the tools that do what its commands do; a command without one stays."""
    text = text.replace(*_LEAST)
    if "`fathom " in text:
        for remedy, tool in _TOOLS:
            text = remedy.sub(tool, text)
    return text


def for_agents_over_http(text: str) -> str:
    """Return a text for an agent that has only the tools of a server: what no tool does, a route of it does."""
    return over_http(for_agents(text))


def _route(match: re.Match[str]) -> str:
    run, words = match.groups()
    route = _ROUTES.get(_FLEET.sub(r"\1", words))
    return match.group() if route is None else f"{'send ' if run else ''}{route}"
