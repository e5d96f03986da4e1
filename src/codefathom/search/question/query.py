"""Parses the query of a search: its text → its intent, its scope, and the words that remain to be searched. Pure.

Read as marks, each only at the start of a word: `@path`, `@@symbol`, `in:Class`, `field:value` and `-field:value`.
Everything else stays as it was written: e-mail addresses, `@app.route`, `std::vector`, `C++`, URLs, `C:\\dir`,
`foo:bar` when foo is no field, and any text in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from codefathom.errors import UsageError
from codefathom.facts.languages import FILE_ENDINGS
from codefathom.facts.paths import FILE_NAMES, is_named_as_file
from codefathom.search.filter.filter_options import MAX_PATH, is_glob, one_of, split_values
from codefathom.stores.conditions import BRANCH, FORK, combine, flag_named, normalise
from codefathom.text.foreign_json import read_json
from codefathom.text.kept_names import is_kept_text
from codefathom.text.written_place import place_of
from codefathom.types.where import Filter, FilterGroup, Where

# Characters. A trace of a hundred places has 20,000, the longest issues 60,000.
MAX_QUESTION = 100_000

Intent: TypeAlias = Literal["symbol", "path", "error", "question", "keywords"]

# The word before the colon, and the field of stores/conditions.py that it means.
INLINE_FIELDS = {
    "lang": "language",
    "language": "language",
    "path": "path",
    "dir": "dir",
    "file": "name",
    "name": "name",
    "ext": "ext",
    "kind": "kind",
    "symbol": "symbol",
    "module": "module",
    "repo": "module",  # in a fleet the first folder of a path is the repository
    "sub_module": "sub_module",
    "lines": "lines",
    "size": "size",
    "test": "is_test",
    "is_test": "is_test",
    "fork": FORK,
    "branch": BRANCH,
}


class Query(NamedTuple):
    """One question, taken apart."""

    text: str  # the words to search, as written, without marks
    as_written: str = ""  # the same with @path and @@symbol, only field:value removed
    paths: tuple[str, ...] = ()  # from @path; a folder keeps its "/" at the end
    symbols: tuple[str, ...] = ()  # from @@symbol, as written
    members_of: str | None = None  # in:Class, or the one @@Class of a question that has other words too
    where: Where | None = None  # from field:value
    intent: Intent = "keywords"

    @property
    def is_empty(self) -> bool:
        """True if the query holds no words and no marks."""
        return not (self.text or self.paths or self.symbols or self.members_of or self.where)

    @property
    def is_pasted(self) -> bool:
        """True for a text with a title and a body, such as an issue or a log: nobody types so much to ask."""
        n_ends = self.text.strip().count("\n")
        return n_ends >= _PASTED or (n_ends > 0 and len(self.text) > _LONG_QUESTION)


class UnwrappedQuery(NamedTuple):
    """The question inside a JSON query, or the text itself."""

    text: str
    only_contexts: bool = False


class BranchWords(NamedTuple):
    """A text without the words that name branches, and the condition that these mean."""

    text: str
    where: Where | None


def check_length(question: str) -> None:
    """Raise UsageError for a question that is longer than any that a person or a program means."""
    if len(question) > MAX_QUESTION:
        raise UsageError(
            f"the question has {len(question):,} characters, at most {MAX_QUESTION:,} are allowed",
            hint="shorten it; of an error, keep the message and the last places of its trace",
        )


def parse_query(text: str) -> Query:
    """Parse the query of a search. Raises UsageError for one that is too long, and for nothing else.

    A text of many lines was pasted, such as an issue or a log: it has no marks, whatever words it holds.
    """
    check_length(text)
    if text.strip().count("\n") >= _PASTED:
        return Query(text, text, intent=_intent(text))
    pieces: list[str] = []
    written: list[str] = []
    marks: list[_Mark] = []
    for token in _TOKEN.finditer(text):
        mark = _mark(token[0], whole=token[0] == text.strip(), last=token.end() == len(text.rstrip()))
        pieces.append(token[0] if mark is None else mark.text_after)
        written.append(mark.text_after if mark and mark.where else token[0])
        if mark is not None:
            marks.append(mark)
    remaining = _without_gaps(pieces)
    symbols = tuple(dict.fromkeys(mark.value for mark in marks if mark.kind == "symbol"))
    paths = tuple(dict.fromkeys(mark.value for mark in marks if mark.kind == "path"))
    if paths:  # a pattern beside a path is one more of them
        paths = tuple(dict.fromkeys(mark.value for mark in marks if mark.kind in ("path", "pattern")))
        marks = [mark for mark in marks if mark.kind != "pattern"]
    members = [mark.value for mark in marks if mark.kind == "members"]
    if not members and len(symbols) == 1 and remaining:
        members = list(symbols)
    return Query(
        text=remaining,
        as_written=_without_gaps(written),
        paths=paths,
        symbols=symbols,
        members_of=members[0] if members else None,
        where=_where(marks),
        intent=_intent(remaining) if remaining else "symbol" if symbols else "path" if paths else "keywords",
    )


def branch_words(text: str) -> BranchWords:
    """Take `branch:` and `-branch:` out of a text that is no question for a search, such as the name of a symbol."""
    words = [token[0] for token in _TOKEN.finditer(text)]
    of_branches = [word for word in words if (field := re.fullmatch(_FIELD, word)) and field[2] == BRANCH]
    if not of_branches:
        return BranchWords(text, None)
    rest = "".join(word for word in words if word not in of_branches)
    return BranchWords(rest.strip(), parse_query(" ".join(of_branches)).where)


def unwrap(text: str) -> UnwrappedQuery:
    """Return the question of {"query": …, "only_contexts": true}; any other text is the question itself."""
    if not text.lstrip().startswith("{"):
        return UnwrappedQuery(text)
    try:
        value = read_json(text)
    except ValueError:
        return UnwrappedQuery(text)
    question = value.get("query")
    if not isinstance(question, str):
        return UnwrappedQuery(text)
    return UnwrappedQuery(question, value.get("only_contexts", value.get("onlyContexts", False)) is True)


# ---- marks

_PASTED = 5  # line ends; a person who asks writes fewer
_LONG_QUESTION = 200  # characters; with several lines, more was pasted
# White space, a phrase in quotes, or a word, in which a value may be quoted: path:"my folder/"
_TOKEN = re.compile(r'\s+|"[^"\n]*"|(?:[^\s"]+(?:"[^"\n]*")?)+|"')
_SYMBOL = r"(?s)@@([^\W\d][\w$]*(?:(?:::|->|[.#\\])[\w$]+)*[?!]?)(.*)"
# A dot or bracket belongs to the path where more of the path follows; no character is read twice.
_PATH = (
    r"@((?:texts://|\.{0,2}/)?[\w$*\[(.~+-](?:[^\s,;:!?\"'<>|.)\]]++|[.)\]]++(?=[^\s,;:!?\"'<>|]|:\d))*+)"
    r"(?::L?\d+(?:[-\u2013]L?\d+)?)*+([.,;:!?)\]'\"]*)"
)
_PAUSES = ".,;:)]'\""  # go with the mark before them; ? and ! stay
_FIELD = r"(?s)(-?)([A-Za-z_]+):(.+)"


class _Mark(NamedTuple):
    kind: Literal["path", "pattern", "symbol", "members", "where"]
    value: str  # of a condition that has to hold, its field; "" of one that must not
    where: Where | None = None
    text_after: str = ""  # text after the mark, which stays in the query


def _mark(word: str, *, whole: bool, last: bool) -> _Mark | None:
    if word.startswith("@@"):
        return _symbol_mark(word, ends_question=last and not whole)
    if word.startswith("@"):
        return _path_mark(word)
    field = re.fullmatch(_FIELD, word) if ":" in word else None
    return _field_mark(*field.groups()) if field else None


def _symbol_mark(word: str, *, ends_question: bool) -> _Mark | None:
    match = re.fullmatch(_SYMBOL, word)
    if match is None or match[2].startswith("@"):
        return None
    # `@@valid?` is a name in Ruby; at the end of a question the mark belongs to the sentence.
    name, text_after = match.groups()
    if ends_question and name[-1] in "?!":
        name, text_after = name[:-1], name[-1] + text_after
    return _Mark("symbol", name, text_after=text_after.removeprefix("()").strip(_PAUSES))


def _path_mark(word: str) -> _Mark | None:
    match = re.fullmatch(_PATH, word)
    path, text_after = (place_of(match[1]).path, match[2]) if match else ("", "")
    if not is_path(path):
        return None
    if is_glob(path) and ("*" in path or "?" in path):  # brackets alone may be the name of a file
        if len(path) > MAX_PATH:
            return None
        return _Mark("pattern", path, one_of("path", (path,)), text_after.strip(_PAUSES))
    return _Mark("path", path, text_after=text_after.strip(_PAUSES))


def is_path(word: str) -> bool:
    """Return True if a word can only be a path: it holds a slash, or is named like a file."""
    name = word.rpartition("/")[2]
    return "/" in word or name in FILE_NAMES or is_named_as_file(name)


def _field_mark(minus: str, name: str, value: str) -> _Mark | None:
    if name.lower() == "in" and not minus and re.fullmatch(r"[^\W\d][\w$]*(?:(?:::|[.#\\])[\w$]+)*", value):
        return _Mark("members", value)
    field = INLINE_FIELDS.get(name.lower())
    values = split_values(value)
    if field is None or not values or value.startswith(("//", ":", "\\", "=")):
        return None
    try:
        where = _numbers(field, values) if field in ("lines", "size") else _condition(field, values)
    except UsageError:  # lines:many is no condition, so it is text
        return None
    if where is None:
        return None
    return _Mark("where", "", FilterGroup("NOT", (where,))) if minus else _Mark("where", field, where)


def _where(marks: Sequence[_Mark]) -> Where | None:
    """Return the condition of all marks: marks of one field are alternatives, as are patterns; all else must hold."""
    groups: dict[object, dict[Where, None]] = {}
    for mark in marks:
        if mark.where is not None:
            of_field = mark.kind if mark.kind == "pattern" else mark.value or mark.where
            groups.setdefault(of_field, {})[mark.where] = None
    return combine(*(_either(tuple(same)) for same in groups.values()))


def _either(wheres: tuple[Where, ...]) -> Where:
    return wheres[0] if len(wheres) == 1 else FilterGroup("OR", wheres)


def _condition(field: str, values: tuple[str, ...]) -> Where | None:
    if field in (FORK, "is_test"):
        flags = dict.fromkeys(flag_named(field, "yes" if value.lower() == "only" else value) for value in values)
        return _either(tuple(Filter(field, "eq", flag) for flag in flags))
    if field == BRANCH:
        return Filter(BRANCH, "in", values)
    where = one_of(field, values)
    return where and normalise(where)


def _numbers(field: str, values: tuple[str, ...]) -> Where:
    """Read lines:20, lines:>20, lines:<=20 or lines:10..20; commas mean or."""
    parts: list[Where] = []
    for value in values:
        low, dots, high = value.partition("..")
        sign = re.match(r"[<>]=?", value)
        if dots:
            parts.append(FilterGroup("AND", (Filter(field, "gte", low), Filter(field, "lte", high))))
        elif sign:
            operator = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}[sign[0]]
            parts.append(Filter(field, operator, value[sign.end() :]))
        else:
            parts.append(Filter(field, "eq", value))
    return normalise(parts[0] if len(parts) == 1 else FilterGroup("OR", tuple(parts)))


def _without_gaps(pieces: list[str]) -> str:
    """Join the pieces that stay; the white space after a removed mark is removed too."""
    parts: list[str] = []
    for piece in pieces:
        if piece.isspace() and (not parts or parts[-1][-1:].isspace()):
            continue
        if piece:
            parts.append(piece)
    return "".join(parts).strip()


# ---- intent

_QUALIFIED = r"(?:::|\.)?[^\W\d][\w$]*(?:(?:::|->|[.#\\])~?[\w$]+)*[?!]?(?:\(\))?"
_ERROR = re.compile(
    r"Traceback \(most recent call last\)|^[^\S\n]*File \".+\", line \d+|\b\w*(?:Error|Exception): "
    r"|\bpanic(?:ked)?(?::| at )|\berror\[\w+\]|\b(?:fatal )?error( \w+)?: |[Ss]egmentation fault"
    r"|\bundefined reference to|\bUnhandled (?:exception|rejection)"
    r"|\bexit(?:ed with)? (?:code|status) [1-9]|^goroutine \d+ \[",
    re.MULTILINE,
)
_ASKING = re.compile(
    r"(?:how|what|where|why|which|who|whose|when|does|do|is|are|can|could|should|show|find|list|explain|describe|tell)"
    r"(?:'s)?\b",
    re.IGNORECASE,
)
_ASKING_ZH = (
    *("怎么", "怎样", "如何", "哪", "什么", "为何", "是否", "是不是", "有没有", "能不能", "可以吗", "多少", "几个"),
    *("谁", "吗", "呢", "解释", "说明", "介绍"),
)


_TRACE_LINE = r"(?m)^[^\S\n]*at .(.+)"
_LINE_NUMBER = r":\d"


def _is_error(text: str) -> bool:
    return _ERROR.search(text) is not None or any(
        _names_line(word) for line in re.findall(_TRACE_LINE, text) for word in line.split()
    )


def _names_line(word: str) -> bool:
    """Return True if a word of a trace holds `(` or `:`, then a colon and a number, such as `f(a.js:3)`."""
    _, _, after = word.replace("(", ":", 1).partition(":") if "(" in word.partition(":")[0] else word.partition(":")
    return re.search(_LINE_NUMBER, after) is not None


def _intent(text: str) -> Intent:
    if _is_error(text):
        return "error"
    words = text.split()
    if len(words) == 1 and not _n_chinese(text):
        if ("://" not in text or is_kept_text(text)) and is_path(place_of(text).path.replace("\\", "/")):
            return "path" if not text.endswith("()") and not _is_namespace(text) else "symbol"
        return "symbol" if re.fullmatch(_QUALIFIED, text) else "keywords"
    return "question" if _is_question(text, words) else "keywords"


def _is_namespace(text: str) -> bool:
    """Return True if backslashes separate names, as in PHP, and the text does not end like a file name."""
    return "\\" in text and re.fullmatch(_QUALIFIED, text) is not None and text.rpartition(".")[2] not in FILE_ENDINGS


def _is_question(text: str, words: list[str]) -> bool:
    if text.rstrip().endswith(("?", "？")) or _ASKING.match(text) or any(word in text for word in _ASKING_ZH):
        return True
    if _n_chinese(text) >= 6:
        return True
    return sum(1 for _ in _plain_words(words)) >= 4


def _n_chinese(text: str) -> int:
    # No regular expression: one with this range takes 2 ms to compile.
    return sum("\u3400" <= char <= "\u9fff" for char in text)


def _plain_words(words: list[str]) -> Iterator[str]:
    for word in words:
        if word.strip(".,;:!?()\"'").replace("-", "").replace("'", "").isalpha():
            yield word
