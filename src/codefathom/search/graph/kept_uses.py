"""What uses of names mean, where it took long to find out: kept for later questions, also of other processes.

That depends on the file of a use, and on what others show: paths, definitions, imports and manifests. What an answer
has read of these is kept with it. While none of that is shown otherwise, only the uses in changed files are resolved
again, and those in files whose imports may lead elsewhere. In doubt an answer is dropped.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from codefathom.search.graph.read_sets import ReadSet
from codefathom.search.graph.workspaces import is_manifest
from codefathom.stores.catalog.readers import SearchCatalog

if TYPE_CHECKING:
    from codefathom.stores.catalog.outward import OutwardChange

_DEAR = 300  # uses that are resolved for an answer; fewer are resolved again nearly as fast
_MOST_BYTES = 32_000_000  # of answers, packed
_BYTES_A_USE = 20_000  # are written in about the time in which a use is resolved
_MOST_WRITTEN = 200  # documents that changed since; after more all uses are looked at again
_MOST_BEHIND = 20  # generations, after which the file is written again
_VERSION = 2  # of the packed form, and of what uses mean
_Item = TypeVar("_Item")
_Items = TypeVar("_Items")


class TracedItems(NamedTuple, Generic[_Items]):
    """Items, and what was read of others to find them."""

    items: list[_Items]
    read_set: ReadSet


class UseQuestion(Protocol[_Item]):
    """A question for some uses, of which each is one item of the answer."""

    key: str  # tells the question from others
    language: str  # the family of the uses

    def parts(self) -> Sequence[Iterable[str]]:
        """Return what else the question depends on, in a fixed order."""
        ...

    def find(self, within: AbstractSet[str] | None) -> TracedItems[_Item]:
        """Return the answer; with `within`, its items in these files."""
        ...

    def concerned(self, shown: OutwardChange, written: AbstractSet[str], read_set: ReadSet) -> AbstractSet[str] | None:
        """Return the files of which imports may mean something else now; None where the answer has read what changed.

        `written` are the documents that were written since.
        """
        ...

    def n_uses(self) -> int:
        """Return the number of uses that the whole answer looks at, after it was found."""
        ...

    def packed(self, items: Sequence[_Item]) -> object:
        """Return items as what JSON can hold."""
        ...

    def unpacked(self, content: Any, left: AbstractSet[str]) -> list[_Item]:
        """Return the items of what `packed` has made, those in some files may be left out.

        Raises LookupError where they are no longer there, or can be others.
        """
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
    read_set: ReadSet

    @property
    def n_bytes(self) -> int:
        """The room that it takes."""
        return len(self.content) + sum(len(part) * part.itemsize for part in self.read_set[:2])


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
        items, read_set = question.find(None)
        if (n_uses := question.n_uses()) >= _DEAR:
            self._keep(question, items, read_set)
            self._n_new += n_uses
        return items

    def save(self) -> None:
        """Write what is known to the file, where finding what is new took longer than that."""
        answers = dict(self._answers)  # another thread may add some meanwhile
        n_bytes = sum(answer.n_bytes for answer in answers.values())
        if self._n_new < max(_DEAR, n_bytes // _BYTES_A_USE) and not self._is_behind:
            return
        self._n_new, self._is_behind = 0, False
        rows, parts = [], list[bytes]()
        for key, own in answers.items():
            numbers, exports, is_whole = own.read_set
            own_parts = [own.content, numbers.tobytes(), exports.tobytes()]
            rows.append([key, own.generation, own.digest, is_whole, *map(len, own_parts)])
            parts += own_parts
        self._file.save([json.dumps(rows).encode(), b"\n", *parts], is_dear=True)

    # ---- inside

    def _followed(self, answer: _Answer, question: UseQuestion[_Item]) -> list[_Item] | None:
        """Return an answer as it is now; None where uses in files that were not written may mean something else."""
        if answer.digest != question.digest():
            return None
        left = self._left(answer, question) if answer.generation != self._generation else _Left()
        try:
            content = json.loads(zlib.decompress(answer.content))
            items = question.unpacked(content, left.again | left.gone) if left is not None else None
        except LookupError:
            return None
        if left is None or items is None or left == _Left():
            return items
        out = left.again | left.gone
        kept = [item for item in items if question.places(item)[0] not in out]
        if any(question.places(item)[1] in out for item in kept):
            return None
        now, read_set = question.find(left.again) if left.again else TracedItems[_Item]([], ReadSet())
        items = question.merged([*kept, *now])
        self._keep(question, items, answer.read_set.and_others(read_set))
        self._is_behind = self._is_behind or self._generation - answer.generation > _MOST_BEHIND
        return items

    def _left(self, answer: _Answer, question: UseQuestion[_Item]) -> _Left | None:
        """Return the files in which a late answer is not followed, but found anew; None where it is not followed."""
        shown = self._catalog.shown_since(answer.generation)
        written = frozenset(self._catalog.paths_since(answer.generation))
        if shown is None or len(written) > _MOST_WRITTEN or any(map(is_manifest, {*written, *shown.gone})):
            return None
        concerned = question.concerned(shown, written, answer.read_set)
        return None if concerned is None else _Left(written | concerned, frozenset(shown.gone))

    def _keep(self, question: UseQuestion[_Item], items: Sequence[_Item], read_set: ReadSet) -> None:
        content = zlib.compress(json.dumps(question.packed(items), separators=(",", ":")).encode(), 1)
        answers = dict(self._answers)
        answers.pop(question.key, None)  # the latest one lies last
        answers[question.key] = _Answer(self._generation, question.digest(), content, read_set)
        n_bytes = sum(answer.n_bytes for answer in answers.values())
        while n_bytes > _MOST_BYTES:
            n_bytes -= answers.pop(next(iter(answers))).n_bytes
        self._answers = answers


class _Left(NamedTuple):
    """Files in which the items of an answer are not those of before."""

    again: AbstractSet[str] = frozenset()
    gone: AbstractSet[str] = frozenset()


def _unpacked(content: bytes) -> dict[str, _Answer]:
    head, _, contents = content.partition(b"\n")
    answers, start = {}, 0
    for key, own, digest, is_whole, *sizes in json.loads(head):
        ends = list(accumulate(sizes, initial=start))
        answer, numbers, exports = (contents[begin:end] for begin, end in pairwise(ends))
        answers[key] = _Answer(own, digest, answer, ReadSet(array("I", numbers), array("Q", exports), is_whole))
        start = ends[-1]
    return answers
