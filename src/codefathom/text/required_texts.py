"""The tree of a regular expression → the texts that each match has, written in the alphabet of whoever asks. Pure.

What may be left out, repeated or anything at all becomes a gap; of alternatives all texts are kept, while they are few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from codefathom.text.expression_syntax import parts_of

if TYPE_CHECKING:
    import sre_constants as codes
    import sre_parse as parser
else:
    import re._constants as codes
    import re._parser as parser

Texts: TypeAlias = frozenset[str]  # each match of a part has the pieces of one of them, in one stretch between gaps
GAP = "\0"  # any text, or none
ANYTHING: Texts = frozenset({GAP})
NOTHING: Texts = frozenset({""})
_MOST_TEXTS = 64  # alternatives of one stretch of an expression
_FEW_TEXTS = 16  # alternatives of a part that is repeated
_LONGEST = 1_000  # characters of such a text
_LONGEST_REPEATED = 40


class Alphabet(NamedTuple):
    """What one character, one set of characters and one place between characters become."""

    character: Callable[[int], Texts]
    set: Callable[[list[tuple[Any, Any]]], Texts]
    place: Callable[[Any], Texts]
    once: Texts = NOTHING  # is the same when it is repeated


class _Walk(NamedTuple):
    alphabet: Alphabet
    needs: list[Texts]  # of each match, too

    def aside(self) -> _Walk:
        """Return a walk through what some matches do without."""
        return _Walk(self.alphabet, [])


def required_texts(parsed: parser.SubPattern, alphabet: Alphabet) -> list[Texts]:
    """Return sets of texts; each match has one text of each set."""
    walk = _Walk(alphabet, [])
    walk.needs.append(_texts(parsed, walk))
    return walk.needs


def ignores_case(parsed: parser.SubPattern) -> bool:
    """Return True if case does not count in an expression or some group of it."""
    return bool(parsed.state.flags & re.IGNORECASE) or _folds(parsed)


def _folds(parsed: parser.SubPattern) -> bool:
    return any(_folds_inside(operator, value) for operator, value in parsed.data)


def _folds_inside(operator: Any, value: Any) -> bool:
    return bool(operator is codes.SUBPATTERN and value[1] & re.IGNORECASE) or any(
        map(_folds, parts_of(operator, value))
    )


def _texts(parsed: parser.SubPattern, walk: _Walk) -> Texts:
    """Return the texts of a sequence. What grows too large is added to the needs."""
    texts = NOTHING
    for operator, value in parsed.data:
        following = _READ.get(operator, _anything)(value, walk)
        if len(texts) * len(following) > _MOST_TEXTS or _longest(texts) + _longest(following) > _LONGEST:
            walk.needs.append(texts)
            texts = ANYTHING
        texts = frozenset(before + text for before in texts for text in following)
    return texts


def _longest(texts: Texts) -> int:
    return max(map(len, texts))


def _anything(_: Any, __: _Walk) -> Texts:
    return ANYTHING


def _branch(value: tuple[Any, list[parser.SubPattern]], walk: _Walk) -> Texts:
    texts = frozenset().union(*(_texts(part, walk.aside()) for part in value[1]))
    return texts if len(texts) <= _MOST_TEXTS else ANYTHING


def _repeat(value: tuple[int, int, parser.SubPattern], walk: _Walk) -> Texts:
    low, high, inner = value
    texts = _texts(inner, walk if low else walk.aside())
    if texts == NOTHING:
        return NOTHING
    if not low:
        return NOTHING | texts if high == 1 else ANYTHING
    if high == 1 or texts == walk.alphabet.once:
        return texts
    # The first copies follow what stands before them, the last ones are followed by what stands behind them.
    firsts, n_copies = _copies(texts, low)
    if n_copies == high:
        return firsts
    lasts = firsts if len(firsts) == 1 else texts
    if _longest(texts) > _LONGEST_REPEATED or len(firsts) * len(lasts) > _FEW_TEXTS:
        lasts = NOTHING
    return frozenset(first + GAP + last for first in firsts for last in lasts)


def _copies(texts: Texts, low: int) -> tuple[Texts, int]:
    """Return the texts of some of so many copies, and their number."""
    most = max(_LONGEST_REPEATED // max(_longest(texts), 1), 1)
    if len(texts) > 1:
        most = next(n for n in range(1, most + 2) if n > most or len(texts) ** n > _FEW_TEXTS) - 1
    n_copies = max(min(low, most), 1)
    return frozenset(map("".join, product(texts, repeat=n_copies))), n_copies


def _assertion(value: tuple[int, parser.SubPattern], walk: _Walk) -> Texts:
    """Return nothing: what must stand before or behind a place is part of the text, but not of the match."""
    walk.needs.append(_texts(value[1], walk))
    return NOTHING


_READ: Mapping[Any, Callable[[Any, _Walk], Texts]] = {
    codes.LITERAL: lambda code, walk: walk.alphabet.character(code),
    codes.AT: lambda kind, walk: walk.alphabet.place(kind),
    codes.IN: lambda members, walk: walk.alphabet.set(members),
    codes.BRANCH: _branch,
    codes.SUBPATTERN: lambda value, walk: _texts(value[3], walk),
    codes.ATOMIC_GROUP: _texts,
    codes.ASSERT: _assertion,
    codes.ASSERT_NOT: lambda *_: NOTHING,
    codes.MAX_REPEAT: _repeat,
    codes.MIN_REPEAT: _repeat,
    codes.POSSESSIVE_REPEAT: _repeat,
}
