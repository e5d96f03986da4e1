"""`fathom hook`: a coding agent tells what it has just done, and is offered a search by meaning where that may help.

The agent waits for it: nothing is imported before the event may be a grep. It never fails and never decides anything.
"""

from __future__ import annotations

import os

_MOST_BYTES = 4_000_000
_CHUNK = 1 << 16
_STDIN, _STDOUT = 0, 1
# Without one of them, nothing was looked for.
_SIGNS = (
    b"Grep",
    b"grep_search",
    b"search_file_content",
    b'"grep"',
    b'"rg"',
    b"grep ",
    b"rg ",
    b"ag ",
    b"ack ",
)
# As `find_root` has it, but without importing what reads settings.
_INDEX = (".fathom", "catalog.db")
_ROOT_MARKS = (".fathom", "fathom.toml", ".git")


def run() -> int:
    """Answer the event on stdin on stdout. Return 0, whatever happens: another code might end the agent's call."""
    try:
        if answer := _answer(_event()):
            os.write(_STDOUT, answer.encode())
    except Exception:
        pass  # an agent must not fail because of an offer
    return 0


def _answer(content: bytes) -> str:
    if not any(sign in content for sign in _SIGNS):
        return ""
    from codefathom.hosts.grep_offer import grep_of, offer

    grep = grep_of(content)
    if grep is None or not _has_index(os.path.join(grep.folder, grep.place)):
        return ""
    return offer(grep)


def _event() -> bytes:
    """Return all of stdin, b"" where that is too much; it is read to its end, as its writer waits for that."""
    parts: list[bytes] = []
    n_bytes = 0
    while chunk := os.read(_STDIN, _CHUNK):
        n_bytes += len(chunk)
        if n_bytes <= _MOST_BYTES:
            parts.append(chunk)
    return b"".join(parts) if n_bytes <= _MOST_BYTES else b""


def _has_index(path: str) -> bool:
    """Return True if the project around a path has an index, in its own folder or where settings say."""
    folder = os.path.realpath(path)
    while True:
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in _ROOT_MARKS):
            return os.path.isfile(os.path.join(folder, *_INDEX)) or _has_index_elsewhere(folder)
        folder, last = os.path.dirname(folder), folder
        if folder == last:
            return False


def _has_index_elsewhere(root: str) -> bool:
    """Return True if a project has an index in another folder. Settings are read for that, which takes a moment."""
    from codefathom.project.location import locate

    return os.path.isfile(os.path.join(locate(root, is_root=True).index_dir, _INDEX[-1]))
