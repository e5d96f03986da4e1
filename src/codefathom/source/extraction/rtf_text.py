r"""RTF document → its text, by code of ours; runs in `extraction_child.py` only. Pure.

Each paragraph is one line, and each row of a table, with an empty line after it: the n-th stands on line 2n - 1. A
heading begins with as many `#` as its level. Pictures, headers, footers, notes, hidden and deleted text are left out.

An RTF document is text with control words such as `\par` or `\u1087`, in groups `{…}` at whose end what a word has
changed is again as before. All bytes are passed once, without recursion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from codefathom.facts import reasons as say
from codefathom.source.document_places import heading_line, unmarked
from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, plain_lines, refusal, too_long

_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\\rtf")
_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,40})(?P<number>-?[0-9]{1,9})?[ ]?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<sign>[^A-Za-z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\"
)
_MOST_GROUPS = 1_000  # inside one another; real documents have some dozen
_BROKEN = refusal(say.BROKEN_RTF)
# Groups that begin with one of these are no text of the document; nor are those of words that begin with `\*`.
_LEFT_OUT = frozenset(
    b"""
    annotation atnauthor atnid author colortbl comment datafield footer footerf footerl footerr footnote ftncn ftnsep
    ftnsepc header headerf headerl headerr info listtext nonshppict objdata pict pntext private rxe tc themedata txe xe
    """.split()
)
_TABLES = frozenset((b"fonttbl", b"stylesheet"))
_SIGNS = {
    **{b"tab": " ", b"line": " ", b"lbr": " ", b"softline": " ", b"nestcell": " ", b"nestrow": " "},
    **{b"emspace": " ", b"enspace": " ", b"qmspace": " ", b"emdash": "—", b"endash": "–", b"bullet": "•"},
    **{b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”"},
}
_ESCAPED = {b"\\": "\\", b"{": "{", b"}": "}", b"~": " ", b"_": "-"}
_ENDS = frozenset((b"par", b"sect", b"page", b"column", b"row"))
# The character sets of fonts; the others are that of the document.
_CHARSETS = {
    **{77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254"},
    **{163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"},
}
_PAGES = {932: "cp932", 936: "gb18030", 949: "cp949", 950: "cp950", 10000: "mac_roman", 65001: "utf-8"}
_HEADING = re.compile(r"heading ([1-9])\b|(title)\b", re.IGNORECASE)


def text_of(data: bytes, limits: ExtractionLimits) -> str | Refusal:
    """Return the text of an RTF document, or the reason why it has none."""
    if not _START.match(data):
        return _BROKEN
    reader = _Reader(limits.chars)
    position = 0
    while position < len(data):
        match = _TOKEN.match(data, position)
        if match is None:
            break
        position = match.end() + reader.take(match)
        if len(reader.outer) > _MOST_GROUPS:
            return _BROKEN
        if reader.n_chars > limits.chars:
            return too_long(limits)
    reader.end_paragraph()
    return "\n".join(reader.lines) if reader.lines else refusal(say.RTF_WITHOUT_TEXT)


@dataclass(frozen=True, slots=True)
class _Group:
    """State that ends with a group."""

    is_left_out: bool = False
    table: bytes = b""  # of fonts or styles, in which the group lies
    encoding: str = ""  # of the font; "": that of the document
    n_fallback: int = 1  # characters after `\\u` for readers that do not know it
    is_hidden: bool = False
    is_deleted: bool = False
    is_in_row: bool = False
    level: int = 0  # of the heading


@dataclass(slots=True)
class _Reader:
    """The text so far, and what is needed to read on."""

    most_chars: int
    lines: list[str] = field(default_factory=list)
    n_chars: int = 0
    outer: list[_Group] = field(default_factory=list)
    group: _Group = field(default_factory=_Group)
    encoding: str = "cp1252"
    pieces: list[str] = field(default_factory=list)  # of the paragraph
    cells: list[str] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)  # bytes that are not decoded yet
    fonts: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)  # of headings, by the number of the style
    number: int = 0  # of the font or style that a table is about
    n_skipped: int = 0  # characters that are still to be passed over after `\\u`

    def take(self, match: re.Match[bytes]) -> int:
        """Take one token in; return the number of bytes after it that are no RTF."""
        if match["text"] is not None:
            self._add_bytes(match["text"])
        elif match["hex"] is not None:
            self._add_bytes(bytes((int(match["hex"], 16),)))
        elif match["brace"] is not None:
            self._change_group(opens=match["brace"] == b"{")
        elif match["sign"] is not None:
            self._take_sign(match["sign"])
        elif match["word"] is not None:
            self.n_skipped = max(self.n_skipped - 1, 0) if match["word"] != b"u" else 0
            number = None if match["number"] is None else int(match["number"])
            return self._take_word(match["word"], number)
        return 0

    def end_paragraph(self) -> None:
        """Write the paragraph, or the row of a table."""
        self._flush()
        text = _one_line(" | ".join(filter(None, (*self.cells, _one_line("".join(self.pieces))))))
        self.pieces, self.cells = [], []
        if text:
            level = self.group.level
            self.lines += [heading_line(level, text) if level else unmarked("rtf", text), ""]
            self.n_chars += 2

    # ---- text

    def _add_bytes(self, data: bytes) -> None:
        n_skipped = min(self.n_skipped, len(data))
        self.n_skipped -= n_skipped
        if not self._is_silent():
            self.raw += data[n_skipped:]

    def _add(self, text: str) -> None:
        self._flush()
        if not self._is_silent():
            self.pieces.append(text)
            self.n_chars += len(text)

    def _is_silent(self) -> bool:
        group = self.group
        return group.is_left_out or group.is_hidden or group.is_deleted or group.table == b"fonttbl"

    def _flush(self) -> None:
        if self.raw:
            text = self.raw.decode(self.group.encoding or self.encoding, "replace")
            self.raw.clear()
            if self.group.table:
                self._name_style(text)
            else:
                self.pieces.append(text)
                self.n_chars += len(text)

    def _name_style(self, text: str) -> None:
        heading = _HEADING.match(text.strip())
        if heading:
            self.levels[self.number] = int(heading[1] or 1)

    # ---- groups and signs

    def _change_group(self, *, opens: bool) -> None:
        self._flush()
        self.n_skipped = 0
        if opens:
            self.outer.append(self.group)
        elif self.outer:
            self.group = self.outer.pop()

    def _take_sign(self, sign: bytes) -> None:
        if self.n_skipped:
            self.n_skipped -= 1
        elif sign == b"*":
            self._set(is_left_out=True)
        elif sign in b"\r\n":
            self._take_word(b"par", None)
        elif sign in _ESCAPED:
            self._add(_ESCAPED[sign])

    def _set(self, **changes: object) -> None:
        self._flush()
        self.group = replace(self.group, **changes)  # type: ignore[arg-type]  # each caller names fields of a group

    # ---- control words

    def _take_word(self, word: bytes, number: int | None) -> int:
        if word == b"bin":
            return max(number or 0, 0)
        if word in _LEFT_OUT:
            self._set(is_left_out=True)
        elif word in _TABLES:
            self._set(table=word)
        elif self.group.is_left_out:
            return 0
        elif self.group.table:
            self._take_word_of_table(word, number or 0)
        elif word in _SIGNS:
            self._add(_SIGNS[word])
        elif word in _ENDS or word == b"cell":
            self._end(word)
        else:
            self._take_format(word, number)
        return 0

    def _take_word_of_table(self, word: bytes, number: int) -> None:
        if word in (b"f", b"s"):
            self._flush()
            self.number = number
        elif word == b"fcharset":
            self.fonts[self.number] = _CHARSETS.get(number, "")

    def _end(self, word: bytes) -> None:
        if self._is_silent():
            return
        self._flush()
        if word == b"cell":
            self.cells.append(_one_line("".join(self.pieces)))
            self.pieces = []
            self.n_chars += 3
        elif word == b"row" or not self.group.is_in_row:
            self.end_paragraph()
        else:
            self._add(" ")

    def _take_format(self, word: bytes, number: int | None) -> None:
        value = number or 0
        if word == b"u":
            self._add(chr(value % 0x10000))
            self.n_skipped = self.group.n_fallback
        elif word == b"uc":
            self._set(n_fallback=min(max(value, 0), 99))
        elif word == b"ansicpg":
            self.encoding = _PAGES.get(value, _windows_page(value))
        elif word == b"f":
            self._set(encoding=self.fonts.get(value, ""))
        elif word in (b"v", b"deleted"):
            self._set(**{"is_hidden" if word == b"v" else "is_deleted": number != 0})
        elif word == b"plain":
            self._set(is_hidden=False, is_deleted=False, encoding="")
        elif word == b"pard":
            self._set(is_in_row=False, level=0)
        elif word in (b"intbl", b"trowd"):
            self._set(is_in_row=True)
        elif word == b"s":
            self._set(level=self.levels.get(value, 0))
        elif word == b"outlinelevel":
            self._set(level=value + 1 if 0 <= value < 9 else 0)


def _windows_page(number: int) -> str:
    return f"cp{number}" if number == 874 or 1250 <= number <= 1258 else "cp1252"


def _one_line(text: str) -> str:
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return " ".join(" ".join(plain_lines(whole)).split())
