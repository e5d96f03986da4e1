"""A regular expression → the parts of words that each of its matches has, so that other texts need not be read. Pure.

The parts are read from the tree of the expression. What may be left out, repeated or anything at all becomes a gap; of
alternatives and small sets all texts are kept, while they are few. A larger set of letters and digits, such as `[A-Z]`,
stays in the text as a sign for some letter or digit. A letter that is not ASCII is a gap too: case folds it in ways
that depend on its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from codefathom.text.expression_syntax import parse, parts_of
from codefathom.text.required_texts import ANYTHING, GAP, NOTHING, Alphabet, Texts, ignores_case, required_texts

if TYPE_CHECKING:
    import sre_constants as codes
    import sre_parse as parser
else:
    import re._constants as codes
    import re._parser as parser

_EDGE = "\n"  # no letter of ASCII, digit or underscore, or the end of the text
_LARGEST_SET = 6  # characters of a set that count as alternatives
_LEAST = 6  # weight of a part that is worth looking for
_SHORTEST_SEED = 3  # characters; with a shorter one very many words are looked at
# Signs for one character of a set, and its pattern in lower case; of two sets the smaller one first.
_SETS = {"\ue000": "[0-9]", "\ue001": r"\d", "\ue002": "[0-9a-f]", "\ue003": "[a-z]", "\ue004": "[0-9a-z]"}
# Of any script, as this Python knows them: `regex` knows 110 digits of later scripts, which stand in no term. No case
# folds a digit.
_ANY_DIGIT = "\ue001"
_FOLDED = str.maketrans(dict.fromkeys(("\ue002", "\ue003", "\ue004"), GAP))
_SIGNS = "".join(_SETS)
_RUN = re.compile(f"[a-z0-9_{_SIGNS}]+")
_PIECE = re.compile(f"[^{_SIGNS}]+")
# What Unicode folds to a letter of ASCII, as str.lower() writes it; `k` has the sign of Kelvin, which becomes a k.
_ANY_CASE = {"i": "(?:i\u0307?|\u0131)", "s": "[s\u017f]"}


@dataclass(frozen=True)
class WordPart:
    """A part of a word in lower case, without the underscores at its ends."""

    text: str  # with signs of sets of characters
    begins: bool = False  # no letter of ASCII, digit or underscore stands before it
    ends: bool = False  # nor behind it
    has_before: bool = False  # underscores stand before it, which a term has only inside
    has_behind: bool = False
    any_case: bool = False  # also in letters that only case makes equal to these

    @property
    def weight(self) -> int:
        """Twice the number of characters and known ends; a set counts half: the more, the fewer words have the part."""
        n_sets = sum(map(self.text.count, _SIGNS))
        return 2 * (len(self.text) + self.begins + self.ends) - n_sets

    @cached_property
    def seed(self) -> str:
        """A piece of the text that stands in each word with this part as it is written here; maybe empty."""
        pieces = re.split("[is]", self.text) if self.any_case else [self.text]
        if not any(sign in self.text for sign in _SIGNS):
            return max(pieces, key=len)
        longest = max((own for piece in pieces for own in _PIECE.findall(piece)), key=len, default="")
        return longest if len(longest) >= _SHORTEST_SEED else ""

    @property
    def is_plain(self) -> bool:
        """True if the part stands in a text in lower case as it is written here."""
        return not self.any_case and not any(sign in self.text for sign in _SIGNS)

    @cached_property
    def in_term(self) -> re.Pattern[str]:
        """The pattern of the part in a term, as `terms` makes them of words."""
        before = f"(?<!{self._no_end_before})" if self._no_end_before else ""
        return re.compile(f"{before}{self._letters}{self._end_behind}")

    @cached_property
    def in_lines(self) -> re.Pattern[str]:
        """The same for a plain part, with the text first: among many terms it is found up to three times as fast."""
        before = f"(?<!{self._no_end_before}{self.text})" if self._no_end_before else ""
        return re.compile(f"{self.text}{before}{self._end_behind}")

    @cached_property
    def in_text(self) -> re.Pattern[str]:
        """The pattern of the part in any text in lower case."""
        return re.compile(self._letters)

    @property
    def _no_end_before(self) -> str:
        return "[a-z0-9]" if self.has_before else "[a-z0-9_]" if self.begins else ""

    @property
    def _end_behind(self) -> str:
        return "(?![a-z0-9])" if self.has_behind else "(?![a-z0-9_])" if self.ends else ""

    @property
    def _letters(self) -> str:
        patterns = {**_SETS, **_ANY_CASE} if self.any_case else _SETS
        return "".join(patterns.get(char, char) for char in self.text)


Alternatives: TypeAlias = tuple[tuple[WordPart, ...], ...]  # each match has all the parts of one of them


def required_words(written: str) -> tuple[Alternatives, ...]:
    """Return what each match of an expression has: of each item one alternative, the most telling items first.

    Nothing for an expression that may match without any word. Raises ValueError for one that cannot be read.
    """
    parsed = parse(written)
    needs = required_texts(parsed, _ALPHABET)
    any_case = ignores_case(parsed)
    alternatives = (tuple(_word_parts(text, any_case=any_case) for text in sorted(need)) for need in needs)
    useful = dict.fromkeys(item for item in alternatives if all(item))
    return tuple(sorted(useful, key=lambda item: -min(parts[0].weight for parts in item)))


def is_of_any_lines(written: str) -> bool:
    """Return True if the ends of a text are to an expression as the ends of any line.

    Raises ValueError for an expression that cannot be read.
    """
    parsed = parse(written)
    return bool(parsed.state.flags & re.MULTILINE) and _names_no_end_of_text(parsed)


def _names_no_end_of_text(parsed: parser.SubPattern) -> bool:
    return all(
        not _names_end_of_text(operator, value) and all(map(_names_no_end_of_text, parts_of(operator, value)))
        for operator, value in parsed.data
    )


def _names_end_of_text(operator: Any, value: Any) -> bool:
    if operator is codes.AT:
        return value in (codes.AT_BEGINNING_STRING, codes.AT_END_STRING)
    return operator is codes.SUBPATTERN and bool(value[2] & re.MULTILINE)


def is_of_one_line(written: str) -> bool:
    """Return True if each match lies in one line, and other lines do not decide about it.

    Raises ValueError for an expression that cannot be read.
    """
    parsed = parse(written)
    return not parsed.state.flags & re.DOTALL and _is_of_one_line(parsed)


def _is_of_one_line(parsed: parser.SubPattern) -> bool:
    return all(
        _OF_ONE_LINE.get(operator, lambda _: True)(value) and all(map(_is_of_one_line, parts_of(operator, value)))
        for operator, value in parsed.data
    )


def _has_no_end_of_line(members: list[tuple[Any, Any]]) -> bool:
    """Return True if a set does not match the end of a line."""
    names_end = any(_names_end_of_line(*member) for member in members)
    if any(operator is codes.NEGATE for operator, _ in members):
        return names_end
    return not names_end


def _names_end_of_line(operator: Any, value: Any) -> bool:
    if operator is codes.CATEGORY:
        return value in (codes.CATEGORY_SPACE, codes.CATEGORY_NOT_WORD, codes.CATEGORY_NOT_DIGIT)
    if operator is codes.RANGE:
        return bool(value[0] <= _END_OF_LINE <= value[1])
    return bool(operator is codes.LITERAL and value == _END_OF_LINE)


_END_OF_LINE = ord("\n")
_OF_ONE_LINE: Mapping[Any, Callable[[Any], bool]] = {
    codes.LITERAL: lambda code: code != _END_OF_LINE,
    codes.NOT_LITERAL: lambda code: code == _END_OF_LINE,
    codes.IN: _has_no_end_of_line,
    codes.SUBPATTERN: lambda value: not value[1] & re.DOTALL,
    codes.ASSERT: lambda _: False,
    codes.ASSERT_NOT: lambda _: False,
}


def _word_parts(text: str, *, any_case: bool) -> tuple[WordPart, ...]:
    """Return the parts of words that are worth looking for, the most telling first."""
    parts = []
    text = text.translate(_FOLDED) if any_case else text
    for run in _RUN.finditer(text):
        begins, ends = text[: run.start()].endswith(_EDGE), text[run.end() :].startswith(_EDGE)
        word = run[0]
        has_before, has_behind = word.startswith("_"), word.endswith("_")
        part = WordPart(word.strip("_"), begins, ends, has_before, has_behind, any_case)
        if part.text and part.weight >= _LEAST:
            parts.append(part)
    return tuple(sorted(dict.fromkeys(parts), key=lambda part: -part.weight))


# ---- what one character, set or place becomes


def _character(code: int) -> Texts:
    char = chr(code)
    if not char.isascii():
        return ANYTHING
    return frozenset({char.lower() if char.isalnum() or char == "_" else _EDGE})


def _place(kind: Any) -> Texts:
    return NOTHING if kind is codes.AT_NON_BOUNDARY else frozenset({_EDGE})


def _set(members: list[tuple[Any, Any]]) -> Texts:
    if all(_is_edge(*member) for member in members):
        return frozenset({_EDGE})
    if len(members) > _LARGEST_SET or any(operator is not codes.LITERAL for operator, _ in members):
        return frozenset({_sign_of(members)})
    return frozenset().union(*(_character(value) for _, value in members))


def _sign_of(members: list[tuple[Any, Any]]) -> str:
    """Return the sign of the smallest set with all members, or a gap."""
    if all(member == (codes.CATEGORY, codes.CATEGORY_DIGIT) for member in members):
        return _ANY_DIGIT
    if any(operator not in (codes.LITERAL, codes.RANGE) for operator, _ in members):
        return GAP
    bounds = [value if operator is codes.RANGE else (value, value) for operator, value in members]
    every = [code for pair in bounds for code in range(*_bounds(pair))]
    chars = "".join(map(chr, every)).lower()
    return next((sign for sign, pattern in _SETS.items() if re.fullmatch(f"{pattern}+", chars, re.ASCII)), GAP)


def _is_edge(operator: Any, value: Any) -> bool:
    """Return True if a member of a set is no letter of ASCII, digit or underscore in any case."""
    if operator is codes.CATEGORY:
        return value in (codes.CATEGORY_SPACE, codes.CATEGORY_NOT_WORD)
    if operator is codes.LITERAL:
        return value < 0x80 and _character(value) == {_EDGE}
    return operator is codes.RANGE and all(_is_edge(codes.LITERAL, code) for code in range(*_bounds(value)))


def _bounds(value: tuple[int, int]) -> tuple[int, int]:
    """Return the first and the end of a range, of a long one only as far as ASCII goes and one more."""
    return value[0], min(value[1], 0x80) + 1


_ALPHABET = Alphabet(_character, _set, _place, once=frozenset({_EDGE}))
