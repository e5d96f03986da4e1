"""What imports say, each once and sorted, in texts one behind the other: those with a word are found without a look at
each. Pure.

An import becomes a value when somebody asks for it: of tens of thousands a question wants some dozen. So the texts and
the places in them can be taken as they lie in a file.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import NamedTuple, Self, overload

from codefathom.text.file_stems import flattened

_BETWEEN = "\0"  # no name has it


class ImportForm(NamedTuple):
    """An import as it is written, and the language of its document."""

    name: str
    qualifier: str
    language: str


class FormTexts(NamedTuple):
    """Sorted imports as they lie one behind the other; places count characters."""

    languages: Sequence[str]
    written: str  # name and qualifier of each
    starts: array[int]  # of each name, and behind the last text
    middles: array[int]  # of each qualifier
    kinds: array[int]  # of each, the number of its language
    flat: str  # the names without case and the signs that join words
    flat_starts: array[int]

    @classmethod
    def of(cls, forms: AbstractSet[ImportForm]) -> Self:
        """Return the texts of some imports."""
        ordered = sorted(forms)
        languages = sorted({form.language for form in ordered})
        number = {language: place for place, language in enumerate(languages)}
        texts = [f"{form.name}{_BETWEEN}{form.qualifier}" for form in ordered]
        flat = [flattened(form.name) for form in ordered]
        starts = _starts(texts)
        middles = (start + len(form.name) + 1 for start, form in zip(starts, ordered, strict=False))
        kinds = array("I", (number[form.language] for form in ordered))
        return cls(
            languages, _BETWEEN.join(texts), starts, array("I", middles), kinds, _BETWEEN.join(flat), _starts(flat)
        )


class ImportForms(Sequence[ImportForm], Collection[ImportForm]):
    """What imports say, each once, in order."""

    def __init__(self, texts: FormTexts) -> None:
        self.texts = texts

    @classmethod
    def of(cls, forms: Iterable[ImportForm]) -> ImportForms:
        """Return what some imports say."""
        return cls(FormTexts.of(set(forms)))

    def __len__(self) -> int:
        return len(self.texts.kinds)

    @overload
    def __getitem__(self, number: int) -> ImportForm: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[ImportForm]: ...
    def __getitem__(self, number: int | slice) -> ImportForm | Sequence[ImportForm]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        languages, written, starts, middles, kinds, *_ = self.texts
        middle = middles[number]
        name, qualifier = written[starts[number] : middle - 1], written[middle : starts[number + 1] - 1]
        return ImportForm(name, qualifier, languages[kinds[number]])

    def __iter__(self) -> Iterator[ImportForm]:
        return map(self.__getitem__, range(len(self)))

    def __contains__(self, form: object) -> bool:
        return isinstance(form, ImportForm) and self.number_of(form) is not None

    def number_of(self, form: ImportForm) -> int | None:
        """Return the place of an import among all."""
        place = bisect_left(self, form)
        return place if place < len(self) and self[place] == form else None

    def with_word(self, word: str) -> Iterable[int]:
        """Return the numbers of those whose name or qualifier contains a text as it is written."""
        return _numbers(word, self.texts.written, self.texts.starts)

    def with_flat_word(self, word: str) -> Iterable[int]:
        """Return the numbers of those whose name contains a flat text, once it is as flat."""
        return _numbers(word, self.texts.flat, self.texts.flat_starts)

    def beginning(self, start: str) -> Iterator[int]:
        """Yield the numbers of those whose name begins so."""
        _, written, starts, middles, *_ = self.texts
        numbers = range(len(self))
        for number in numbers[bisect_left(numbers, start, key=lambda one: written[starts[one] : middles[one] - 1]) :]:
            if not written.startswith(start, starts[number], middles[number] - 1):
                break
            yield number


def _starts(texts: Sequence[str]) -> array[int]:
    return array("I", accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0))


def _numbers(word: str, text: str, starts: array[int]) -> Iterator[int]:
    """Yield the number of each text that contains a word, of texts one behind the other."""
    if not word:
        yield from range(len(starts) - 1)
        return
    place = text.find(word)
    while place >= 0:
        number = bisect_right(starts, place) - 1
        yield number
        place = text.find(word, starts[number + 1])
