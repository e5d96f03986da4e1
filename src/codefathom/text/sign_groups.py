"""Groups of neighbouring signs: those that a text has, and those that each match of an expression has. Pure.

In a text white space is dropped, each letter of ASCII and each underscore becomes `a`, each digit `0`, all that is not
ASCII `x`; signs stay as they are. A group is two neighbours, at least one of them a sign, or three signs, or a sign
between two others. So `) -> {` has the groups `)-`, `->`, `>{`, `)->` and `->{`, and `\\)\\s*->` requires three.
Text and expression go through the same table, and whatever the table does not tell apart is the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from codefathom.text.expression_syntax import parse
from codefathom.text.required_texts import ANYTHING, GAP, NOTHING, Alphabet, Texts, ignores_case, required_texts

if TYPE_CHECKING:
    import sre_constants as codes
else:
    import re._constants as codes

VERSION = 1  # of the groups of a text
_N_ASCII = 0x80
_FIRST_OF_SEVERAL = 0xC0  # bytes of UTF-8 from here on begin a character, those below go on with one
_N_HALVED = 3  # times that runs of digits become half as long: of two neighbours one is a sign
_LONG = 48  # bytes of a piece that is cut, and not remembered
_MOST_PIECES = 1 << 17  # that are remembered
_GAP = GAP.encode()
_OTHER_SPACE = re.compile(r"[^\S\x00-\x7f]+")

Groups: TypeAlias = frozenset[bytes]
SignNeeds: TypeAlias = tuple[tuple[Groups, ...], ...]  # of each item, all groups of one alternative


def _class_of(code: int) -> str:
    char = chr(code)
    if char.isspace():
        return ""
    if code >= _N_ASCII or not char.isprintable():
        return "x"
    return "0" if char.isdigit() else "a" if char.isalpha() or char == "_" else char


_CLASSES = [_class_of(code) for code in range(_N_ASCII)]
_TABLE = bytes(ord(char or " ") for char in _CLASSES) + b"x" * (256 - _N_ASCII)
_DROPPED = bytes([code for code, char in enumerate(_CLASSES) if not char] + [*range(_N_ASCII, _FIRST_OF_SEVERAL)])
_SIGNS = frozenset(ord(char) for char in _CLASSES if char and char not in "a0x")


def pieces_of(text: str) -> set[bytes]:
    """Return pieces of a text that together have all its groups: what stands between letters.

    There are few different ones, so that the groups of nearly all are remembered.
    """
    if not text.isascii():
        text = _OTHER_SPACE.sub("", text)
    between_words = set(text.encode("utf-8", "surrogatepass").translate(_TABLE, _DROPPED).split(b"aaa"))
    rest = b"a".join(between_words)
    for _ in range(_N_HALVED):
        rest = rest.replace(b"00", b"0")
    return set(rest.split(b"a"))


def groups_of(pieces: Iterable[bytes]) -> set[bytes]:
    """Return the groups of pieces, each of which a letter may stand before and behind."""
    return set().union(*map(groups_of_piece, pieces))


def groups_of_piece(piece: bytes) -> Iterable[bytes]:
    """Return the groups of one piece."""
    return _remembered(piece) if len(piece) < _LONG else set().union(*map(_groups, _cut(b"a%ba" % piece)))


@lru_cache(maxsize=_MOST_PIECES)
def _remembered(piece: bytes) -> Groups:
    return _groups(b"a%ba" % piece)


def _cut(piece: bytes) -> Iterator[bytes]:
    """Yield parts between long numbers and long words of other letters, in which no group is lost."""
    for part in piece.split(b"00"):
        for inner in (b"0%b0" % part).split(b"xx"):
            yield b"x%bx" % inner


def _groups(text: bytes) -> Groups:
    twos = {two for two in map(bytes, set(pairwise(text))) if not _SIGNS.isdisjoint(two)}
    threes = map(bytes, set(zip(text, text[1:], text[2:], strict=False)))
    return frozenset(twos.union(filter(_is_group_of_three, threes)))


def _is_group_of_three(three: bytes) -> bool:
    first, middle, last = three
    return middle in _SIGNS and (first in _SIGNS) == (last in _SIGNS)


def required_groups(written: str) -> SignNeeds:
    """Return the groups that each match of an expression has: of each item all those of one alternative.

    Nothing for an expression that may match without any. Raises ValueError for one that cannot be read.
    """
    parsed = parse(written)
    alphabet = _FOLDED if ignores_case(parsed) else _WRITTEN
    needs = (
        tuple(dict.fromkeys(frozenset().union(*map(_groups, text.encode().split(_GAP))) for text in sorted(texts)))
        for texts in required_texts(parsed, alphabet)
    )
    return tuple(dict.fromkeys(need for need in needs if all(need)))


def _character(code: int) -> Texts:
    return frozenset({_CLASSES[code] if code < _N_ASCII else _class_of(code)})


def _folded_character(code: int) -> Texts:
    """Return a gap for what case may change into a character of another class, or of several."""
    texts = _character(code)
    return ANYTHING if texts in _LETTERS else texts


def _set(members: list[tuple[Any, Any]]) -> Texts:
    return _set_of(members, is_folded=False)


def _folded_set(members: list[tuple[Any, Any]]) -> Texts:
    return _set_of(members, is_folded=True)


def _set_of(members: list[tuple[Any, Any]], *, is_folded: bool) -> Texts:
    if any(operator is codes.NEGATE for operator, _ in members):
        return ANYTHING
    texts = frozenset().union(*(_member(operator, value) for operator, value in members))
    return ANYTHING if GAP in texts or (is_folded and any(frozenset({text}) in _LETTERS for text in texts)) else texts


def _member(operator: Any, value: Any) -> Texts:
    if operator is codes.CATEGORY:
        return _CATEGORIES.get(value, ANYTHING)
    if operator is codes.LITERAL:
        return _character(value)
    if operator is codes.RANGE:
        first, last = value
        texts = frozenset(_CLASSES[first : min(last + 1, _N_ASCII)])
        return texts | {"x", ""} if last >= _N_ASCII else texts
    return ANYTHING


_LETTERS = (frozenset({"a"}), frozenset({"x"}))
_CATEGORIES: Mapping[Any, Texts] = {
    codes.CATEGORY_SPACE: NOTHING,
    codes.CATEGORY_DIGIT: frozenset({"0", "x"}),
    codes.CATEGORY_WORD: frozenset({"a", "0", "x"}),
}
_WRITTEN = Alphabet(_character, _set, lambda _: NOTHING)
_FOLDED = Alphabet(_folded_character, _folded_set, lambda _: NOTHING)
