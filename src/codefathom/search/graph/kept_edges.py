"""The uses of what files define, where it took long to find them: kept for later questions, also of other processes.

What a use means depends on its own file, and on what all others show: paths, definitions, imports and manifests. While
no file shows anything else, only the uses in changed files are resolved again. In doubt all that is kept is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from hashlib import blake2b
from operator import attrgetter
from typing import NamedTuple

from codefathom.search.graph.resolve import family
from codefathom.search.graph.workspaces import is_manifest
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import Related

_DEAR = 1_000  # uses of its names that are looked at for a file; fewer are looked at again as fast
_MOST = 100_000  # edges that are kept, some 10 MB
_MOST_WRITTEN = 200  # documents that changed since; after more all uses are looked at again
_MOST_BEHIND = 20  # generations, after which the file is written again
_MOST_BYTES = 32_000_000  # of the file
_VERSION = 1  # of the packed form, and of what uses mean
_WITH_EXPORTS = frozenset({"javascript", "jsx"})  # here what a file passes on stands in its text alone
_VALUES = attrgetter(*(field.name for field in fields(Related)))
_Find = Callable[[AbstractSet[str] | None], list[Related]]  # finds all edges of a question, or those in some files


class EdgesOfFile(NamedTuple):
    """The question which uses belong to what a file defines."""

    path: str
    language: str  # the family
    names: Collection[str]
    importers: AbstractSet[str]

    @property
    def digest(self) -> str:
        """What tells this question from another one about the same file."""
        text = json.dumps([self.language, sorted(self.names), sorted(self.importers)])
        return blake2b(text.encode(), digest_size=16).hexdigest()


class _Answer(NamedTuple):
    """The edges that a question had in a generation."""

    generation: int
    digest: str
    edges: Sequence[Related]


class KeptEdges:
    """The edges of one generation of a catalogue, as far as they were asked for. Threads can share them."""

    def __init__(self, catalog: SearchCatalog) -> None:
        self._catalog = catalog
        self._file = catalog.beside("edges", _VERSION, is_outward=True)
        self._generation = catalog.generation  # before all that is read: a later write is seen as one
        self._packed: dict[str, bytes] = {}  # of files of which nobody has asked yet
        self._answers: dict[str, _Answer] = {}
        self._is_new = False

    @classmethod
    def of(cls, catalog: SearchCatalog, before: KeptEdges | None) -> KeptEdges:
        """Return what is known of a catalogue as it is now."""
        kept = cls(catalog)
        if before is not None:
            if kept._file.goes_on(before._file):
                kept._packed, kept._answers = dict(before._packed), dict(before._answers)
                kept._is_new = before._is_new
        elif (stored := kept._file.load()) is not None:
            kept._packed = _unpacked(stored.content)
        return kept

    def edges(self, question: EdgesOfFile, find: _Find, n_uses: Callable[[], int]) -> list[Related]:
        """Return the edges of a question: kept ones, else those that a function finds, kept if it looks at many uses.

        `n_uses` tells, after that, how many uses these are.
        """
        answer = self._of(question.path)
        changed = self._changed(answer, question) if answer is not None else None
        if answer is None or changed is None:
            edges = find(None)
            if n_uses() >= _DEAR and len(edges) <= _MOST:
                self._keep(question, edges)
                self._is_new = True
            return edges
        if not changed:
            return list(answer.edges)
        edges = [edge for edge in answer.edges if edge.path not in changed] + find(changed)
        self._keep(question, edges)
        self._is_new = self._is_new or self._generation - answer.generation > _MOST_BEHIND
        return edges

    def save(self) -> None:
        """Write what is known to the file, where something new took long to find."""
        if not self._is_new:
            return
        self._is_new = False
        packed = self._packed | {path: _line(answer) for path, answer in list(self._answers.items())}
        lines: list[bytes] = []
        n_bytes = 0
        for path, line in reversed(packed.items()):  # the latest first
            n_bytes += len(line)
            if n_bytes <= _MOST_BYTES:
                lines.append(json.dumps(path).encode() + b"\t" + line)
        self._file.save([b"\n".join(reversed(lines))], is_dear=True)

    # ---- inside

    def _changed(self, answer: _Answer, question: EdgesOfFile) -> AbstractSet[str] | None:
        """Return the documents that were written since; None where uses in others can mean something else, too."""
        if answer.digest != question.digest:
            return None
        if answer.generation == self._generation:
            return frozenset()
        changed = frozenset(self._catalog.paths_since(answer.generation))
        if len(changed) > _MOST_WRITTEN or any(map(is_manifest, changed)):
            return None
        if question.language in _WITH_EXPORTS and any(map(self._is_script, changed)):
            return None
        lost = {edge.unfollowed_at.rpartition(":")[0] for edge in answer.edges}
        return changed if changed.isdisjoint(lost) else None

    def _is_script(self, path: str) -> bool:
        return family(self._catalog.languages().get(path, "")) in _WITH_EXPORTS

    def _of(self, path: str) -> _Answer | None:
        packed = self._packed.pop(path, None)
        if packed is not None:
            self._answers.setdefault(path, _from_line(packed))
        return self._answers.get(path)

    def _keep(self, question: EdgesOfFile, edges: Sequence[Related]) -> None:
        self._answers.pop(question.path, None)  # the latest one lies last
        self._answers[question.path] = _Answer(self._generation, question.digest, edges)
        n_edges = sum(len(answer.edges) for answer in list(self._answers.values()))
        while n_edges > _MOST:
            n_edges -= len(self._answers.pop(next(iter(self._answers))).edges)


def _line(answer: _Answer) -> bytes:
    rows = [answer.generation, answer.digest, *map(_VALUES, answer.edges)]
    return json.dumps(rows, separators=(",", ":")).encode()


def _from_line(line: bytes) -> _Answer:
    generation, digest, *rows = json.loads(line)
    return _Answer(generation, digest, [Related(*row) for row in rows])


def _unpacked(content: memoryview) -> dict[str, bytes]:
    lines = (line.partition(b"\t") for line in bytes(content).split(b"\n"))
    return {json.loads(path): line for path, _, line in lines}
