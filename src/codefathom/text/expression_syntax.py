"""A regular expression in Python's syntax → the same for the library `regex`, and how much room it takes. Pure.

Python's own parser reads it, so that an expression means what it means in Python: `regex` would read `{e}`,
`[[:alpha:]]` and `(?R)` in its own way.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

# The same module: typeshed knows it by its old name, which Python warns of.
if TYPE_CHECKING:
    import sre_constants as codes
    import sre_parse as parser
else:
    import re._constants as codes
    import re._parser as parser

MAX_CHARACTERS = 10_000
MAX_DEPTH = 100  # a repeated group counts twice
# `regex` writes out what is repeated a fixed number of times: `(?:a{1000}){1000}` took 260 MB, and 0.4 kB each copy.
MAX_COPIES = 100_000


def translate(written: str) -> str:
    """Return an expression for `regex` with the meaning of this one in Python. Raises ValueError with the reason."""
    parsed = parse(written)
    flags = _letters(parsed.state.flags & ~re.UNICODE)
    return (f"(?{flags})" if flags else "") + _text(parsed)


def parse(written: str) -> parser.SubPattern:
    """Return the parts of an expression. Raises ValueError for one that cannot be read, or takes too much room."""
    if len(written) > MAX_CHARACTERS:
        raise ValueError(f"it has {len(written):,} characters, at most {MAX_CHARACTERS:,} are allowed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what `[[` may mean one day
            parsed = parser.parse(written)
        n_copies = _n_copies(parsed, 0)
    except re.error as error:
        raise ValueError(str(error)) from error
    except (OverflowError, RecursionError) as error:
        message = "a repeat count is too large" if isinstance(error, OverflowError) else _TOO_DEEP
        raise ValueError(message) from error
    if n_copies > MAX_COPIES:
        raise ValueError(f"its repeats write out {n_copies:.2g} parts, at most {MAX_COPIES:,} are allowed")
    return parsed


_TOO_DEEP = "it nests too many groups"


def _n_copies(parsed: parser.SubPattern, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    return sum(_n_copies_of(operator, value, depth) for operator, value in parsed.data)


def _n_copies_of(operator: Any, value: Any, depth: int) -> int:
    inner = sum(_n_copies(part, depth + 1) for part in parts_of(operator, value))
    if operator in _REPEATS and value[0]:
        return (int(value[0]) + 1) * (inner + 1)
    return 1 + inner


def parts_of(operator: Any, value: Any) -> list[parser.SubPattern]:
    """Return the expressions inside a part of one."""
    if operator is codes.BRANCH:
        return list(value[1])
    values = value if isinstance(value, tuple) else (value,)
    return [part for part in values if isinstance(part, parser.SubPattern)]


# ---- written out


def _text(parsed: parser.SubPattern) -> str:
    return "".join(_PIECES[operator](value) for operator, value in parsed.data)


def _repeat(sign: str) -> Callable[[Any], str]:
    def piece(value: tuple[int, int, parser.SubPattern]) -> str:
        low, high, inner = value
        return f"(?:{_text(inner)}){_count(low, high)}{sign}"

    return piece


def _count(low: int, high: int) -> str:
    short_forms = {(0, 1): "?", (0, codes.MAXREPEAT): "*", (1, codes.MAXREPEAT): "+"}
    most = "" if high == codes.MAXREPEAT else str(int(high))
    return short_forms.get((low, high)) or (f"{{{low}}}" if low == high else f"{{{low},{most}}}")


def _group(value: tuple[int | None, int, int, parser.SubPattern]) -> str:
    number, added, removed, inner = value
    if added & re.ASCII:  # `regex` forgets it inside [^…]
        raise ValueError("a flag for ASCII is for the whole expression here: write (?a) at its start")
    if number is not None:
        return f"({_text(inner)})"
    flags = _letters(added) + (f"-{_letters(removed)}" if _letters(removed) else "")
    return f"(?{flags}:{_text(inner)})"


def _letters(flags: int) -> str:
    flag_letters = ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.ASCII, "a"), (re.UNICODE, "u"))
    return "".join(letter for flag, letter in flag_letters if flags & flag)


def _assertion(signs: Mapping[int, str]) -> Callable[[Any], str]:
    return lambda value: f"(?{signs[value[0]]}{_text(value[1])})"


def _choice(value: tuple[int, parser.SubPattern, parser.SubPattern | None]) -> str:
    group, yes, no = value
    return f"(?({group}){_text(yes)}{'|' + _text(no) if no is not None else ''})"


def _set(members: list[tuple[Any, Any]]) -> str:
    if len(members) == 1 and members[0][0] is codes.CATEGORY:
        return _CATEGORIES[members[0][1]]
    return f"[{''.join(_member(operator, value) for operator, value in members)}]"


def _member(operator: Any, value: Any) -> str:
    if operator is codes.NEGATE:
        return "^"
    if operator is codes.CATEGORY:
        return _CATEGORIES[value]
    return _character(value) if operator is codes.LITERAL else f"{_character(value[0])}-{_character(value[1])}"


def _character(code: int) -> str:
    char = chr(code)
    if char.isalnum() or code > 0x7F:
        return char
    return f"\\x{code:02x}" if code <= 0x20 or code == 0x7F else f"\\{char}"


_REPEATS = {codes.MAX_REPEAT: "", codes.MIN_REPEAT: "?", codes.POSSESSIVE_REPEAT: "+"}
_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
_PLACES = {
    codes.AT_BEGINNING: "^",
    codes.AT_BEGINNING_STRING: r"\A",
    codes.AT_BOUNDARY: r"\b",
    codes.AT_NON_BOUNDARY: r"\B",
    codes.AT_END: "$",
    codes.AT_END_STRING: r"\Z",
}
_PIECES: Mapping[Any, Callable[[Any], str]] = {
    codes.LITERAL: _character,
    codes.NOT_LITERAL: lambda code: f"[^{_character(code)}]",
    codes.ANY: lambda _: ".",
    codes.AT: _PLACES.__getitem__,
    codes.IN: _set,
    codes.BRANCH: lambda value: f"(?:{'|'.join(map(_text, value[1]))})",
    codes.SUBPATTERN: _group,
    codes.ATOMIC_GROUP: lambda inner: f"(?>{_text(inner)})",
    codes.ASSERT: _assertion({1: "=", -1: "<="}),
    codes.ASSERT_NOT: _assertion({1: "!", -1: "<!"}),
    codes.FAILURE: lambda _: "(?!)",
    codes.GROUPREF: lambda number: rf"\g<{number}>",
    codes.GROUPREF_EXISTS: _choice,
    **{operator: _repeat(sign) for operator, sign in _REPEATS.items()},
}
