"""Prose and data files: sections from headings, links as imports, places to cut. No grammar is needed.

Markdown, reStructuredText, AsciiDoc, Org, LaTeX, Typst, Word documents and HTML become sections. Code without a grammar
has the symbols that its heads name (`parse/lost_definitions.py`), a file of a CI its jobs. Everything else has no
symbols, only breaks: at the outermost keys and tables of data files, at the pages of a PDF, and at paragraphs, of which
the least indented are the better places to cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

from codefathom.facts.languages import marks_of
from codefathom.parse.ci_jobs import ci_jobs
from codefathom.parse.copybooks import copied_books
from codefathom.parse.html_headings import html_headings
from codefathom.parse.lost_definitions import heads_of, with_heads
from codefathom.parse.marked_headings import HEADED, marked_headings
from codefathom.source.document_places import marks
from codefathom.types import SECTION_SEPARATOR, Break, Document, ParsedDocument, Reference, Symbol

PARSER = "text/3"

# Depth of a cut inside a section. Headings are cuts of their own nesting depth, which stays below these.
_PARAGRAPH = 10
_INDENTED = 11
_ITEM = 12

_MAX_NAME = 200
_MAX_TITLE_LINES = 3  # more lines above an underline are a paragraph with a rule below it
_MAX_LINK_LINE = 4_000  # links in longer lines belong to generated text


class _Heading(NamedTuple):
    line: int  # where the section begins: the title, its overline, or the first line of a long title
    name_line: int
    last_line: int  # of the title and its adornment
    level: int
    name: str


class _Link(NamedTuple):
    line: int
    target: str


def parse(document: Document) -> ParsedDocument:
    """Return sections, local links and breaks of a text; never raises."""
    lines = split(document.text)
    if document.language in _MARKDOWN:
        visible = _mask_markdown(lines)
        headings = _titled(lines, visible, list(_markdown_headings(visible)))
        return _prose(document, visible, headings, _markdown_links(visible))
    if document.language in _RESTRUCTURED:
        return _prose(document, lines, list(_rst_headings(lines)), _rst_links(lines))
    if document.language in HEADED or marks_of(document.language) == "headings":
        return _with_sections(document, lines)
    if marks_of(document.language) == "pages":
        return ParsedDocument(document, (), (), tuple(_page_breaks(document, lines)), PARSER)
    opener = _OPENERS.get(document.language)
    breaks = _key_breaks(lines, opener) if opener else _paragraph_breaks(lines)
    symbols = with_heads((), heads_of(document.text, document.language), document.text)
    jobs = ci_jobs(document.path, lines) if document.language == "yaml" else ()
    copies = copied_books(lines, symbols) if document.language == "cobol" else ()
    return ParsedDocument(document, (*symbols, *jobs), tuple(copies), tuple(breaks), PARSER)


def split(text: str) -> list[str]:
    """Return the lines without their ends; a final line end opens no further line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


_MARKDOWN = {"markdown", "mdx", "rmarkdown"}
_RESTRUCTURED = {"rst", "restructuredtext"}

_TABLE = re.compile(r"\s*\[")
_YAML_KEY = re.compile(r"\s*(?:- |---|[\"']?[^\s#\"'\[{][^#]{0,200}?:(?:\s|$))")
_JSON_KEY = re.compile(r"\s*(?:\"(?:[^\"\\]|\\.){0,200}\"\s*:|[\[{])")
_TAG = re.compile(r"\s*<[A-Za-z]")
_OPENERS = {
    "toml": _TABLE,
    "ini": _TABLE,
    "yaml": _YAML_KEY,
    "json": _JSON_KEY,
    "jsonc": _JSON_KEY,
    "json5": _JSON_KEY,
    "xml": _TAG,
    "html": _TAG,
}


def _with_sections(document: Document, lines: list[str]) -> ParsedDocument:
    """Return the sections of a Word document, an HTML page or a text whose headings are marked."""
    is_page = document.language == "html"
    if is_page:
        listed = [(heading.line, heading.level, heading.name) for heading in html_headings(document.text)]
    elif document.language in HEADED:
        listed = [(line, level, _plain_title(name)) for line, level, name in marked_headings(document.language, lines)]
    else:
        listed = [(mark.line, mark.level, mark.label) for mark in marks(document.language, document.text)]
    headings = [_Heading(line, line, line, level, name[:_MAX_NAME]) for line, level, name in listed]
    parsed = _prose(document, lines, headings, ())
    if not is_page:
        return parsed
    # Chunks are cut at sections in any case; tags are worse places.
    depth = _PARAGRAPH if headings else 0
    return replace(parsed, breaks=tuple(Break(item.line, item.depth + depth) for item in _key_breaks(lines, _TAG)))


def _page_breaks(document: Document, lines: list[str]) -> Iterator[Break]:
    """Yield the pages of a PDF, and its paragraphs below them."""
    depth_of = {item.line: item.depth + 1 for item in _paragraph_breaks(lines)}
    depth_of |= {mark.line: 0 for mark in marks(document.language, document.text)}
    yield from (Break(*item) for item in sorted(depth_of.items()))


def _prose(document: Document, lines: list[str], headings: list[_Heading], links: Iterable[_Link]) -> ParsedDocument:
    sections = _sections(headings, len(lines))
    breaks = sorted({*_heading_breaks(sections), *_prose_breaks(lines, headings)})
    references = _references(links, sections)
    symbols = tuple(section for section in sections if section.name)
    return ParsedDocument(document, symbols, references, tuple(Break(*item) for item in breaks), PARSER)


def _sections(headings: list[_Heading], n_lines: int) -> list[Symbol]:
    """Each section reaches to the line before the next heading of the same or a higher level."""
    sections: list[Symbol] = []
    path: list[_Heading] = []
    for heading, end in zip(headings, _ends(headings, n_lines), strict=True):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        qualified = SECTION_SEPARATOR.join(item.name for item in path if item.name)
        name = heading.name
        sections.append(Symbol("section", name, qualified, heading.line, end, heading.name_line, signature=name))
    return sections


def _ends(headings: list[_Heading], n_lines: int) -> list[int]:
    ends = [n_lines] * len(headings)
    still_open: list[int] = []
    for index, heading in enumerate(headings):
        while still_open and headings[still_open[-1]].level >= heading.level:
            ends[still_open.pop()] = heading.line - 1
        still_open.append(index)
    return ends


def _heading_breaks(sections: list[Symbol]) -> Iterator[tuple[int, int]]:
    open_ends: list[int] = []
    for section in sections:
        while open_ends and open_ends[-1] < section.start_line:
            open_ends.pop()
        yield section.start_line, len(open_ends)
        open_ends.append(section.end_line)


_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]|#\.)[ \t]")


def _prose_breaks(lines: list[str], headings: list[_Heading]) -> Iterator[tuple[int, int]]:
    """Yield paragraphs and outer list items; never the first paragraph of a section, which stays with its heading."""
    titles = {number for heading in headings for number in range(heading.line, heading.last_line + 1)}
    after_heading, after_blank = True, True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            after_blank = True
            continue
        if number not in titles and not after_heading:
            if after_blank:
                yield number, _INDENTED if line[0] in " \t" else _PARAGRAPH
            elif _LIST_ITEM.match(line):
                yield number, _ITEM
        after_heading, after_blank = number in titles, False


def _references(links: Iterable[_Link], sections: list[Symbol]) -> tuple[Reference, ...]:
    first: dict[tuple[str, str], int] = {}
    counts: dict[tuple[str, str], int] = {}
    containers = _Containers(sections)
    for line, target in links:
        name = _local(target)
        if name:
            key = (containers.at(line), name)
            first.setdefault(key, line)
            counts[key] = counts.get(key, 0) + 1
    return tuple(Reference("import", key[1], line, key[0], counts[key]) for key, line in first.items())


class _Containers:
    """Answers in which section a line lies, for lines in rising order."""

    def __init__(self, sections: list[Symbol]) -> None:
        self._rest = sections[::-1]
        self._current = ""

    def at(self, line: int) -> str:
        while self._rest and self._rest[-1].start_line <= line:
            self._current = self._rest.pop().qualified_name
        return self._current


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\?")


def _local(target: str) -> str:
    """Return the path a link leads to inside the project, or "" when it leads elsewhere."""
    if _SCHEME.match(target) or "{" in target:
        return ""
    path = unquote(re.split(r"[#?]", target, maxsplit=1)[0])
    return path if path.strip("./") else ""


# Markdown ------------------------------------------------------------------------------------------------------------

_FENCE = re.compile(r"[ \t]*(?:>[ \t]*|[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(`{3,}|~{3,})([^`]*$)?")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_HTML_HEADING = re.compile(r" {0,3}<h([1-6])\b[^>]*>(.*)</h\1>", re.IGNORECASE)
_UNDERLINE = re.compile(r" {0,3}(?:(=)=+|--+)[ \t]*$")
_NO_TITLE = re.compile(r"[ \t]*(?:$|[>|<]|```|~~~|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t])| {4}|\t")
_INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^()\s<>]*)")
_LINK_DEFINITION = re.compile(r" {0,3}\[[^\]^][^\]]*\]:[ \t]*<?([^\s>]+)")
_HREF = re.compile(r"<a\s[^>]*?href=[\"']([^\"']+)", re.IGNORECASE)


def _mask_markdown(lines: list[str]) -> list[str]:
    """Blank what is not prose: front matter, comments, and fenced code but for its first line."""
    visible = list(lines)
    closing: re.Pattern[str] | None = _front_matter(lines)
    for index, line in enumerate(lines):
        if closing is not None:
            visible[index] = ""
            if (index or line[:3] not in _FRONT_MATTER) and closing.match(line):
                closing = None
        elif (fence := _FENCE.match(line)) and (fence[2] is not None or fence[1][0] == "~"):
            closing = re.compile(rf"[ \t>]*{fence[1][0]}{{{len(fence[1])},}}[ \t]*$")
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            visible[index] = ""
            closing = _COMMENT_END
    return visible


_FRONT_MATTER = {"---": re.compile(r"(?:---|\.\.\.)[ \t]*$"), "+++": re.compile(r"\+\+\+[ \t]*$")}
_COMMENT_END = re.compile(r".*-->")


def _front_matter(lines: list[str]) -> re.Pattern[str] | None:
    closing = _FRONT_MATTER.get(lines[0].rstrip()) if lines else None
    return closing if closing and any(closing.match(line) for line in lines[1:200]) else None


_FRONT_TITLE = re.compile(r"title[ \t]*[:=][ \t]*([\"']?)(.*?)\1[ \t]*$")


def _titled(lines: list[str], visible: list[str], headings: list[_Heading]) -> list[_Heading]:
    """Add the title in the front matter as the outermost heading, when the text has none."""
    if any(heading.level == 1 for heading in headings) or _front_matter(lines) is None:
        return headings
    for number, line in enumerate(lines[1:200], 2):
        if visible[number - 1]:
            break
        if (title := _FRONT_TITLE.match(line)) and title[2]:
            return [_Heading(1, number, number, 1, title[2][:_MAX_NAME]), *headings]
    return headings


def _markdown_headings(lines: list[str]) -> Iterator[_Heading]:
    for number, line in enumerate(lines, 1):
        mark = line.lstrip(" ")[:1]
        if mark == "#":
            if atx := _ATX.match(line):
                yield _Heading(number, number, number, len(atx[1]), _plain_title(_unclosed(atx[2] or "")))
        elif mark == "<":
            if html := _HTML_HEADING.match(line):
                yield _Heading(number, number, number, int(html[1]), _plain_title(html[2]))
        elif mark in ("=", "-") and (underline := _UNDERLINE.match(line)):
            start = _title_start(lines, number - 1)
            if start:
                name = _plain_title(" ".join(lines[start - 1 : number - 1]))
                yield _Heading(start, start, number, 1 if underline[1] else 2, name)


def _unclosed(title: str) -> str:
    opened = title.rstrip().rstrip("#")
    return opened if not opened or opened[-1] in " \t" else title


def _title_start(lines: list[str], end: int) -> int:
    """Return the first line of the paragraph that ends at `end`, or 0 when that is no title."""
    start = end
    while start and not _NO_TITLE.match(lines[start - 1]) and not _UNDERLINE.match(lines[start - 1]):
        start -= 1
    above = lines[start - 1] if start else ""
    ended = not above.strip() or _ATX.match(above) or _UNDERLINE.match(above)
    return start + 1 if ended and 0 < end - start <= _MAX_TITLE_LINES else 0


_MARKUP = (
    (re.compile(r"\s*\{[#.:][^}]*\}\s*$"), ""),  # attributes behind a title
    (re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()]*\)|\[[^\[\]]*\])"), r"\1"),
    (re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>"), ""),
    (re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def _plain_title(title: str) -> str:
    """Return the words of a title without links, emphasis, tags and attributes; code keeps its signs."""
    pieces = re.split(r"`+", title[: 4 * _MAX_NAME])
    for index in range(0, len(pieces), 2):
        for pattern, replacement in _MARKUP:
            # Twice, for an image inside a link.
            pieces[index] = pattern.sub(replacement, pattern.sub(replacement, pieces[index]))
    return " ".join("".join(pieces).split())[:_MAX_NAME]


def _markdown_links(lines: list[str]) -> Iterator[_Link]:
    for number, line in enumerate(lines, 1):
        if len(line) > _MAX_LINK_LINE or ("[" not in line and "<" not in line):
            continue
        text = _INLINE_CODE.sub("", line)
        for link in _LINK.finditer(text):
            if not link[1]:
                yield _Link(number, link[3])
        if definition := _LINK_DEFINITION.match(text):
            yield _Link(number, definition[1])
        for href in _HREF.finditer(text):
            yield _Link(number, href[1])


# reStructuredText ----------------------------------------------------------------------------------------------------

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_DIRECTIVE = re.compile(r"\s*\.\. (?:(include|literalinclude|automodule)|(toctree))::[ \t]*(\S*)")
_ROLE = re.compile(r":(?:doc|download):`(?:[^`<]*<)?([^`<>]+)>?`")
_RST_LINK = re.compile(r"(?<![:`])`[^`<]*<([^`<>\s]+)>`__?|^\.\. _[^:]+:[ \t]+(\S+)")
_TREE_ENTRY = re.compile(r"[ \t]+(?:[^<:]*<([^<>\s]+)>|([\w./-]+))[ \t]*$")


def _rst_headings(lines: list[str]) -> Iterator[_Heading]:
    """Adornments rank in the order of their first use, as docutils does it."""
    styles: list[tuple[str, bool]] = []
    for number in range(2, len(lines) + 1):
        style = _title_style(lines, number)
        if style is not None:
            if style not in styles:
                styles.append(style)
            name = " ".join(_plain_rst(lines[number - 2]).split())[:_MAX_NAME]
            start = number - 2 if style[1] else number - 1
            yield _Heading(start, number - 1, number, styles.index(style) + 1, name)


def _title_style(lines: list[str], underline: int) -> tuple[str, bool] | None:
    """Return (sign, has an overline) when the line underlines a title."""
    below, title = lines[underline - 1].rstrip(), lines[underline - 2]
    above = lines[underline - 3].rstrip() if underline > 2 else ""
    if not below or not title.strip() or not _ADORNMENT.match(below) or _ADORNMENT.match(title):
        return None
    if below == above and len(below) > 2:
        return below[0], True
    long_enough = len(below) >= min(len(title.rstrip()), 4) and below not in ("..", "::")
    starts_block = not above or above.startswith(".. ") or _ends_section_title(lines, underline - 2)
    return (below[0], False) if long_enough and starts_block and title[0] not in " \t" else None


def _ends_section_title(lines: list[str], number: int) -> bool:
    """Return True if the line underlines a title, so that another title may follow without a blank line."""
    above = lines[number - 2] if number > 1 else ""
    return len(lines[number - 1]) > 2 and bool(_ADORNMENT.match(lines[number - 1])) and bool(above.strip())


_RST_MARKUP = (
    (re.compile(r":[\w:+.-]+:`([^`<]*[^`<\s])\s*(?:<[^`<>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]*[^`<\s])\s*(?:<[^`<>]*>)?`_{0,2}"), r"\1"),
    (re.compile(r"(\*\*?|``|\|)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
)


def _plain_rst(title: str) -> str:
    title = title[: 4 * _MAX_NAME].replace("``", "")
    for pattern, replacement in _RST_MARKUP:
        title = pattern.sub(replacement, title)
    return title


def _rst_links(lines: list[str]) -> Iterator[_Link]:
    in_tree = False
    for number, line in enumerate(lines, 1):
        if directive := _DIRECTIVE.match(line):
            in_tree = bool(directive[2])
            if directive[1] and directive[3]:
                yield _Link(number, directive[3])
            continue
        if line[:1] not in ("", " ", "\t"):
            in_tree = False
        if in_tree and (entry := _TREE_ENTRY.match(line)):
            yield _Link(number, entry[1] or entry[2])
        if ("`" in line or line.startswith(".. _")) and len(line) <= _MAX_LINK_LINE:
            for link in (*_ROLE.finditer(line), *_RST_LINK.finditer(line)):
                yield _Link(number, next(filter(None, link.groups())))


# Data and everything else --------------------------------------------------------------------------------------------


def _key_breaks(lines: list[str], opener: re.Pattern[str]) -> Iterator[Break]:
    """Yield keys, tables or tags, the least indented with depth 0; a comment above a key belongs to it."""
    keys: list[tuple[int, int]] = []
    comment = 0
    for number, line in enumerate(lines, 1):
        if line.lstrip()[:1] in ("#", ";"):
            comment = comment or number
            continue
        if opener.match(line[:300]):
            keys.append((comment or number, _indent(line)))
        comment = 0
    outermost = min((indent for number, indent in keys if number > 1), default=0)
    for number, indent in keys:
        yield Break(number, max(indent - outermost, 0))


def _paragraph_breaks(lines: list[str]) -> Iterator[Break]:
    after_blank = True
    for number, line in enumerate(lines, 1):
        blank = not line.strip()
        if after_blank and not blank:
            yield Break(number, _indent(line))
        after_blank = blank


def _indent(line: str) -> int:
    start = line[:200].expandtabs(4)
    return len(start) - len(start.lstrip())
