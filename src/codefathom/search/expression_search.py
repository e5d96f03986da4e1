"""An expression → all chunks that match: which files can hold a match, and who reads them.

Where many bytes are read, other processes take parts of the files (`expression_workers.py`); the answer is the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.search.expression_files import candidates_of, paths_of
from codefathom.search.expression_trial import Match, Trial, try_on, try_on_chunks
from codefathom.search.sign_table import (
    FILES_OF_PART,
    LEAST_FILES,
    MOST_FILES,
    SignsOfPart,
    signs_of,
)
from codefathom.stores.base import LexicalStore
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.system.stopping import stop_test
from codefathom.text.expressions import SETTING, USUAL_LIMIT_S, Deadline, Expression, check, compiled, deadline, shown
from codefathom.text.sign_groups import required_groups

MIN_BYTES_FOR_WORKERS = 12_000_000  # of files: to read and search so many takes as long as to start a process
_MOST_WORKERS = 7  # beside this process
_FEW_FILES = 5_000  # whose signs are read in a second or two
_FEW_CHUNKS = 1_000  # whose documents are looked up one by one


class Matches(NamedTuple):
    """The chunks whose lines match, in path order."""

    matches: Sequence[Match]
    problem: str  # that cut the search short, or ""
    way: Note  # how many files were read


def matches_of(pattern: str, catalog: SearchCatalog, lexical: LexicalStore, allowed: Collection[int] | None) -> Matches:
    """Return the matches of an expression.

    Raises UsageError for an invalid expression, IndexingError where a process that helps has died.
    """
    check(pattern)
    expression = compiled(f"(?m){pattern}")
    with deadline(USUAL_LIMIT_S) as running:
        every = _paths_of(catalog, allowed)
        paths, of_chunks = _narrowed(expression, every, catalog, lexical, allowed)
        signs, needs = None, required_groups(expression.written)
        if paths and needs and LEAST_FILES <= len(every) <= MOST_FILES:
            signs = signs_of(catalog)
            paths = signs.narrowed(paths, needs)
        makes_signs = signs is not None and not signs.is_made and allowed is None and paths is every
        # A request with a limit that ends early would leave no table, and so would each one after it.
        makes_signs &= len(every) <= _FEW_FILES or stop_test() is None
        trials = list(_Reading(expression, catalog, allowed, running, makes_signs).trials(paths))
        if signs is not None and makes_signs:
            signs.keep(paths, [trial.signs for trial in trials])
    matches = [match for trial in trials for match in trial.matches]
    if of_chunks:
        matches = sorted([*matches, *of_chunks], key=_place)
    n_cut = sum(trial.n_cut for trial in trials)
    n_read = len({*paths, *(match.chunk.path for match in of_chunks)}) if of_chunks else len(paths)
    return Matches(matches, _cut_short(pattern, n_cut) if n_cut else "", _way(n_read, len(every)))


def _narrowed(
    expression: Expression,
    every: Sequence[str],
    catalog: SearchCatalog,
    lexical: LexicalStore,
    allowed: Collection[int] | None,
) -> tuple[Sequence[str], Sequence[Match]]:
    """Return the paths of the files that must be read whole, and the matches in chunks of the others."""
    candidates = candidates_of(expression, lexical, catalog)
    if candidates is None:
        return every, ()
    chunks = candidates.chunks
    if allowed is not None:
        chunks = {key: file for key, file in chunks.items() if key in allowed}
    trial = try_on_chunks(chunks, expression, catalog)
    if lexical.generation != catalog.generation:  # another process has written meanwhile
        return every, ()
    return paths_of(candidates.files | trial.files, every), trial.matches


def _place(match: Match) -> tuple[str, int, int]:
    return match.chunk.path, match.chunk.start_line, match.chunk.column


def make_signs(catalog: SearchCatalog) -> None:
    """Make the table of signs of a large project, where there is none, so that no question has to; see `sign_table`.

    Takes three times as long as to read all files. Raises IndexingError where a process that helps has died.
    """
    paths = catalog.paths()
    if not _FEW_FILES < len(paths) <= MOST_FILES:
        return
    signs = signs_of(catalog)
    if not signs.is_made:
        nothing = compiled(r"\A(?!)")
        with deadline(USUAL_LIMIT_S) as running:
            trials = list(_Reading(nothing, catalog, None, running, with_signs=True).trials(paths))
        signs.keep(paths, [trial.signs for trial in trials])


class _Reading(NamedTuple):
    """How the files are read."""

    expression: Expression
    catalog: SearchCatalog
    allowed: Collection[int] | None
    running: Deadline
    with_signs: bool  # also what groups of signs they have

    def trials(self, paths: Sequence[str]) -> Iterator[Trial]:
        """Yield what is found in all files, in the order of paths."""
        parts = [paths[start : start + FILES_OF_PART] for start in range(0, len(paths), FILES_OF_PART)]
        n_workers = min((os.cpu_count() or 1) - 1, _MOST_WORKERS, len(parts) - 1) if sys.executable else 0
        source = self.catalog.source() if n_workers > 0 else None
        if source is None or source.n_bytes * len(paths) < MIN_BYTES_FOR_WORKERS * source.n_documents:
            yield from map(self._tried, parts)
            return
        from codefathom.search.expression_workers import ExpressionTask, tried_together  # noqa: PLC0415 -- few searches

        task = ExpressionTask(
            source.file, self.expression.written, self.allowed, self.running.limit_s, with_signs=self.with_signs
        )
        yield from tried_together(parts, self._tried, task, n_workers, self.running)

    def _tried(self, part: Sequence[str]) -> Trial:
        signs = SignsOfPart() if self.with_signs else None
        return try_on(part, self.expression, self.catalog, self.allowed, self.running, signs=signs)


def _way(n_read: int, n_files: int) -> Note:
    if n_read == n_files:
        return Note(say.ALL_READ, {"total": n_files})
    return Note(say.SOME_READ, {"count": n_read, "total": n_files})


def _paths_of(catalog: SearchCatalog, allowed: Collection[int] | None) -> list[str]:
    """Return the documents of the chunks that are allowed, where these are few; else all documents."""
    if allowed is None or len(allowed) > _FEW_CHUNKS:
        return catalog.paths()
    return sorted({chunk.path for chunk in catalog.chunks(allowed).values()})


def _cut_short(pattern: str, n_cut: int) -> str:
    files = "1 file was" if n_cut == 1 else f"{n_cut} files were"
    return (
        f"the regular expression {shown(pattern)} takes too long: {files} not searched to the end; "
        f"make it simpler, or raise {SETTING}"
    )
