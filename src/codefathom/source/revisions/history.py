"""The latest commits of a repository → the files that each of them changed. Names are compared, no content is read.

`rev-list` lists commits and `diff-tree` compares their trees. With `--name-only` and without renames git reads no blob,
so that neither a filter nor a textconv nor an external diff of the repository's settings is used; the options that
switch these off are given all the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import Thread, Timer
from typing import IO

from codefathom.errors import SourceError
from codefathom.source.revisions.git_program import output_of_git, start_git
from codefathom.source.revisions.git_tree import GitTree, is_partial

_MOST_COMMITS = 3_000
_MOST_FILES = 30  # of a commit: what changes more tells little about which files belong together
_MOST_BYTES = 5_000_000
_MOST_S = 10.0  # trees can be made so that their comparison takes for ever
_COMPARE = (
    *("diff-tree", "--stdin", "-r", "-z", "--name-only", "--no-renames"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=all", f"-O{os.devnull}"),
)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def past_changes(tree: GitTree) -> Sequence[tuple[str, ...]]:
    """Return the paths that each of the latest commits up to that of a tree changed, as the tree names its files.

    Left out are first commits, merges, commits of many files, and what lies outside of the tree's folder. Nothing is
    returned for a partial clone, which may lack trees, and where git fails: it is evidence that one can do without.
    """
    try:
        return _past_changes(tree)
    except SourceError:
        return ()


@lru_cache(maxsize=4)
def _past_changes(tree: GitTree) -> Sequence[tuple[str, ...]]:
    if is_partial(tree.folder):
        return ()
    commits = output_of_git(tree.folder, "rev-list", f"--max-count={_MOST_COMMITS}", "--end-of-options", tree.commit)
    groups: list[tuple[str, ...]] = []
    for paths in _groups(_comparison(tree.folder, commits.encode())):
        inside = tuple(path.removeprefix(tree.prefix) for path in paths if path.startswith(tree.prefix))
        if inside and len(paths) <= _MOST_FILES:
            groups.append(inside)
    return tuple(groups)


def _comparison(folder: str, commits: bytes) -> str:
    """Return the output of the comparison, as much of it as comes within the limits."""
    with start_git(folder, *_COMPARE) as process:
        assert process.stdin is not None and process.stdout is not None  # pipes
        # In a thread, because git stops reading while nobody reads what it writes.
        writer = Thread(target=_write, args=(process.stdin, commits), daemon=True)
        writer.start()
        clock = Timer(_MOST_S, process.kill)
        clock.daemon = True
        clock.start()
        try:
            output = process.stdout.read(_MOST_BYTES)
        finally:
            clock.cancel()
            process.kill()
            writer.join()
    return output.decode("utf-8", "surrogateescape")


def _write(stream: IO[bytes], content: bytes) -> None:
    with suppress(OSError, ValueError), stream:  # git was ended
        stream.write(content)


def _groups(output: str) -> Iterator[Sequence[str]]:
    """Yield the paths of each commit, whose hash stands before them; what was cut off at the end is left out."""
    paths: list[str] = []
    for part in output.split("\0")[:-1]:
        if _COMMIT.fullmatch(part):
            yield paths
            paths = []
        else:
            paths.append(part)
    yield paths
