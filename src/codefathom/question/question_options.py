"""The options of questions: one row each, from which every face has its own. Pure.

The command line makes options of the rows, HTTP fields of its bodies, the tools of agents their arguments. A face reads
the values that somebody gives, by the names of the rows; `question_of` puts them into a `Question`, and
`search.filter.filter_options.condition_of` makes a condition of those that are about files and symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from codefathom.question.extents import MOST_PASSED_BY
from codefathom.question.question import Kind, Question
from codefathom.types.choices import DIRECTIONS, EDGE_KINDS, GROUPINGS, LEVELS, MODES, Direction, EdgeKind, Mode
from codefathom.types.where import Where

# texts, paths: any number of values; filter: expressions that must all hold, one over HTTP; share: a number, also a
# fraction; word: one of the choices.
Form: TypeAlias = Literal["text", "texts", "paths", "filter", "count", "share", "switch", "word"]
Values: TypeAlias = Mapping[str, Any]  # what somebody has said, by the names of the rows


class OnLine(NamedTuple):
    """An option of the command line. With a setting, its value overrides that setting for this run."""

    names: tuple[str, ...]
    metavar: str = ""  # "": a switch
    setting: str = ""


class InBody(NamedTuple):
    """A field in the body of a request, by the name of the row."""

    example: Any
    most: int | None = None  # of a number, or characters of a text
    more: str = ""  # to be said only here
    kinds: tuple[Kind, ...] = ()  # of the questions that have it here; none: all of the row


class OfTool(NamedTuple):
    """An argument of a tool for agents."""

    name: str
    usual: Any = None
    most: int = 0
    words: Mapping[str, Any] | None = None  # what an agent may say, and the values that this means
    is_listed: bool = False  # else it is understood, and left out of the list, which has to be short


class QuestionOption(NamedTuple):
    """One option of questions, on every face that has it."""

    name: str
    kinds: tuple[Kind, ...]
    form: Form
    help: str  # for people and for programs: the same everywhere
    fills: str = ""  # the field of `Question` that its value goes to
    field: str = ""  # or the field of a filter that is compared with it
    operator: str = "in"
    usual: Any = None  # where nobody says it; None: as the settings of the project say
    least: int = 1
    most: int = 1
    choices: tuple[str, ...] = ()
    line: OnLine | None = None
    body: InBody | None = None
    tool: OfTool | None = None


# What agents call the modes of a search.
_AGENT_MODES: Mapping[str, Mode] = {
    "auto": "auto",
    "hybrid": "hybrid",
    "semantic": "vector",
    "symbol": "symbol",
    "regex": "regex",
}
_HIGHEST_SCORE = 1_000  # by words alone a score has no limit, see docs/query.md; tools have no such mode
_ANY: tuple[Kind, ...] = ("search", "context", "ask")

OPTIONS: tuple[QuestionOption, ...] = (
    QuestionOption(
        "limit",
        ("search",),
        "count",
        "maximum number of results",
        fills="limit",
        line=OnLine(("-n", "--limit"), "N", setting="search.limit"),
        body=InBody(10, most=1_000),
        tool=OfTool("limit", usual=20, most=100),
    ),
    QuestionOption(
        "max_tokens",
        ("context",),
        "count",
        "limit the output to about N tokens; files that do not fit are shortened or dropped",
        fills="max_tokens",
        line=OnLine(("--max-tokens",), "N", setting="context.window"),
        body=InBody(20_000, most=10_000_000),
    ),
    QuestionOption(
        "max_files",
        ("context",),
        "count",
        "maximum number of files",
        fills="max_files",
        line=OnLine(("--max-files",), "N", setting="context.max_files"),
        body=InBody(10, most=1_000),
    ),
    QuestionOption(
        "directory_filter",
        _ANY,
        "texts",
        "use only files below this folder",
        field="dir",
        line=OnLine(("--dir",), "DIR"),
        body=InBody(["src"]),
    ),
    QuestionOption(
        "language_filter",
        _ANY,
        "texts",
        "use only files in this language, such as go",
        field="language",
        line=OnLine(("--lang",), "NAME"),
        body=InBody(["python"]),
        tool=OfTool("languages"),
    ),
    QuestionOption(
        "repository_filter",
        _ANY,
        "texts",
        "use only this repository of a fleet; in a project, only this folder of its root",
        field="module",
        line=OnLine(("--repo",), "NAME"),
        body=InBody(["shop"]),
        tool=OfTool("repositories"),
    ),
    QuestionOption(
        "kind_filter",
        _ANY,
        "texts",
        "use only symbols of this kind, such as function or class",
        field="kind",
        line=OnLine(("--kind",), "NAME"),
        body=InBody(["function"]),
    ),
    QuestionOption(
        "changed_after",
        _ANY,
        "text",
        "use only files that were changed on this date (UTC) or later, such as 2026-11-01",
        field="modified",
        operator="gte",
        usual="",
        line=OnLine(("--changed-after",), "DATE"),
        body=InBody("2026-11-01", most=100),
        tool=OfTool("changed_after"),
    ),
    QuestionOption(
        "changed_before",
        _ANY,
        "text",
        "use only files that were changed before this date (UTC), such as 2026-11-01",
        field="modified",
        operator="lt",
        usual="",
        line=OnLine(("--changed-before",), "DATE"),
        body=InBody("2026-12-01", most=100),
        tool=OfTool("changed_before"),
    ),
    QuestionOption(
        "filter",
        _ANY,
        "filter",
        "use only what this filter matches, such as 'lines > 20'; see docs/filters.md",
        line=OnLine(("--filter",), "EXPR"),
        body=InBody("lines > 20 and not is_test", most=5_000),
    ),
    QuestionOption(
        "level",
        ("search",),
        "word",
        "what a result is: a whole file, a symbol or function, or a chunk of lines",
        fills="level",
        choices=LEVELS,
        line=OnLine(("--level",), "LEVEL", setting="search.level"),
        body=InBody("chunk"),
        tool=OfTool("level", usual="", words={"": None, **{level: level for level in LEVELS}}),
    ),
    QuestionOption(
        "offset",
        ("search",),
        "count",
        "skip the first N results, to get the next page",
        fills="offset",
        usual=0,
        least=0,
        most=MOST_PASSED_BY,
        line=OnLine(("--offset",), "N"),
        body=InBody(0, most=MOST_PASSED_BY, more="`next_offset` of the page before"),
    ),
    QuestionOption(
        "anyway",
        _ANY,
        "switch",
        "show the closest matches even when they are probably not relevant",
        fills="anyway",
        usual=False,
        line=OnLine(("--anyway",)),
        body=InBody(False, kinds=("context", "ask")),  # a search gives them, and says that they are weak
    ),
    QuestionOption(
        "files",
        ("search",),
        "paths",
        "search only this file or folder, and update it in the index first",
        fills="files",
        line=OnLine(("--file",), "PATH"),
        body=InBody([], more="in several projects a path begins with its project, or is absolute"),
    ),
    QuestionOption(
        "mode",
        ("search",),
        "word",
        "how results are found and ranked; auto chooses the mode for each question",
        fills="mode",
        choices=MODES,
        line=OnLine(("--mode",), "MODE", setting="search.mode"),
        body=InBody("auto"),
        tool=OfTool("mode", usual="auto", words=_AGENT_MODES, is_listed=True),
    ),
    QuestionOption(
        "group",
        ("search",),
        "word",
        "none: results by rank; repository: those of a repository together, and in it those of a file, each in the "
        "order of its best result",
        fills="group",
        usual="none",
        choices=GROUPINGS,
        line=OnLine(("--group",), "HOW"),
        body=InBody("none"),
        tool=OfTool("group", usual="none", words={name: name for name in GROUPINGS}),
    ),
    QuestionOption(
        "facets",
        ("search",),
        "switch",
        "count all places of the list by language, kind, folder, test and project",
        fills="facets",
        usual=False,
        body=InBody(True),
    ),
    QuestionOption(
        "min_score",
        ("search",),
        "share",
        "drop results with a lower score than this",
        fills="min_score",
        usual=0.0,
        least=0,
        most=_HIGHEST_SCORE,
        line=OnLine(("--min-score",), "X"),
        body=InBody(0.0, most=_HIGHEST_SCORE),
        tool=OfTool("min_score", usual=0.0),
    ),
    QuestionOption(
        "commits",
        ("search", "ask"),
        "switch",
        "look in the commits of git instead of the files: messages, authors, changed lines",
        fills="commits",
        usual=False,
        line=OnLine(("--commits",)),
        body=InBody(False),
        tool=OfTool("commits", usual=False),
    ),
    QuestionOption(
        "direction",
        ("related",),
        "word",
        "callers: only what uses the target; callees: only what the target uses",
        fills="direction",
        usual="both",
        choices=DIRECTIONS,
        line=OnLine(("--direction",), "WAY"),
        body=InBody("both"),
        tool=OfTool("direction", usual="both", words={way: way for way in DIRECTIONS}, is_listed=True),
    ),
    QuestionOption(
        "kind",
        ("related",),
        "texts",
        "show only connections of this kind; tests: those from test files",
        fills="edge_kinds",
        choices=EDGE_KINDS,
        line=OnLine(("--kind",), "KIND"),
        body=InBody(["calls"]),
        tool=OfTool("kind", is_listed=True),
    ),
    QuestionOption(
        "tour",
        ("map",),
        "switch",
        "list up to ten places to read one after the other, from where the program starts, in place of the map",
        fills="tour",
        usual=False,
        line=OnLine(("--tour",)),
        tool=OfTool("tour", usual=False, is_listed=True),
    ),
)


class EdgeOptions(TypedDict, total=False):
    """The options of connections, as a program gives them."""

    direction: Direction
    kind: EdgeKind | Sequence[EdgeKind]


def options_of(kind: Kind) -> tuple[QuestionOption, ...]:
    """Return the options of a kind of question."""
    return tuple(option for option in OPTIONS if kind in option.kinds)


def on_line(kind: Kind) -> tuple[tuple[QuestionOption, OnLine], ...]:
    """Return the options that the command line has for a kind of question."""
    return tuple((option, option.line) for option in options_of(kind) if option.line)


def in_body(kind: Kind) -> tuple[tuple[QuestionOption, InBody], ...]:
    """Return the options that the body of a request has for a kind of question."""
    fields = ((option, option.body) for option in options_of(kind))
    return tuple((option, body) for option, body in fields if body and kind in (body.kinds or option.kinds))


def of_tool(kind: Kind) -> tuple[tuple[QuestionOption, OfTool], ...]:
    """Return the options that a tool takes as arguments."""
    return tuple((option, option.tool) for option in options_of(kind) if option.tool)


def question_of(kind: Kind, text: str, values: Values, where: Where | None = None) -> Question:
    """Return a question with the values of its options; those of the filter are in `where`, see `condition_of`."""
    filled = {
        option.fills: _filled(option, values[option.name])
        for option in options_of(kind)
        if option.fills and option.name in values
    }
    return Question(text, kind, where=where, or_commits=kind in ("search", "ask"), **filled)


def _filled(option: QuestionOption, value: Any) -> Any:
    """Return the value of a field of a question; one text alone is a list of one."""
    if option.form not in ("texts", "paths"):
        return value
    return (value,) if isinstance(value, str) else tuple(value)
