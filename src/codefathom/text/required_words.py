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

if TYPE_CHECKING:
    import sre_constants as codes
    import sre_parse as parser
else:
    import re._constants as codes
    import re._parser as parser

_GAP = "\0"  # any text, or none
_EDGE = "\n"  # no letter of ASCII, digit or underscore, or the end of the text
_MOST_TEXTS = 64  # alternatives of one stretch of an expression
_LONGEST = 1_000  # characters of such a text
_LONGEST_REPEATED = 40
_LARGEST_SET = 6  # characters of a set that count as alternatives
_LEAST = 6  # weight of a part that is worth looking for
_SHORTEST_SEED = 3  # characters; with a shorter one very many words are looked at
# Signs for one character of a set, and its pattern in lower case; of two sets the smaller one first.
_SETS = {"\ue000": "[0-9]", "\ue001": r"\d", "\ue002": "[0-9a-f]", "\ue003": "[a-z]", "\ue004": "[0-9a-z]"}
# Of any script, as this Python knows them: `regex` knows 110 digits of later scripts, which stand in no term. No case
# folds a digit.
_ANY_DIGIT = "\ue001"
_FOLDED = str.maketrans(dict.fromkeys(("\ue002", "\ue003", "\ue004"), _GAP))
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

    @cached_property
    def in_term(self) -> re.Pattern[str]:
        """The pattern of the part in a term, as `terms` makes them of words."""
        before = "(?<![a-z0-9])" if self.has_before else "(?<![a-z0-9_])" if self.begins else ""
        behind = "(?![a-z0-9])" if self.has_behind else "(?![a-z0-9_])" if self.ends else ""
        return re.compile(f"{before}{self._letters}{behind}")

    @cached_property
    def in_text(self) -> re.Pattern[str]:
        """The pattern of the part in any text in lower case."""
        return re.compile(self._letters)

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
    needs: list[frozenset[str]] = []
    needs.append(_texts(parsed, needs))
    any_case = bool(parsed.state.flags & re.IGNORECASE) or _folds(parsed)
    alternatives = (tuple(_word_parts(text, any_case=any_case) for text in sorted(need)) for need in needs)
    useful = dict.fromkeys(item for item in alternatives if all(item))
    return tuple(sorted(useful, key=lambda item: -min(parts[0].weight for parts in item)))


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


def _folds(parsed: parser.SubPattern) -> bool:
    """Return True if case does not count in some group of an expression; then it counts nowhere here."""
    return any(_folds_inside(operator, value) for operator, value in parsed.data)


def _folds_inside(operator: Any, value: Any) -> bool:
    return bool(operator is codes.SUBPATTERN and value[1] & re.IGNORECASE) or any(
        map(_folds, parts_of(operator, value))
    )


# ---- the texts of a part of the tree: each match of it has the pieces of one of them, in one stretch between gaps

_Texts: TypeAlias = frozenset[str]
_Needs: TypeAlias = list[_Texts]
_ANYTHING: _Texts = frozenset({_GAP})
_NOTHING: _Texts = frozenset({""})


def _texts(parsed: parser.SubPattern, needs: _Needs) -> _Texts:
    """Return the texts of a sequence. What grows too large is added to `needs`, which is of each match, too."""
    texts = _NOTHING
    for operator, value in parsed.data:
        following = _READ.get(operator, _anything)(value, needs)
        if len(texts) * len(following) > _MOST_TEXTS or _longest(texts) + _longest(following) > _LONGEST:
            needs.append(texts)
            texts = _ANYTHING
        texts = frozenset(before + text for before in texts for text in following)
    return texts


def _longest(texts: _Texts) -> int:
    return max(map(len, texts))


def _anything(_: object, __: _Needs) -> _Texts:
    return _ANYTHING


def _character(code: int, _: _Needs) -> _Texts:
    char = chr(code)
    if not char.isascii():
        return _ANYTHING
    return frozenset({char.lower() if char.isalnum() or char == "_" else _EDGE})


def _place(kind: Any, _: _Needs) -> _Texts:
    return _NOTHING if kind is codes.AT_NON_BOUNDARY else frozenset({_EDGE})


def _set(members: list[tuple[Any, Any]], needs: _Needs) -> _Texts:
    if all(_is_edge(*member) for member in members):
        return frozenset({_EDGE})
    if len(members) > _LARGEST_SET or any(operator is not codes.LITERAL for operator, _ in members):
        return frozenset({_sign_of(members)})
    return frozenset().union(*(_character(value, needs) for _, value in members))


def _sign_of(members: list[tuple[Any, Any]]) -> str:
    """Return the sign of the smallest set with all members, or a gap."""
    if all(member == (codes.CATEGORY, codes.CATEGORY_DIGIT) for member in members):
        return _ANY_DIGIT
    if any(operator not in (codes.LITERAL, codes.RANGE) for operator, _ in members):
        return _GAP
    bounds = [value if operator is codes.RANGE else (value, value) for operator, value in members]
    every = [code for pair in bounds for code in range(*_bounds(pair))]
    chars = "".join(map(chr, every)).lower()
    return next((sign for sign, pattern in _SETS.items() if re.fullmatch(f"{pattern}+", chars, re.ASCII)), _GAP)


def _is_edge(operator: Any, value: Any) -> bool:
    """Return True if a member of a set is no letter of ASCII, digit or underscore in any case."""
    if operator is codes.CATEGORY:
        return value in (codes.CATEGORY_SPACE, codes.CATEGORY_NOT_WORD)
    if operator is codes.LITERAL:
        return value < 0x80 and _character(value, []) == {_EDGE}
    return operator is codes.RANGE and all(_is_edge(codes.LITERAL, code) for code in range(*_bounds(value)))


def _bounds(value: tuple[int, int]) -> tuple[int, int]:
    """Return the first and the end of a range, of a long one only as far as ASCII goes and one more."""
    return value[0], min(value[1], 0x80) + 1


def _branch(value: tuple[Any, list[parser.SubPattern]], _: _Needs) -> _Texts:
    texts = frozenset().union(*(_texts(part, []) for part in value[1]))
    return texts if len(texts) <= _MOST_TEXTS else _ANYTHING


def _group(value: tuple[Any, int, int, parser.SubPattern], needs: _Needs) -> _Texts:
    return _texts(value[3], needs)


def _repeat(value: tuple[int, int, parser.SubPattern], needs: _Needs) -> _Texts:
    low, high, inner = value
    if not low:
        return _NOTHING | _texts(inner, []) if high == 1 else _ANYTHING
    texts = _texts(inner, needs)
    if high == 1 or texts == {_EDGE}:
        return texts
    # The first copies follow what stands before them, the last ones are followed by what stands behind them.
    if len(texts) > 1 or _longest(texts) > _LONGEST_REPEATED:
        return frozenset(text + _GAP for text in texts)
    (text,) = texts
    n_copies = min(low, max(_LONGEST_REPEATED // max(len(text), 1), 1))
    copies = text * n_copies
    return frozenset({copies if n_copies == high else copies + _GAP + copies})


def _assertion(value: tuple[int, parser.SubPattern], needs: _Needs) -> _Texts:
    """Return nothing: what must stand before or behind a place is part of the text, but not of the match."""
    needs.append(_texts(value[1], needs))
    return _NOTHING


_READ: Mapping[Any, Callable[[Any, _Needs], _Texts]] = {
    codes.LITERAL: _character,
    codes.AT: _place,
    codes.IN: _set,
    codes.BRANCH: _branch,
    codes.SUBPATTERN: _group,
    codes.ATOMIC_GROUP: _texts,
    codes.ASSERT: _assertion,
    codes.ASSERT_NOT: lambda *_: _NOTHING,
    codes.MAX_REPEAT: _repeat,
    codes.MIN_REPEAT: _repeat,
    codes.POSSESSIVE_REPEAT: _repeat,
}
