"""Foreign text → text that is safe to show: it cannot control a terminal or hide characters. Pure.

Foreign text has one of three kinds: a *name* (one line, as a shell takes it), a *line* and a *text* of lines. Harmful
characters are those that Unicode calls a control, a surrogate, a line or paragraph separator, or default ignorable
(bidi overrides, zero width, tags, fillers), except where a script or an emoji needs one.
The reasons: docs/decisions/control-characters.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

# First and last of each run, without line end and tab.
_HARMFUL = (
    *(0x00, 0x08, 0x0B, 0x1F, 0x7F, 0x9F, 0xAD, 0xAD, 0x34F, 0x34F, 0x61C, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5),
    *(0x180B, 0x180F, 0x200B, 0x200F, 0x2028, 0x202E, 0x2060, 0x206F, 0x3164, 0x3164, 0xD800, 0xDFFF, 0xFE00, 0xFE0F),
    *(0xFEFF, 0xFEFF, 0xFFA0, 0xFFA0, 0xFFF0, 0xFFFB, 0xFFFE, 0xFFFF, 0x1BCA0, 0x1BCA3, 0x1D173, 0x1D17A),
    *(0xE0000, 0xE0FFF),
)
_EMOJI = (0xA9, 0xA9, 0xAE, 0xAE, 0x203C, 0x2049, 0x2100, 0x2BFF, 0x3030, 0x303D, 0x3297, 0x3299, 0x1F000, 0x1FAFF)
_KEYCAPS = "#*0123456789"
# Letters of scripts that join: behind them ZWNJ and ZWJ say which form of a letter is meant.
_JOINED = (0x620, 0xDFF, 0xE00, 0x18AF, 0xA800, 0xABFF, 0xFB50, 0xFDFF, 0xFE70, 0xFEFC)
_IDEOGRAPHS = (0x3400, 0x9FFF, 0xF900, 0xFAFF, 0x20000, 0x3FFFF)
_NON_JOINER, _JOINER, _TEXT_STYLE, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0e", "\ufe0f"
# The flags of England, Scotland and Wales are the only ones of this form in general use; any other could carry words.
_BLACK_FLAG = "\U0001f3f4"
_FLAGS = tuple(
    _BLACK_FLAG + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)
_PICTURES = 0x2400  # where Unicode has a picture of each control character
_LETTERS = {"\a": r"\a", "\b": r"\b", "\v": r"\v", "\f": r"\f", "\r": r"\r", "\x1b": r"\e"}


def is_harmless(text: str) -> bool:
    """Return True if a text can be shown as it is; line ends and tabs are harmless."""
    return _replaced(text, lambda _: "") == text


def is_text(text: str) -> bool:
    """Return True if a text can be written as UTF-8 and passed to the system: without NUL and half surrogate pairs."""
    if text.isascii():
        return "\0" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def show_text(text: str) -> str:
    """Return a text of lines as it may be shown: controls as ␛, other harmful characters as <U+202E>.

    Line ends and tabs stay; what ends with carriage return and line feed ends with the latter.
    """
    return _replaced(text.replace("\r\n", "\n"), _shown)


def show_line(text: str) -> str:
    """Return a text as one line: as `show_text`, and line ends and tabs as ␊ and ␉."""
    return _replaced(text, _shown).replace("\t", "␉").replace("\n", "␊")


def show_name(name: str) -> str:
    """Return the name of a file or symbol; where a character of it is harmful, quoted as $'a\\nb', which shells read.

    So bash, zsh, ksh and any shell of POSIX 2024 give a program the very name.
    """
    if "\n" not in name and "\t" not in name and not name.startswith("$'") and is_harmless(name):
        return name
    quoted = name.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n").replace("\t", r"\t")
    return f"$'{_replaced(quoted, _quoted)}'"


def escape_json(document: str) -> str:
    """Return a JSON document of the same meaning whose texts hold nothing harmful but as \\u escapes."""
    return _replaced(document, _escaped)


def escape_toml(text: str) -> str:
    """Return a text as it is written between quotes in TOML, on one line."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return _replaced(quoted, lambda char: f"\\u{ord(char):04x}" if char <= "\uffff" else f"\\U{ord(char):08x}")


def escape_xml(text: str) -> str:
    """Return a text for XML, for attributes too: harmful characters as references, what XML cannot hold as ␛."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return _replaced(text.replace("\r\n", "\n"), _referred)


def _replaced(text: str, shown: Callable[[str], str]) -> str:
    """Return a text with each harmful character replaced. Quick where there is none: few characters are distinct."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    harmful: dict[str, str | int | None] = {char: shown(char) for char in set(text) if _is_in(_HARMFUL, char)}
    if not harmful:
        return text
    if harmful.keys() <= _NEVER_NEEDED:
        return text.translate(str.maketrans(harmful))
    places = [match.start() for match in re.finditer(f"[{''.join(map(re.escape, harmful))}]", text)]
    needed = _needed(text, places)
    parts: list[str] = []
    end = 0
    for place in places:
        if place not in needed:
            parts += (text[end:place], str(harmful[text[place]]))
            end = place + 1
    return "".join((*parts, text[end:]))


_NEVER_NEEDED = frozenset(map(chr, (*range(0xAE), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)))


def _needed(text: str, places: Iterable[int]) -> set[int]:
    """Return those places of harmful characters that a script or an emoji needs, judged by the character before each.

    `places` are all of them, ascending.
    """
    needed: set[int] = set()
    for index in filter(None, places):
        before, char = text[index - 1], text[index]
        if before == _BLACK_FLAG and text.startswith(_FLAGS, index - 1):
            needed.update(range(index, index + len(_FLAGS[0]) - 1))
        elif char >= _NON_JOINER and _is_needed(char, before, follows_emoji=index - 1 in needed):
            needed.add(index)
    return needed


def _is_needed(char: str, before: str, *, follows_emoji: bool) -> bool:
    if char in (_NON_JOINER, _JOINER) and before == _EMOJI_STYLE:
        return char == _JOINER and follows_emoji
    if _is_in(_HARMFUL, before):
        return False
    if char in (_NON_JOINER, _JOINER):
        return _is_in(_JOINED, before) or (char == _JOINER and _is_in(_EMOJI, before))
    if char in (_TEXT_STYLE, _EMOJI_STYLE):
        return before in _KEYCAPS or _is_in(_EMOJI, before)
    return "\U000e0100" <= char <= "\U000e01ef" and _is_in(_IDEOGRAPHS, before)


def _is_in(runs: tuple[int, ...], char: str) -> bool:
    """Return True if a character lies in one of the runs, which are pairs of a first and a last character."""
    code = ord(char)
    place = bisect_right(runs, code)
    return place % 2 == 1 or (place > 0 and runs[place - 1] == code)


def _shown(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(_PICTURES + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def _quoted(char: str) -> str:
    code = ord(char)
    if char in _LETTERS:
        return _LETTERS[char]
    if 0xDC80 <= code <= 0xDCFF:  # how Python tells a byte of a name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x1_0000 else f"\\U{code:08x}"


def _escaped(char: str) -> str:
    """Return both halves of what lies above the first 65,536 characters, as JSON wants it."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _referred(char: str) -> str:
    code = ord(char)
    is_allowed = char == "\r" or (code >= 0x7F and not 0xD800 <= code <= 0xDFFF and code not in (0xFFFE, 0xFFFF))
    return f"&#{code};" if is_allowed else _shown(char).replace("<", "&lt;").replace(">", "&gt;")


def size(n_bytes: int) -> str:
    """Return a number of bytes in words: 812 B, 3.4 kB, 12 MB."""
    amount = float(n_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def duration(seconds: float) -> str:
    """Return a time in two digits' accuracy: 0.4 s, 12 s, 3:05 min, 1:02 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def cut_line(line: str, most: int) -> str:
    """Return the beginning of a long line, and how much of it is not shown."""
    n_more = len(line) - most
    return line if n_more <= 0 else f"{line[:most]}… ({n_more:,} more characters)"
