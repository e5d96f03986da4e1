"""What is read of other files while a question is answered, so that it can be told which changes concern the answer.

While an answer is made, all that it depends on is noted: names whose definitions were looked at, types, files through
which a name was passed on. What is remembered for later questions is remembered with what it has read. The notes of an
answer are kept as numbers: two notes with one number make an answer be dropped that could have stayed, and no more.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, ParamSpec, TypeVar, cast
from zlib import crc32

_MOST_READ = 150_000  # notes of one answer; of more nothing is kept
_Arguments = ParamSpec("_Arguments")
_Value = TypeVar("_Value")

# The first word of a note; the others say of what.
NAME = "name"  # a family of languages, "" for all, and a name: its definitions
TYPE = "type"  # a name: the signatures of types that have it
ABOVE = "above"  # a name: these types, and all above them
OWNERS = "owners"  # some definitions: the types that they belong to, and all above these
THROUGH = "through"  # a file, and a name: what the imports of the file give to it; without a name: some of its imports
EXPORTS = "exports"  # a file: the names under which it passes on its own definitions
ALIASES = "aliases"  # a name: the other names that imports give to it
IMPORTERS = "importers"  # a name: the scripts that import it
DEFAULTS = "defaults"  # the imports of what some script exports by default

Note = tuple[Hashable, ...]


class Reads:
    """Notes what is read, for each of the questions that are open: one may be asked for the sake of another."""

    def __init__(self) -> None:
        self._open: list[set[Note]] = []

    def add(self, *note: Hashable) -> None:
        """Note what is read now."""
        if self._open:
            self._open[-1].add(note)

    @contextmanager
    def noted(self) -> Iterator[set[Note]]:
        """Lend a set in which all is noted that is read meanwhile."""
        notes: set[Note] = set()
        self._open.append(notes)
        try:
            yield notes
        finally:
            self._open.pop()

    def remembered(self, function: Callable[_Arguments, _Value]) -> Callable[_Arguments, _Value]:
        """Return a function that answers the same from memory, and notes each time what the answer has read."""
        answers: dict[tuple[object, ...], tuple[_Value, frozenset[Note]]] = {}

        def call(*arguments: Hashable) -> _Value:
            answer = answers.get(arguments)
            if answer is None:
                with self.noted() as notes:
                    value = cast(Callable[..., _Value], function)(*arguments)
                answer = answers[arguments] = value, frozenset(notes)
            if self._open:
                self._open[-1] |= answer[1]
            return answer[0]

        return cast(Callable[_Arguments, _Value], call)


class ReadSet(NamedTuple):
    """The notes of an answer as numbers, in order."""

    numbers: array[int] = array("I")
    exports: array[int] = array("Q")  # of the files of which these were read, each with what was read
    is_whole: bool = True  # else there were too many

    @classmethod
    def of(cls, notes: Iterable[Note], exports: Iterable[int]) -> ReadSet:
        """Return the numbers of notes, which have only words."""
        numbers = {_number(note) for note in notes}
        if len(numbers) > _MOST_READ:
            return cls(is_whole=False)
        return cls(array("I", sorted(numbers)), array("Q", sorted(set(exports))))

    def has(self, *note: str) -> bool:
        """Return False if something was not read."""
        return _is_in(_number(note), self.numbers)

    def has_exports(self, number: int) -> bool:
        """Return True if a file exported the same when it was read."""
        return _is_in(number, self.exports)

    def and_others(self, other: ReadSet) -> ReadSet:
        """Return all that is in one of two."""
        numbers = {*self.numbers, *other.numbers}
        if not (self.is_whole and other.is_whole) or len(numbers) > _MOST_READ:
            return ReadSet(is_whole=False)
        return ReadSet(array("I", sorted(numbers)), array("Q", sorted({*self.exports, *other.exports})))


def _number(note: Note) -> int:
    return crc32("\0".join(map(str, note)).encode("utf-8", "surrogatepass"))


def _is_in(number: int, numbers: array[int]) -> bool:
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number
