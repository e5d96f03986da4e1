"""When the files of a commit were changed last, by the commits before it: names in their trees are compared.

No content is read, so that neither a filter nor a textconv of the repository's settings is used. The commits, the time
and what git writes are bounded: trees can be made so that their comparison takes for ever.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from threading import Timer
from typing import IO

from codefathom.source.revisions.git_program import answer, end_git, start_git, zero_ended
from codefathom.source.revisions.git_tree import GitTree

_MOST_COMMITS = 3_000
_MOST_BYTES = 50_000_000
_MOST_S = 10.0
# An empty part stands before the time of each commit: no name is empty.
_LIST = (
    *("log", "-z", "--format=%x00%ct", "--name-only", "--no-renames", "--no-merges", "--no-color", "--no-mailmap"),
    *("--no-notes", "--no-show-signature", "--no-decorate", "--no-ext-diff", "--no-textconv"),
    *("--ignore-submodules=all", f"-O{os.devnull}", f"--max-count={_MOST_COMMITS}"),
)
_TIME = re.compile(rb"\d{1,12}")


def commit_times(tree: GitTree, paths: Collection[str]) -> Mapping[str, int]:
    """Return for files of a tree the time of the last commit that changed each, in seconds since 1970.

    A file that no listed commit changed has the time of the oldest one listed: it was changed then, or before. That is
    also so in a shallow clone, whose oldest commit seems to add all files. Empty where no commit can be listed. Raises
    SourceError.
    """
    return _commit_times(tree, frozenset(paths))


@lru_cache(maxsize=4)
def _commit_times(tree: GitTree, paths: frozenset[str]) -> Mapping[str, int]:
    times: dict[str, int] = {}
    oldest: int | None = None
    below = (f"--relative={tree.prefix}",) if tree.prefix else ()
    only = ("--", f":(top,literal){tree.prefix}") if tree.prefix else ()
    words = (*_LIST, *below, "--end-of-options", tree.commit, *only)
    with start_git(tree.folder, *words) as process, answer(process, tree.folder):
        assert process.stdout is not None  # a pipe
        clock = Timer(_MOST_S, process.kill)
        clock.daemon = True
        clock.start()
        try:
            for time, name in _changes(process.stdout):
                oldest = time if oldest is None else min(oldest, time)
                path = name.decode("utf-8", "surrogateescape")
                if path in paths and path not in times:
                    times[path] = time
                    if len(times) == len(paths):
                        break
        finally:
            clock.cancel()
            end_git(process)
    if oldest is None:
        return times
    return {path: times.get(path, oldest) for path in paths}


def _changes(output: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the time of each commit with each name that it changed; what was cut off at the end is left out."""
    time, is_time = 0, False
    for part in zero_ended(output, _MOST_BYTES):
        if not part:
            is_time = True
        elif is_time:
            time, is_time = (int(part) if _TIME.fullmatch(part) else 0), False
        else:
            yield time, part.removeprefix(b"\n")
