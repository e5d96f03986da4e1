"""The text of a model → the same text with every citation verified. Pure.

A model is asked to cite `[2]`, a numbered source, or `[2:14-20]`, lines in it; many still write `[src/app.py:14-20]`,
with or without brackets. Each is checked against the lines that the model was shown and against the file as it is now.
A citation that does not hold is never shown: a mark with the number of such places stands there instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codefathom.answer.answer_types import Checked, Citation, Dropped, Source
from codefathom.answer.claims import NOT_IN_SOURCES, not_found_mark
from codefathom.facts import reasons as say
from codefathom.facts.paths import is_named_as_file
from codefathom.facts.reasons import Note

# Full-width signs and their plain forms, one character each, so that all places in the text stay the same.
_PLAIN = str.maketrans("【】［］（）：；，", "[][]():;,")
_SPAN = r"(?P<first>\d{1,9})(?:[ \t]*[-\u2010-\u2015\u2212][ \t]*L?(?P<last>\d{1,9}))?"
_LINES = r"(?:(?i:lines?)\s*|L)"
# `3`, `3:6-8`, `Source 3: lines 6-8`; then `6-8`, `lines 6-8` after the name of a source; then a path or an address.
_NUMBERED = re.compile(
    rf"(?:(?i:sources?)\s*:?\s*)?(?P<number>\d{{1,4}})(?:(?:\s*[:†]\s*{_LINES}?|\s+{_LINES}){_SPAN})?", re.ASCII
)
_AND = re.compile(r"\s+(?:and|&)\s+")
_MORE_LINES = re.compile(rf"(?P<sign>{_LINES})?{_SPAN}")
_PATH = r"(?P<path>(?:https?|(?:[^\[\]\s:]+/)?texts)://[^\[\]\s]+?|(?=[^\[\]\s:]*[^\W\d])[^\[\]\s:]+?)"
_PATHED = re.compile(rf"{_PATH}(?:(?::L?|#L|\s+(?i:lines?)\s+){_SPAN})?")
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,300})\]")
_PARENTHESES = re.compile(r"\(([^()\n]{1,300})\)")
# Paths in the middle of a sentence. Of the letters of a path, those of languages written
# without spaces do not count: they are the sentence around it.
_LETTER = r"A-Za-z0-9_\u00b5-\u1fff"
_NAME = rf"\.?[{_LETTER}@+-](?:[{_LETTER}.@+-]*[{_LETTER}@+-])?"
_BARE = (
    r"(?P<path>https?://[^\[\]\s:`/]+/[^\[\]\s:`#()]+"
    rf"|(?<![{_LETTER}.@+/-])(?:[{_LETTER}.@+-]+/)?texts://[^\[\]\s:`#()]+"
    rf"|(?<![{_LETTER}.@+/-])/?(?:[{_LETTER}.@+-]+/)*{_NAME})"
)
_WORD = r"(?P<word>:?,?[ \t]+(?i:lines?)[ \t]+)"
_AFTER = r"(?![A-Za-z_0-9]|/\w)"  # neither half a number nor a port
_BARES = (
    re.compile(rf"`?{_BARE}`?[ \t]+\((?P<word>(?i:lines?)[ \t]+){_SPAN}\)"),
    re.compile(rf"`?{_BARE}`?(?::L?|#L|{_WORD}){_SPAN}(?::\d+)?{_AFTER}"),
    re.compile(rf"(?P<word>\b(?i:lines?)[ \t]+){_SPAN}[ \t]+(?:of|in|from)[ \t]+`?{_BARE}`?"),
)
_HOST = re.compile(r"localhost|(?:[\w-]+\.)+[\w-]+", re.IGNORECASE)
# Before a bracket: it is an index. Languages that are written without spaces do not count.
_INDEXED = re.compile(r"[^\W\u2e80-\uffff]|[)\]]")
_LINK = re.compile(r"\[[^\[\]\n]*\]\((?=[^()\s]*[/#.])[^()\s]*(?:[ \t]+\"[^\"\n]*\")?\)")
_FOOTNOTE = re.compile(r"^[ \t]*\[[^\[\]\n]+\]:[ \t]*<?\w+://\S*", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n(.*?)(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
MAX_INLINE = 300  # characters of code between backticks
_INLINE = re.compile(rf"(?<!`)(?P<ticks>`{{1,2}})(?!`)(?P<code>[^\n]{{1,{MAX_INLINE}}}?)(?<!`)(?P=ticks)(?!`)")
_MAX_BETWEEN = 40  # characters
_MAX_TO_FENCE = 200  # characters
# What begins something else, between a citation and quoted code.
_NEXT = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)]|#+)[ \t]", re.MULTILINE)
BLANK = re.compile(r"\n[ \t]*\n")
_MAX_EMPTY = 2  # lines between a citation and the code after it
_EMPTY = re.compile(r"\n[ \t]*(?=\n)")
# What is to be typed or looked at is no quotation.
_TO_TYPE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})\s*(?:bash|console|mermaid|powershell|sh|shell|shell-session|zsh)\b")
# Nor is a diff, which is made of lines of the sources, or a text.
_NOT_CODE = re.compile(rf"{_TO_TYPE.pattern}|^ {{0,3}}(?:`{{3,}}|~{{3,}})\s*(?:diff|text|txt)\b")
_CLOSED = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n(?:.*\n)? {0,3}\1[^\n]*\Z", re.DOTALL)
# The end of a sentence, and the beginning of the next item of a list.
_PARTS = re.compile(r"[.;!?。；]\s|\n\s*(?:[-*+]|\d+[.)])\s")
# A span of code and not a name or a command: white space inside and a sign that no prose has.
_IS_CODE = re.compile(r"^(?=.*\s)(?=.*[(){}=;<>\[\]]).{12,}$")


class _Named(NamedTuple):
    """A place as a citation names it."""

    text: str
    number: int  # 0: named by path
    path: str
    first: int  # 0: the whole source
    last: int


class _Cited(NamedTuple):
    """A citation as it stands in the text, of one or several places."""

    start: int
    end: int
    places: tuple[_Named, ...]


def texts_now(sources: Sequence[Source], on_disk: Callable[[str], str | None]) -> dict[str, str]:
    """Return the present texts of the files of sources, those that are gone left out."""
    texts = {path: on_disk(path) for path in dict.fromkeys(source.path for source in sources)}
    return {path: text for path, text in texts.items() if text is not None}


def check(text: str, sources: Sequence[Source], now: Mapping[str, str]) -> Checked:
    """Return the text with checked citations, and a mark behind each block of code that stands in no source.

    `now` holds the present text of the files of all sources; a file that is gone is not in it. Lines that moved since
    are cited where they are now.
    """
    looked_up = _looked_up(text, sources, now)
    missing = _all_missing(text, looked_up.cited, looked_up.held, now)
    pieces = [_written(*item) for item in zip(looked_up.cited, looked_up.results, missing, strict=True)]
    return _joined(text, 0, [*pieces, *_marks(text, sources, 0, len(text) + 1)])


def check_next(text: str, sources: Sequence[Source], now: Mapping[str, str], start: int, *, is_last: bool) -> Checked:
    """Return the text from `start` on with checked citations; `start` lies in no citation.

    What stands before it, and before each citation, counts as what is quoted there; what follows a citation does not.
    A block of code at the end of the text gets its mark with the text that follows it, or with `is_last`.
    """
    looked_up = _looked_up(text, sources, now)
    pieces: list[_Piece] = []
    for n, cited in enumerate(looked_up.cited):
        if cited.start >= start:
            pieces.append(_written(cited, looked_up.results[n], _missing_before(n, text, looked_up, now)))
    return _joined(text, start, [*pieces, *_marks(text, sources, start, len(text) + is_last)])


def cited_spans(text: str, sources: Sequence[Source]) -> list[tuple[int, int]]:
    """Return start and end of each citation in a text."""
    return [(cited.start, cited.end) for cited in _all_cited(text, sources)]


def late_problems(text: str, sources: Sequence[Source], now: Mapping[str, str]) -> tuple[Dropped, ...]:
    """Return the citations of a text that hold as `check_next` sees them, and not with the code quoted after them."""
    looked_up = _looked_up(text, sources, now)
    problems = []
    for n, missing in enumerate(_all_missing(text, looked_up.cited, looked_up.held, now)):
        if missing and looked_up.held[n] and not _missing_before(n, text, looked_up, now):
            cited = looked_up.cited[n].places[0].text
            problems.append(Dropped(cited, Note(say.QUOTE_NOT_THERE, {"line": repr(missing)})))
    return tuple(problems)


class _LookedUp(NamedTuple):
    """The citations of a text, what became of each of their places, and those that hold."""

    cited: list[_Cited]
    results: list[list[Citation | Note]]
    held: list[list[Citation]]


def _looked_up(text: str, sources: Sequence[Source], now: Mapping[str, str]) -> _LookedUp:
    all_cited = list(_all_cited(text, sources))
    results = [[_look_up(named, sources, now) for named in cited.places] for cited in all_cited]
    held = [[place for place in places if isinstance(place, Citation)] for places in results]
    return _LookedUp(all_cited, results, held)


class _Piece(NamedTuple):
    """A part of the text, and the words that are shown in its place."""

    start: int
    end: int
    checked: Checked


def _joined(text: str, start: int, pieces: Sequence[_Piece]) -> Checked:
    """Return the text from `start` on with all pieces in their places."""
    joined, end = Checked("", (), ()), start
    for piece in sorted(pieces, key=lambda piece: piece.start):
        joined = joined.followed_by(Checked(text[end : piece.start], (), ())).followed_by(piece.checked)
        end = piece.end
    return joined.followed_by(Checked(text[end:], (), ()))


def _written(cited: _Cited, results: Sequence[Citation | Note], missing: str) -> _Piece:
    """Return the piece that is shown in the place of a citation."""
    pieces, kept, dropped = [], [], []
    for named, place in zip(cited.places, results, strict=True):
        if isinstance(place, Citation) and not missing:
            kept.append(place)
            pieces.append(place.shown)
        else:
            reason = Note(say.QUOTE_NOT_THERE, {"line": repr(missing)}) if isinstance(place, Citation) else place
            dropped.append(Dropped(named.text, reason))
    pieces.append(not_found_mark(len(dropped)))
    return _Piece(cited.start, cited.end, Checked("".join(pieces), tuple(kept), tuple(dropped)))


def _marks(text: str, sources: Sequence[Source], start: int, end: int) -> Iterator[_Piece]:
    """Yield a mark behind each closed block of code that ends in this part of the text and stands in no source."""
    shown = [_folded(source.text) for source in sources]
    for quote in _quotes(text) if sources else ():
        block = text[quote.start : quote.end]
        is_closed = quote.is_fence and _CLOSED.search(block) is not None
        is_code = is_closed and start <= quote.end < end and not _NOT_CODE.match(block)
        if is_code and all(_missing_line(quote, part) for part in shown):
            yield _Piece(quote.end, quote.end, Checked(f"\n\n{NOT_IN_SOURCES}", (), ()))


def _all_cited(text: str, sources: Sequence[Source]) -> Iterator[_Cited]:
    """Yield the citations of a text in order; what stands inside code, a link or a footnote is no citation."""
    plain = text.translate(_PLAIN)
    others = [match.span() for pattern in (_FENCE, _LINK, _FOOTNOTE) for match in pattern.finditer(plain)]
    codes = list(_INLINE.finditer(plain))
    matches = [match for pattern in (_BRACKETS, _PARENTHESES, *_BARES) for match in pattern.finditer(plain)]
    end = 0
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        if match.start() < end or any(start <= match.start() < stop for start, stop in others):
            continue
        span = _outside_code(match, codes)
        if span is None:
            continue
        if match.re in (_BRACKETS, _PARENTHESES):
            is_index = match.start() and match.start() != end and _INDEXED.match(text[match.start() - 1])
            places = () if is_index and text[match.start()] != "【" else _grouped(match, sources)
        else:
            places = _bare(match, sources)
            span = _with_parentheses(span, plain)
        if places:
            end = span[1]
            yield _Cited(*span, places)


def _outside_code(match: re.Match[str], codes: Sequence[re.Match[str]]) -> tuple[int, int] | None:
    """Return start and end of a citation, with the signs of inline code around it; None if it is inside other code."""
    start, end = match.span()
    for code in codes:
        if code.start() <= start < code.end():
            if start > code.start("code") or end < code.end("code"):
                return None
            return code.start(), max(end, code.end())
    return start, end


def _with_parentheses(span: tuple[int, int], plain: str) -> tuple[int, int]:
    start, end = span
    around = plain[start - 1 : start] + plain[end : end + 1]
    return (start - 1, end + 1) if around == "()" and not _INDEXED.match(plain[start - 2 : start - 1]) else span


def _bare(match: re.Match[str], sources: Sequence[Source]) -> tuple[_Named, ...]:
    """Return the place that a path in the middle of a sentence names, if it is one."""
    named = _as_named(match.group(), match.groupdict())
    if match["word"]:  # "and/or line 5"
        is_known = _is_known(named.path, sources)
        is_path = is_known or match["path"].startswith("/") or (named.path.count("/") > 1 and "://" not in named.path)
    else:
        is_path = ("/" in match["path"] or _is_known(named.path, sources)) and not _is_on_host(named.path, sources)
    return (named,) if is_path else ()


def _is_known(path: str, sources: Sequence[Source]) -> bool:
    return is_named_as_file(path) or bool(_shown(path, sources))


def _is_on_host(path: str, sources: Sequence[Source]) -> bool:
    """Return True if a path is a host name, so that the number after it is a port or a tag."""
    return _HOST.fullmatch(path.partition("/")[0]) is not None and not _is_known(path, sources)


def _grouped(match: re.Match[str], sources: Sequence[Source]) -> tuple[_Named, ...]:
    """Return the places that brackets or parentheses name; none when something else stands in them."""
    inner = _AND.sub(", ", match[1].replace("`", "").strip())
    places: list[_Named] = []
    separator = ""
    for item in re.split(r"([;,])", inner):
        if item in (";", ","):
            separator = item
        elif not _add_place(item.strip(), separator, places):
            return ()
    if not places or any(named.path and not named.first for named in places):
        return ()
    if match.re is _PARENTHESES:
        numbers = {source.number for source in sources}
        is_range = re.search(r":.*(?:[-\u2010-\u2015\u2212]|L)|(?i:lines?\s)", inner) is not None
        if not is_range or any(named.number not in numbers for named in places):
            return ()
    if any(_is_on_host(named.path, sources) for named in places):
        return ()
    return (places[0]._replace(text=match.group()),) if len(places) == 1 else tuple(places)


def _add_place(item: str, separator: str, places: list[_Named]) -> bool:
    """Add what one item of a list names, or the lines that it gives to the item before it; False when neither."""
    before = places[-1] if places else None
    more = _MORE_LINES.fullmatch(item)
    if more and before and (separator == "," or more["sign"] or more["last"]):
        # [1, 3] are two sources, [1, 3-5] and [1:3, 5] lines of one.
        is_source = not more["sign"] and not more["last"] and (not before.first or int(more["first"]) <= before.last)
        if not is_source:
            first = int(more["first"])
            if not before.first:
                places.pop()
            text = f"{before.path or before.number}:{item}"
            places.append(before._replace(text=f"[{text}]", first=first, last=int(more["last"] or first)))
            return True
    match = _NUMBERED.fullmatch(item) or _PATHED.fullmatch(item)
    if match is None:
        return False
    places.append(_as_named(f"[{item}]", match.groupdict()))
    return True


def _as_named(text: str, group: Mapping[str, str | None]) -> _Named:
    first = int(group["first"] or 0)
    path = (group.get("path") or "").removeprefix("./").lstrip("/")
    return _Named(text, int(group.get("number") or 0), path, first, int(group["last"] or first))


def _shown(path: str, sources: Sequence[Source]) -> list[Source]:
    return [source for source in sources if source.path == path or source.path.endswith(f"/{path}")]


def _look_up(named: _Named, sources: Sequence[Source], now: Mapping[str, str]) -> Citation | Note:
    """Return the place that is cited, or the reason why it does not hold."""
    if named.path:
        shown = _shown(named.path, sources)
        if not shown:
            return Note(say.NO_SUCH_PATH)
        holding = [source for source in shown if source.start_line <= named.first and named.last <= source.end_line]
        if not holding:
            return Note(say.NOT_SHOWN)
        source = holding[0]
    else:
        numbered = [source for source in sources if source.number == named.number]
        if not numbered:
            return Note(say.NO_SUCH_NUMBER)
        source = numbered[0]
    first, last = (named.first, named.last) if named.first else (source.start_line, source.end_line)
    if not source.start_line <= first <= last <= source.end_line:
        return Note(say.NOT_SHOWN)
    return _as_it_is_now(source, first, last, now)


def _as_it_is_now(source: Source, first: int, last: int, now: Mapping[str, str]) -> Citation | Note:
    """Return the cited lines where they stand now; of places that read the same, the one nearest to where it was."""
    if source.path not in now:
        return Note(say.FILE_GONE)
    shown = source.text.split("\n")[first - source.start_line : last - source.start_line + 1]
    lines = now[source.path].split("\n")

    def stand_at(start: int) -> bool:
        if source.is_part:  # of a line that was shown in parts
            return shown[0] in lines[start]
        return lines[start : start + len(shown)] == shown

    # The nearest line is looked at first, and seldom another one.
    starts = sorted(range(len(lines)), key=lambda start: abs(start - (first - 1))) if shown else []
    for start in starts:
        if stand_at(start):
            return Citation(source.path, start + 1, start + len(shown), source.symbol)
    return Note(say.FILE_CHANGED)


class _Quote(NamedTuple):
    start: int
    end: int
    lines: tuple[str, ...]  # white space folded
    is_fence: bool


def _quotes(text: str) -> list[_Quote]:
    """Return the code that an answer quotes, in blocks and in lines."""
    quotes = [
        _Quote(*match.span(), tuple(_folded(line) for line in _lines(match[2])), True)
        for match in _FENCE.finditer(text)
    ]
    inline = (match for match in _INLINE.finditer(text) if _IS_CODE.match(match["code"]))
    quotes += [_Quote(*match.span(), (_folded(match["code"]),), False) for match in inline]
    return [quote for quote in quotes if quote.lines]


def _lines(block: str) -> list[str]:
    # "..." stands for what was left out.
    return [line for line in block.split("\n") if line.strip(" \t.…#/")]


def _all_missing(
    text: str, all_cited: Sequence[_Cited], held: Sequence[Sequence[Citation]], now: Mapping[str, str]
) -> list[str]:
    """Return for each citation the first line quoted next to it that is not in the cited lines, "" if all are."""
    return _missing_of(_quotes(text), text, all_cited, held, now)


def _missing_of(
    quotes: Sequence[_Quote],
    text: str,
    all_cited: Sequence[_Cited],
    held: Sequence[Sequence[Citation]],
    now: Mapping[str, str],
) -> list[str]:
    if not quotes:
        return [""] * len(all_cited)
    near = [[quote for quote in quotes if _belongs(quote, cited, text)] for cited in all_cited]
    taken = {quote for group in near for quote in group}
    for quote in quotes:
        if not quote.is_fence or quote in taken or _TO_TYPE.match(text[quote.start : quote.end]):
            continue
        around = [index for index, cited in enumerate(all_cited) if _is_around(quote, cited, text)]
        if any(held[index] and not _missing([quote], held[index], now) for index in around):
            continue
        # Of several the nearest is meant, rather one before the code than one after it.
        before = [index for index in around if all_cited[index].end <= quote.start]
        for index in (before[-1:] or around)[:1]:
            if _is_meant(quote, all_cited[index], text):
                near[index].append(quote)
    return [_missing(group, places, now) for group, places in zip(near, held, strict=True)]


def _missing_before(n: int, text: str, looked_up: _LookedUp, now: Mapping[str, str]) -> str:
    """Return the first line quoted next to citation `n`, before its end, that is not in the cited lines, "" if all are.

    Only citations near to it are looked at: others share no quotation with it.
    """
    cited = looked_up.cited[n]
    quotes = [quote for quote in _quotes(text[: cited.end]) if _is_near(quote, cited)]
    first = next(m for m, other in enumerate(looked_up.cited) if m == n or any(_is_near(one, other) for one in quotes))
    some, held = looked_up.cited[first : n + 1], looked_up.held[first : n + 1]
    return _missing_of(quotes, text[: cited.end], some, held, now)[-1]


def _is_near(quote: _Quote, cited: _Cited) -> bool:
    return max(cited.start - quote.end, quote.start - cited.end) <= max(_MAX_BETWEEN, _MAX_TO_FENCE)


def _between(quote: _Quote, cited: _Cited, text: str) -> str:
    return text[quote.end : cited.start] if quote.end <= cited.start else text[cited.end : quote.start]


def _belongs(quote: _Quote, cited: _Cited, text: str) -> bool:
    """Return True if a quotation is next to a citation: at most a few words of one sentence between them."""
    if quote.start < cited.end and cited.start < quote.end:
        return False
    between = _between(quote, cited, text)
    return len(between) <= _MAX_BETWEEN and not _PARTS.search(between) and not _are_apart(quote, cited, between)


def _are_apart(quote: _Quote, cited: _Cited, between: str) -> bool:
    """Return True if a blank line parts a quotation and a citation.

    One next to fenced code does not. Where the citation comes last, this must be known before what follows it: text is
    shown while it comes in, and the same citation may not hold or not hold by the pieces in which it does.
    """
    if cited.end <= quote.start:
        return BLANK.search(between.strip()) is not None
    return BLANK.search(between.lstrip() if quote.is_fence else between) is not None


def _is_around(quote: _Quote, cited: _Cited, text: str) -> bool:
    between = _between(quote, cited, text)
    return len(between) <= _MAX_TO_FENCE and "```" not in between and "~~~" not in between


def _is_meant(quote: _Quote, cited: _Cited, text: str) -> bool:
    """Return True if a block of code belongs to a citation in the paragraph next to it or in the one before that."""
    between = _between(quote, cited, text)
    if cited.end <= quote.start:
        return not _NEXT.search(between) and len(_EMPTY.findall(between)) <= _MAX_EMPTY
    return not _NEXT.search(between) and not _are_apart(quote, cited, between)


def _missing(quotes: Sequence[_Quote], places: Sequence[Citation], now: Mapping[str, str]) -> str:
    """Return the first quoted line that does not stand in the cited lines, after those before it."""
    parts = ["\n".join(now[place.path].split("\n")[place.start_line - 1 : place.end_line]) for place in places]
    cited = _folded("\n".join(parts))
    return next(filter(None, (_missing_line(quote, cited) for quote in quotes)), "") if places else ""


def _missing_line(quote: _Quote, shown: str) -> str:
    """Return the first line of a quotation that does not stand in a folded text, after those before it."""
    end = 0
    for line in quote.lines:
        match = _whole(line).search(shown, end)
        if match is None:
            return line
        end = match.end()
    return ""


def _whole(line: str) -> re.Pattern[str]:
    """Return an expression for a quoted line that does not match in the middle of a word."""
    before = r"(?<!\w)" if re.match(r"\w", line, re.ASCII) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", line, re.ASCII) else ""
    return re.compile(before + re.escape(line) + after, re.ASCII)


def _folded(text: str) -> str:
    return " ".join(text.split())
