"""What uses of names mean, where it took long to find out: kept for later questions, also of other processes.

That depends on the file of a use, and on what all others show: paths, definitions, imports and manifests. While no file
shows anything else, only the uses in changed files are resolved again. In doubt all that is kept is dropped.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

from codefathom.search.graph.resolve import family
from codefathom.search.graph.workspaces import is_manifest
from codefathom.stores.catalog.readers import SearchCatalog

_DEAR = 300  # uses that are resolved for an answer; fewer are resolved again nearly as fast
_MOST_BYTES = 32_000_000  # of answers, packed
_BYTES_A_USE = 20_000  # are written in about the time in which a use is resolved
_MOST_WRITTEN = 200  # documents that changed since; after more all uses are looked at again
_MOST_BEHIND = 20  # generations, after which the file is written again
_VERSION = 1  # of the packed form, and of what uses mean
_WITH_EXPORTS = frozenset({"javascript", "jsx"})  # here what a file passes on stands in its text alone
_Item = TypeVar("_Item")


class UseQuestion(Protocol[_Item]):
    """A question for some uses, of which each is one item of the answer."""

    key: str  # tells the question from others
    language: str  # the family of the uses

    def parts(self) -> Sequence[Iterable[str]]:
        """Return what else the question depends on, in a fixed order."""
        ...

    def find(self, within: AbstractSet[str] | None) -> list[_Item]:
        """Return the answer; with `within`, its items in these files."""
        ...

    def n_uses(self) -> int:
        """Return the number of uses that the whole answer looks at, after it was found."""
        ...

    def packed(self, items: Sequence[_Item]) -> object:
        """Return items as what JSON can hold."""
        ...

    def unpacked(self, content: Any) -> list[_Item]:
        """Return the items of what `packed` has made. Raises LookupError where they are no longer there."""
        ...

    def places(self, item: _Item) -> tuple[str, str]:
        """Return the path of the use, and that of an import that is not followed, "" for none."""
        ...

    def merged(self, items: list[_Item]) -> list[_Item]:
        """Return items in the order in which `find` has them: those of one file are in order already."""
        return items

    def digest(self) -> str:
        """Return what tells this question from another one with its key."""
        text = json.dumps([self.language, *map(list, self.parts())])
        return blake2b(text.encode(), digest_size=16).hexdigest()


class _Answer(NamedTuple):
    """The answer that a question had in a generation."""

    generation: int
    digest: str
    content: bytes


class KeptUses:
    """The answers of one generation of a catalogue, as far as they were asked for. Threads can share them."""

    def __init__(self, catalog: SearchCatalog) -> None:
        self._catalog = catalog
        self._file = catalog.beside("edges", _VERSION, is_outward=True)
        self._generation = catalog.generation  # before all that is read: a later write is seen as one
        self._answers: dict[str, _Answer] = {}
        self._n_new = 0  # uses that were resolved since the file was written
        self._is_behind = False

    @classmethod
    def of(cls, catalog: SearchCatalog, before: KeptUses | None) -> KeptUses:
        """Return what is known of a catalogue as it is now."""
        kept = cls(catalog)
        if before is not None:
            if kept._file.goes_on(before._file):
                kept._answers, kept._n_new = dict(before._answers), before._n_new
        elif (stored := kept._file.load()) is not None:
            kept._answers = _unpacked(bytes(stored.content))
        return kept

    def answer(self, question: UseQuestion[_Item]) -> list[_Item]:
        """Return the answer to a question: a kept one, else what is found now, and kept if it looks at many uses."""
        answer = self._answers.get(question.key)
        items = self._followed(answer, question) if answer is not None else None
        if items is not None:
            return items
        items = question.find(None)
        if (n_uses := question.n_uses()) >= _DEAR:
            self._keep(question, items)
            self._n_new += n_uses
        return items

    def save(self) -> None:
        """Write what is known to the file, where finding what is new took longer than that."""
        answers = dict(self._answers)  # another thread may add some meanwhile
        n_bytes = sum(len(answer.content) for answer in answers.values())
        if self._n_new < max(_DEAR, n_bytes // _BYTES_A_USE) and not self._is_behind:
            return
        self._n_new, self._is_behind = 0, False
        head = [[key, own.generation, own.digest, len(own.content)] for key, own in answers.items()]
        contents = (own.content for own in answers.values())
        self._file.save([json.dumps(head).encode(), b"\n", *contents], is_dear=True)

    # ---- inside

    def _followed(self, answer: _Answer, question: UseQuestion[_Item]) -> list[_Item] | None:
        """Return an answer as it is now; None where uses in files that were not written may mean something else."""
        is_late = answer.generation != self._generation
        changed = frozenset(self._catalog.paths_since(answer.generation) if is_late else ())
        if answer.digest != question.digest() or not self._can_follow(changed, question.language):
            return None
        try:
            items = question.unpacked(json.loads(zlib.decompress(answer.content)))
        except LookupError:
            return None
        if not changed:
            return items
        if any(question.places(item)[1] in changed for item in items):
            return None
        kept = [item for item in items if question.places(item)[0] not in changed]
        items = question.merged([*kept, *question.find(changed)])
        self._keep(question, items)
        self._is_behind = self._is_behind or self._generation - answer.generation > _MOST_BEHIND
        return items

    def _can_follow(self, changed: AbstractSet[str], language: str) -> bool:
        """Return True if changed documents, which show the same, cannot change what uses in others mean."""
        if len(changed) > _MOST_WRITTEN or any(map(is_manifest, changed)):
            return False
        return language not in _WITH_EXPORTS or not any(map(self._is_script, changed))

    def _is_script(self, path: str) -> bool:
        return family(self._catalog.languages().get(path, "")) in _WITH_EXPORTS

    def _keep(self, question: UseQuestion[_Item], items: Sequence[_Item]) -> None:
        content = zlib.compress(json.dumps(question.packed(items), separators=(",", ":")).encode(), 1)
        answers = dict(self._answers)
        answers.pop(question.key, None)  # the latest one lies last
        answers[question.key] = _Answer(self._generation, question.digest(), content)
        n_bytes = sum(len(answer.content) for answer in answers.values())
        while n_bytes > _MOST_BYTES:
            n_bytes -= len(answers.pop(next(iter(answers))).content)
        self._answers = answers


def _unpacked(content: bytes) -> dict[str, _Answer]:
    head, _, contents = content.partition(b"\n")
    rows = json.loads(head)
    ends = accumulate((size for *_, size in rows), initial=0)
    parts = (contents[start:end] for start, end in pairwise(ends))
    return {key: _Answer(own, digest, part) for (key, own, digest, _), part in zip(rows, parts, strict=True)}
