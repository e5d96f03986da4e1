"""The options of each command, as data: the parser, the help texts and docs/cli.md are all made from these tables."""

# Without `from __future__ import annotations`: see config/settings.py.

from collections.abc import Mapping
from typing import Any, NamedTuple

from codefathom.question.extents import (
    DEEPEST,
    MOST_ITEMS,
    MOST_PASSED_BY,
    USUAL_DEPTH,
    USUAL_LIMIT,
    USUAL_MAP_TOKENS,
)
from codefathom.question.question import Kind
from codefathom.question.question_options import OnLine, QuestionOption, on_line


class Option(NamedTuple):
    """One option or operand. Without a metavar it is a switch; with a setting its value overrides that setting."""

    names: tuple[str, ...]  # an operand has one name without "-"
    help: str
    metavar: str = ""
    setting: str = ""
    choices: tuple[str, ...] = ()
    kind: type = str  # tuple: of an operand, each word is a value
    repeat: bool = False
    required: bool = False
    turns_off: str = ""  # destination of the switch that this one turns off
    low: float | None = None  # limits of a number that is not a setting
    high: float | None = None
    default: str = ""  # shown instead of that of the setting
    row: str = ""  # its name in the table of options of questions
    also: Mapping[str, str] = {}  # choices by other names that people write, in small letters without signs

    @property
    def destination(self) -> str:
        """Name of the value after parsing."""
        if self.turns_off or self.row:
            return self.turns_off or self.row
        name = self.names[-1].lstrip("-").replace("-", "_")
        return _FIELDS.get(name, name)


_FIELDS = {"as": "format", "in": "paths"}  # words of the language cannot be names of fields


class Common(NamedTuple):
    """Options of every command."""

    source_dir: str = ""
    overrides: Mapping[str, object] = {}
    said_as: Mapping[str, str] = {}  # setting → the option that sets it, where one other than --set does
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    rev: str = ""


class IndexOptions(NamedTuple):
    """`fathom index`."""

    common: Common
    full: bool = False
    watch: bool = False
    dry_run: bool = False
    interactive: bool = False
    remove: bool = False
    only: tuple[str, ...] = ()
    text: str = ""
    remove_text: tuple[str, ...] = ()
    scip: tuple[str, ...] = ()
    remove_scip: bool = False


class SearchOptions(NamedTuple):
    """`fathom search`."""

    common: Common
    query: str
    values: Mapping[str, Any] = {}  # of the options of its question, by the names of the table
    explain: bool = False
    format: str = "text"
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    max_tokens: int = 0


class SymbolsOptions(NamedTuple):
    """`fathom symbols`."""

    common: Common
    query: str = ""
    path: str = ""
    kind: str = ""
    limit: int = USUAL_LIMIT["symbols"]
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    max_tokens: int = 0
    offset: int = 0


class FilesOptions(NamedTuple):
    """`fathom files`."""

    common: Common
    folder: str = ""
    max_tokens: int = 0


class CompletionOptions(NamedTuple):
    """`fathom completion`."""

    common: Common
    shell: str


class RelatedOptions(NamedTuple):
    """`fathom related`."""

    common: Common
    target: str
    depth: int = USUAL_DEPTH["related"]
    limit: int = USUAL_LIMIT["related"]
    values: Mapping[str, Any] = {}  # of the options of its question, by the names of the table
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    max_tokens: int = 0
    offset: int = 0


class ImpactOptions(NamedTuple):
    """`fathom impact`."""

    common: Common
    change: str = "HEAD"
    depth: int = USUAL_DEPTH["impact"]
    limit: int = USUAL_LIMIT["impact"]
    tests_only: bool = False
    fail_on: str = "never"
    format: str = "text"
    max_tokens: int = 0
    offset: int = 0


class HistoryOptions(NamedTuple):
    """`fathom history`."""

    common: Common
    target: str
    since: str = ""
    author: str = ""
    limit: int = USUAL_LIMIT["history"]
    offset: int = 0
    max_tokens: int = 0


class MapOptions(NamedTuple):
    """`fathom map`."""

    common: Common
    query: str = ""
    values: Mapping[str, Any] = {}  # of the options of its question, by the names of the table
    file: tuple[str, ...] = ()
    dir: tuple[str, ...] = ()
    max_tokens: int = USUAL_MAP_TOKENS
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    offset: int = 0


class ContextOptions(NamedTuple):
    """`fathom context`, and `fathom --rag` without a language model."""

    common: Common
    query: str
    values: Mapping[str, Any] = {}  # of the options of its question, by the names of the table
    format: str = "files"
    notice: str = ""  # printed on stderr before the context
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()


class AskOptions(NamedTuple):
    """`fathom ask`, `fathom --rag`, and `fathom chat`, where `query` is empty."""

    common: Common
    query: str = ""
    values: Mapping[str, Any] = {}  # of the options of its question, by the names of the table
    pin: tuple[str, ...] = ()
    doc: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    contexts_only: bool = False
    thorough: bool = False
    agent: bool = False
    trace: str = ""
    rag: bool = False  # `fathom --rag`: without a language model it is `fathom context`
    explain: bool = False
    shell: bool = False
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    max_tokens: int = 0
    dry_run: bool = False


class StatusOptions(NamedTuple):
    """`fathom status`."""

    common: Common
    skipped: bool = False
    secrets: bool = False
    max_tokens: int = 0


class DoctorOptions(NamedTuple):
    """`fathom doctor`."""

    common: Common
    providers: bool = False
    fix: bool = False


class PlainOptions(NamedTuple):
    """Commands without options of their own: version, config."""

    common: Common


class McpOptions(NamedTuple):
    """`fathom mcp`."""

    common: Common
    project: tuple[str, ...] = ()
    all: bool = False
    alone: bool = False


class BenchOptions(NamedTuple):
    """`fathom bench`."""

    common: Common
    questions: str = ""
    limit: int = 30


class ServeOptions(NamedTuple):
    """`fathom serve`."""

    common: Common
    folder: str = ""
    new_token: str | None = None
    check: bool = False
    backup: str = ""
    restore: str = ""


class TokensOptions(NamedTuple):
    """`fathom tokens`."""

    common: Common
    action: str
    name: str = ""
    role: str = "reader"
    project: tuple[str, ...] = ()
    days: int = 90


class ExportOptions(NamedTuple):
    """`fathom export`."""

    common: Common
    format: str = ""
    output: str = "-"
    snapshot: str = ""
    sign: str = ""
    max_tokens: int = 0


class ImportOptions(NamedTuple):
    """`fathom import`."""

    common: Common
    format: str = ""
    file: str = "-"
    check: str = "sample"


class BackupOptions(NamedTuple):
    """`fathom backup` and `fathom restore`."""

    common: Common
    file: str


class ProjectsOptions(NamedTuple):
    """`fathom projects`."""

    common: Common
    action: str = "list"
    target: str = ""
    name: str = ""
    group: tuple[str, ...] = ()


class FleetOptions(NamedTuple):
    """`fathom fleet`."""

    common: Common
    action: str = "list"
    name: str = ""
    sources: tuple[str, ...] = ()
    at: str = ""
    full: bool = False
    watch: bool = False


class InstallOptions(NamedTuple):
    """`fathom install`, and `fathom uninstall`, which removes."""

    common: Common
    host: str = ""
    project: bool = False
    yes: bool = False
    print: bool = False
    instructions: bool = False
    hook: bool = False


class StoreCommandOptions(NamedTuple):
    """`fathom store`."""

    common: Common
    action: str
    target: str = ""
    to: str = ""
    project: str = ""
    fix: bool = False


class Command(NamedTuple):
    """One command: its purpose, its operands and options, and the type of its parsed options."""

    name: str
    summary: str
    operands: tuple[Option, ...]
    options: tuple[Option, ...]
    options_type: Any
    examples: tuple[str, ...] = ()


HOST_NAMES = (
    "claude",
    "codex",
    "cursor",
    "vscode",
    "gemini",
    "zed",
    "windsurf",
    "opencode",
    "cline",
    "amp",
    "junie",
)
_HOSTS_BY_OTHER_NAMES = {
    "claudecode": "claude",
    "openaicodex": "codex",
    "codexcli": "codex",
    "copilot": "vscode",
    "githubcopilot": "vscode",
    "code": "vscode",
    "visualstudiocode": "vscode",
    "geminicli": "gemini",
    "googlegemini": "gemini",
    "zededitor": "zed",
    "ampcode": "amp",
    "sourcegraphamp": "amp",
    "jetbrains": "junie",
    "jetbrainsjunie": "junie",
    "intellij": "junie",
    "pycharm": "junie",
}
SHELLS = ("bash", "zsh", "fish")
FAIL_ON = ("never", "reached", "tests")
IMPACT_FORMATS = ("text", "markdown")
PROJECT_ACTIONS = ("list", "add", "remove", "rename")
FLEET_ACTIONS = ("list", "add", "index", "status", "verify", "remove")
TOKEN_ACTIONS = ("list", "new", "revoke")
TOKEN_ROLES = ("reader", "indexer", "maintainer", "admin")
STORE_ACTIONS = ("verify", "move", "remove", "test", "list", "init")
EXPORT_FORMATS = ("index-json", "jsonl", "faiss")
SEARCH_FORMATS = ("text", "path")
CONTEXT_FORMATS = ("files", "autocoder", "markdown", "xml", "json")

COMMON_OPTIONS = (
    Option(
        ("-C", "--source-dir"), "use the project in this folder", "DIR", default="the project around the current folder"
    ),
    Option(("--set",), "change a setting for this run only, such as search.limit=20", "KEY=VALUE", repeat=True),
    Option(("--json",), "print the result as JSON"),
    Option(("-q", "--quiet"), "print only errors on stderr"),
    Option(("-v", "--verbose"), "print more: whole excerpts, times, and tracebacks of unexpected errors"),
    Option(("-h", "--help"), "show this help"),
)

_SEVERAL = (
    Option(
        ("-p", "--project"),
        "ask this project instead: a folder, or a name or group from `fathom projects`",
        "NAME",
        repeat=True,
    ),
    Option(("--all",), "ask all projects that `fathom projects` lists"),
    Option(
        ("--in",),
        "ask only about this file or folder; fathom finds the projects that it belongs to",
        "PATH",
        repeat=True,
    ),
)
_REVISION = Option(
    ("--rev",),
    "read this branch, tag or commit of git instead of the files in the folder; no checkout is needed",
    "REV",
)


def _of_question(kind: Kind) -> tuple[Option, ...]:
    """Return the options of the table that a kind of question has."""
    return tuple(_of_table(option, line) for option, line in on_line(kind))


def _of_table(option: QuestionOption, line: OnLine) -> Option:
    number = None if line.setting else {"count": int, "share": float}.get(option.form)  # a setting has its own limits
    return Option(
        line.names,
        option.help,
        line.metavar,
        line.setting,
        option.choices,
        number or str,
        repeat=option.form in ("texts", "paths", "filter"),
        low=option.least if number else None,
        high=option.most if number else None,
        default=f"{option.usual:g}" if number else "",
        row="" if line.setting else option.name,
    )


_REFRESH = Option(
    ("--refresh",),
    "whether the index is updated first; auto: yes, unless many files have changed",
    "WHEN",
    setting="search.refresh",
    choices=("auto", "always", "never"),
)
_CLUSTER = Option(
    ("--cluster",),
    "the machines of this Ray cluster read the shards of fleets; see docs/scale.md",
    "HOST:PORT",
    setting="search.fleet_cluster",
)
_MODEL = Option(
    ("--model",), "use this language model, such as ollama:qwen2.5-coder:14b", "PROVIDER:NAME", setting="llm.model"
)
_MAX_SOURCES = Option(
    ("-n", "--max-sources"), "maximum number of sources that are sent to the model", "N", setting="rerank.top_n"
)
_FILTER_LEVEL = Option(
    ("--filter-level",),
    "how the sources of the answer are chosen; 0: by the search, with one call of the model; 1: the model selects and "
    "judges them first, in many calls; 2: like 1, with related files; -1: 1 if a model is configured, otherwise 0",
    "N",
    setting="select.filter_level",
)
_THOROUGH = Option(
    ("--thorough",), "the model chooses and judges the sources first, which needs many calls; same as --filter-level 2"
)
_PIN = Option(("--pin",), "always use this file, or all files of this folder, as sources", "PATH", repeat=True)
_URL = Option(("--url",), "download this web page and use its text as a source", "URL", repeat=True)
_SHELL = Option(("-s", "--shell"), "the model writes one shell command; fathom prints it and never runs it")
_HOW_TO_ANSWER = (
    Option(("--agent",), "the model searches the project itself, with tools, in several rounds"),
    Option(("--explain",), "print each stage of the work on stderr, with its time, tokens and cost"),
)
_REQUIRED_EXTS = Option(
    ("--required-exts",),
    "index only files whose names end with one of these, such as .rs,.py; this applies to later runs, too, until it is "
    'set to ""',
    "LIST",
    setting="source.required_exts",
)
_MAX_TOKENS = Option(
    ("--max-tokens",),
    "limit the output to about N tokens; the lowest-ranked results are dropped first",
    "N",
    kind=int,
    low=1,
    high=1_000_000,
    default="no limit",
)
_MAX_TOKENS_OF_LIST = _MAX_TOKENS._replace(help="limit the output to about N tokens; the end of the list is dropped")
_OFFSET = Option(
    ("--offset",), "skip the first N results, to get the next page", "N", kind=int, low=0, high=MOST_PASSED_BY
)
_QUERY = Option(
    ("query",),
    "words or a question; it may contain @path, @@symbol, lang:go, kind:function, in:Class",
    "QUERY",
    repeat=True,
    required=True,
)
_HOST = Option(
    ("host",),
    "the agent or editor; without it, all that fathom finds here",
    "HOST",
    choices=HOST_NAMES,
    also=_HOSTS_BY_OTHER_NAMES,
)
_SETUP = (
    Option(
        ("--project",),
        "change the settings files of the project, which everyone who works on it uses, instead of your own",
    ),
    Option(("-y", "--yes"), "do not ask before writing; needed in scripts"),
)

COMMANDS = (
    Command(
        "index",
        "make or update the index",
        (),
        (
            Option(("--watch",), "keep running and update the index whenever files change"),
            Option(("--only",), "update only this file or folder", "PATH", repeat=True),
            Option(("--full",), "read every file again, even files that have not changed"),
            Option(("--dry-run",), "show what would be done, but do not do it"),
            Option(("--interactive",), "show what would be done, and ask before doing it"),
            Option(
                ("--ignore",),
                "ignore files that match these patterns, too; separated by commas",
                "LIST",
                setting="source.ignore",
            ),
            _REQUIRED_EXTS,
            Option(("--remove",), "delete the index of the project; your files are not touched"),
            Option(
                ("--workers",),
                "number of processes that parse files",
                "N",
                setting="index.workers",
                default="one for each processor",
            ),
            Option(
                ("--wait",),
                "how long to wait while another process updates the index; 0: do not wait, and fail",
                "SECONDS",
                setting="index.wait_s",
            ),
            Option(("--text",), "read a text from stdin and add it to the index as texts://NAME", "NAME"),
            Option(("--remove-text",), "remove the text that --text added under this name", "NAME", repeat=True),
            Option(
                ("--scip",),
                "index, then take the edges between definitions and their uses from this SCIP index, which a compiler "
                "has written",
                "FILE",
                repeat=True,
            ),
            Option(("--remove-scip",), "remove the edges that --scip added; the edges of the parser are used again"),
            _REVISION,
        ),
        IndexOptions,
        (
            "fathom index",
            "fathom index --dry-run",
            "fathom index --watch",
            "fathom index --only src/app.py",
            "git diff | fathom index --text review.diff",
            "fathom index --scip index.scip",
        ),
    ),
    Command(
        "search",
        "find places in the code",
        (_QUERY,),
        (
            *_of_question("search"),
            *_SEVERAL,
            _MAX_TOKENS,
            Option(
                ("--format",),
                "text: some lines of each result; path: one line for each result, path:line:column: text",
                "FORMAT",
                choices=SEARCH_FORMATS,
            ),
            Option(("--explain",), "show how the score of each result was computed"),
            _REVISION,
            _REFRESH,
            _CLUSTER,
        ),
        SearchOptions,
        (
            "fathom search how are ignore rules applied",
            "fathom search --lang go --kind function 'retry with backoff'",
            "fathom search @@Engine open",
            "fathom search -p shop -p web where is the price made",
            "fathom search --rev v1.2 where is the price made",
            "fathom search --in /data/uploads --in /data/chats/7 what was agreed on",
        ),
    ),
    Command(
        "symbols",
        "list definitions by name",
        (
            Option(
                ("query",), "a symbol's name, or a part of it; without it, all symbols are listed", "NAME", repeat=True
            ),
        ),
        (
            Option(
                ("--kind",), "list only symbols of this kind, such as function or class; import lists imports", "NAME"
            ),
            Option(("--path",), "list only symbols in this file or below this folder", "PATH"),
            Option(("-n", "--limit"), "maximum number of symbols", "N", kind=int, low=1, high=MOST_ITEMS),
            *_SEVERAL,
            _MAX_TOKENS,
            _OFFSET,
            _REVISION,
        ),
        SymbolsOptions,
        ("fathom symbols parse", "fathom symbols --kind class --path src"),
    ),
    Command(
        "files",
        "list the files that are in the index",
        (Option(("folder",), "list only files below this folder", "DIR"),),
        (_MAX_TOKENS_OF_LIST, _REVISION),
        FilesOptions,
        ("fathom files", "fathom files src -v"),
    ),
    Command(
        "related",
        "show what uses a file or symbol, and what it uses",
        (
            Option(
                ("target",),
                "a file, a module such as a.b, or @@symbol for its callers and other uses",
                "PATH|@@SYMBOL",
                required=True,
            ),
        ),
        (
            Option(
                ("--depth",),
                "how many steps to follow from PATH or SYMBOL",
                "N",
                kind=int,
                low=1,
                high=DEEPEST,
            ),
            Option(("-n", "--limit"), "maximum number of results", "N", kind=int, low=1, high=MOST_ITEMS),
            *_of_question("related"),
            *_SEVERAL,
            _MAX_TOKENS,
            _OFFSET,
            _REVISION,
        ),
        RelatedOptions,
        ("fathom related src/app.py --depth 2", "fathom related @@authenticate --kind tests -n 20"),
    ),
    Command(
        "impact",
        "show what a change affects, and which tests to run",
        (
            Option(
                ("change",),
                "a file with a unified diff; -: a diff on stdin; or revisions of git: A..B, A...B, or A, which is "
                "compared with the files in the folder",
                "CHANGE",
            ),
        ),
        (
            Option(("--tests-only",), "print only the paths of the test files, one per line"),
            Option(("--depth",), "how many steps to follow from the changed code", "N", kind=int, low=1, high=DEEPEST),
            Option(
                ("-n", "--limit"),
                "maximum number of affected places, and of tests",
                "N",
                kind=int,
                low=1,
                high=MOST_ITEMS,
            ),
            Option(
                ("--fail-on",),
                "exit with code 1 if the change affects anything (reached), or if any test runs it (tests)",
                "WHAT",
                choices=FAIL_ON,
            ),
            Option(("--format",), "markdown: for a comment on a pull request", "FORMAT", choices=IMPACT_FORMATS),
            _MAX_TOKENS,
            _OFFSET,
            _REVISION,
        ),
        ImpactOptions,
        ("fathom impact", "fathom impact main...HEAD --tests-only", "git diff | fathom impact -"),
    ),
    Command(
        "history",
        "show which commits made a line or a symbol, and who owns the file",
        (Option(("target",), "PATH:LINE, PATH:FIRST-LAST, PATH or @@NAME", "PLACE", required=True),),
        (
            Option(("--since",), "show only commits of this day or later, such as 2026-11-01", "DATE"),
            Option(("--author",), "show only commits whose author has this in the name", "NAME"),
            Option(("-n", "--limit"), "maximum number of commits", "N", kind=int, low=1, high=MOST_ITEMS),
            _MAX_TOKENS,
            _OFFSET,
            _REVISION,
        ),
        HistoryOptions,
        ("fathom history src/app.py:120", "fathom history @@authenticate --since 2026-01-01"),
    ),
    Command(
        "map",
        "outline the most important files of a project",
        (
            Option(
                ("query",), "prefer files that this question is about; -: read it from stdin", "QUESTION", repeat=True
            ),
        ),
        (
            *_of_question("map"),
            _MAX_TOKENS._replace(default=""),
            Option(("--file",), "prefer files that are connected with this one", "PATH", repeat=True),
            Option(("--dir",), "show only files below this folder", "DIR", repeat=True),
            *_SEVERAL,
            _OFFSET,
            _REVISION,
            _REFRESH,
        ),
        MapOptions,
        (
            "fathom map --max-tokens 2000",
            "fathom map where are orders priced",
            "fathom map --file shop/orders.py",
            "fathom map --tour",
            "fathom map -p shop -p web",
        ),
    ),
    Command(
        "context",
        "collect whole files for a prompt",
        (_QUERY,),
        (
            *_of_question("context"),
            Option(
                ("--format",),
                "format of the output; autocoder: ##File: PATH before each file",
                "FORMAT",
                choices=CONTEXT_FORMATS,
            ),
            *_SEVERAL,
            _REVISION,
            _REFRESH,
        ),
        ContextOptions,
        ("fathom context 'how are users authenticated' --format markdown",),
    ),
    Command(
        "ask",
        "answer a question, with checked citations",
        (_QUERY,),
        (
            _MODEL,
            *_of_question("ask"),
            *_SEVERAL,
            _PIN,
            Option(("--doc",), "use this text file as a source; -: read it from stdin", "FILE", repeat=True),
            _URL,
            _THOROUGH,
            Option(("--dry-run",), "ask no model: say how many calls and tokens the answer would take"),
            *_HOW_TO_ANSWER,
            _SHELL,
            _MAX_SOURCES,
            _MAX_TOKENS._replace(
                help="limit the output to about N tokens; the last sources are dropped first, then the last lines"
            ),
            _FILTER_LEVEL,
            Option(("--trace",), "write each stage of the work to this file, with its input and output", "FILE"),
            _REVISION,
            _REFRESH,
        ),
        AskOptions,
        (
            "fathom ask where are orders priced",
            "git diff | fathom ask --doc - 'what could this break?'",
            "fathom ask --url https://example.org/guide 'do we follow this?'",
            "fathom ask --shell run only the tests of the parser",
        ),
    ),
    Command(
        "chat",
        "answer questions in a conversation",
        (),
        (
            _MODEL,
            *_of_question("ask"),
            *_SEVERAL,
            _PIN,
            Option(("--doc",), "use this text file as a source", "FILE", repeat=True),
            _URL,
            _THOROUGH,
            *_HOW_TO_ANSWER,
            _MAX_SOURCES,
            _MAX_TOKENS._replace(
                help="limit each answer to about N tokens; the last sources are dropped first, then the last lines"
            ),
            _FILTER_LEVEL,
            Option(("--trace",), "append each stage of the work to this file, as lines of JSON", "FILE"),
            _REVISION,
            _REFRESH,
        ),
        AskOptions,
        ("fathom chat", "fathom chat --json < questions.txt"),
    ),
    Command(
        "status",
        "show what the index contains",
        (),
        (
            Option(("--skipped",), "list the files that are not indexed, with the reason for each"),
            Option(("--secrets",), "list where secrets were found, without their values"),
            _MAX_TOKENS_OF_LIST,
            _REVISION,
        ),
        StatusOptions,
        ("fathom status", "fathom status --skipped"),
    ),
    Command(
        "doctor",
        "check that everything works",
        (),
        (
            Option(("--providers",), "also send a short request to each language model in the settings"),
            Option(("--fix",), "first repair damaged parts of the index"),
        ),
        DoctorOptions,
        ("fathom doctor", "fathom doctor --fix"),
    ),
    Command(
        "config",
        "show each setting, its value, and where the value comes from",
        (Option(("action",), "show the settings; you can leave this word out", "show", choices=("show",)),),
        (),
        PlainOptions,
        ("fathom config show",),
    ),
    Command(
        "export",
        "write the index, its symbols or its chunks to a file",
        (),
        (
            Option(
                ("--as",),
                "index-json: the symbols of each file; jsonl: the chunks; faiss: vectors of files and functions, with "
                "their texts in metadata.json",
                "FORMAT",
                choices=EXPORT_FORMATS,
            ),
            Option(("-o", "--output"), "file to write, or a folder for faiss; -: stdout", "FILE"),
            Option(
                ("--snapshot",),
                "instead of --as: update the index and write all of it to this file, which `fathom import` reads in "
                "another checkout of the project",
                "FILE",
            ),
            Option(("--sign",), "sign the snapshot with the private Ed25519 key in this file", "KEYFILE"),
            _MAX_TOKENS_OF_LIST,
        ),
        ExportOptions,
        ("fathom export --as jsonl -o chunks.jsonl", "fathom export --snapshot main.fathom --sign team-key"),
    ),
    Command(
        "import",
        "read a file that `fathom export` has written",
        (Option(("file",), "file to read, or a folder for faiss; -: stdin", "FILE"),),
        (
            Option(
                ("--as",),
                "format of the file; not needed for a snapshot, which replaces the index",
                "FORMAT",
                choices=EXPORT_FORMATS,
            ),
            Option(
                ("--check",),
                "how much of a snapshot without a signature is compared with your files: a sample, or all of it",
                "EXTENT",
                choices=("sample", "all"),
            ),
        ),
        ImportOptions,
        ("fathom import main.fathom", "fathom import --as jsonl chunks.jsonl"),
    ),
    Command(
        "backup",
        "write the index to one file, while others use it",
        (Option(("file",), "file to write; an existing backup of this name is replaced", "FILE", required=True),),
        (),
        BackupOptions,
        ("fathom backup shop.backup",),
    ),
    Command(
        "restore",
        "replace the index by a backup, and update it",
        (Option(("file",), "a file that `fathom backup` has written", "FILE", required=True),),
        (),
        BackupOptions,
        ("fathom restore shop.backup",),
    ),
    Command(
        "projects",
        "give your projects names, to ask several at once",
        (
            Option(
                ("action",),
                "list: show the names; add: give a folder a name; remove: forget a name; rename: change a name",
                "ACTION",
                choices=PROJECT_ACTIONS,
            ),
            Option(("target",), "add: a folder; remove, rename: the name of a project", "TARGET"),
        ),
        (
            Option(("--name",), "add: the name of the project; rename: its new name", "NAME"),
            Option(
                ("--group",),
                "add: put the project into this group; -p GROUP asks all projects of a group",
                "NAME",
                repeat=True,
            ),
            Option(
                ("--rev",), "add: the name stands for this branch, tag or commit of git; no checkout is needed", "REV"
            ),
        ),
        ProjectsOptions,
        (
            "fathom projects add ~/code/shop --group team",
            "fathom projects add ~/code/shop --rev v1.2 --name shop-old",
            "fathom projects",
            "fathom projects rename shop --name store",
            "fathom search -p team where is the price made",
        ),
    ),
    Command(
        "fleet",
        "keep very many repositories under one name, and ask them all",
        (
            Option(
                ("action",),
                "list: show the fleets; add: add repositories to a fleet, which is made if it is new; index: bring all "
                "repositories of a fleet up to date, or those that are named; status: show repositories, shards, and "
                "what could not be read; "
                "verify: compare all shards with what was written; remove: remove a fleet, or some of its sources",
                "ACTION",
                choices=FLEET_ACTIONS,
            ),
            Option(("name",), "the name of the fleet; `fathom search -p NAME` asks it", "NAME"),
            Option(
                ("sources",),
                "a folder of clones, one folder, a bare repository, the address of a repository, which is cloned, an "
                "organisation or group such as github:NAME or gitlab:https://HOST/NAME, or a file that names one of "
                "these on each line; of a git repository the files of HEAD are read; with index, the name of a "
                "repository, and only those that are named are looked at",
                "SOURCE",
                kind=tuple,
                repeat=True,
            ),
        ),
        (
            Option(("--at",), "add: keep the fleet in this folder, which must be empty or new", "DIR"),
            Option(
                ("--full",),
                "index: list the files of all repositories again, also where nothing has changed, and make "
                "damaged shards again",
            ),
            Option(
                ("--watch",),
                "index: keep running, look at the sources again and again (`index.fleet_watch_s`), and fetch and index "
                "what has changed",
            ),
            _CLUSTER._replace(help="index: the machines of this Ray cluster make the shards; see docs/scale.md"),
        ),
        FleetOptions,
        (
            "fathom fleet add company ~/clones",
            "fathom fleet add company github:acme+archived",
            "fathom fleet index company",
            "fathom fleet index company auth shop",
            "fathom fleet index company --watch",
            "fathom fleet status company",
            "fathom search -p company where are tokens refreshed repo:auth lang:go",
            "fathom fleet remove company",
        ),
    ),
    Command(
        "store",
        "compare, move, remove or test the store of vectors",
        (
            Option(
                ("action",),
                "verify: compare the store with the index; move: copy the vectors to another store and use it; "
                "remove: delete the vectors from a store; test: show whether the store can be used; list: show the "
                "projects in a store; init: prepare a store",
                "ACTION",
                choices=STORE_ACTIONS,
                required=True,
            ),
            Option(
                ("target",),
                "the store, such as faiss or qdrant://localhost:6333; without it, the store in use",
                "STORE",
            ),
        ),
        (
            Option(("--to",), "same as STORE", "STORE"),
            Option(
                ("--project",),
                "remove: delete the vectors of this project; `fathom store list` shows the names",
                "NAME",
            ),
            Option(("--fix",), "verify: if the store differs from the index, fill it again"),
        ),
        StoreCommandOptions,
        (
            "fathom store test qdrant://localhost:6333",
            "fathom store move --to duckdb",
            "fathom store verify",
            "fathom store remove faiss",
        ),
    ),
    Command(
        "serve",
        "run the HTTP server and the web page",
        (
            Option(
                ("folder",),
                "folder of a project to serve, else the project around the current folder; the page adds others",
                "DIR",
            ),
        ),
        (
            Option(("--host",), "address to listen on", "ADDRESS", setting="server.host"),
            Option(("--port",), "port to listen on; 0: any free port", "N", setting="server.port"),
            _CLUSTER,
            Option(
                ("--root-path",),
                "path below which a proxy serves it, such as /code",
                "PATH",
                setting="server.root_path",
            ),
            Option(
                ("--new-token",),
                "print a new token for a user or program of this name, and its hash; then exit",
                "NAME",
            ),
            Option(("--check",), "check that the server can start and name what is missing; then exit"),
            Option(
                ("--backup",),
                "write what the server keeps (conversations, jobs, tokens, projects) to one file, while it runs; then "
                "exit",
                "FILE",
            ),
            Option(
                ("--restore",),
                "put such a file in the place of what the server keeps; the server must not run; then exit",
                "FILE",
            ),
        ),
        ServeOptions,
        (
            "fathom serve",
            "fathom serve ~/code/shop --port 9000",
            "fathom serve --new-token team",
            "fathom serve --check",
            "fathom serve --backup server.backup",
        ),
    ),
    Command(
        "tokens",
        "make, list or revoke tokens for programs that use the HTTP server",
        (
            Option(
                ("action",),
                "list: show all tokens; new: make a token and print its secret once; revoke: end a token at once",
                "ACTION",
                choices=TOKEN_ACTIONS,
                required=True,
            ),
            Option(("name",), "name of the token", "NAME"),
        ),
        (
            Option(
                ("--role",),
                "new: reader (ask and read), indexer (index, too), maintainer (settings and watching, too) or admin",
                "ROLE",
                choices=TOKEN_ROLES,
            ),
            Option(
                ("-p", "--project"),
                "new: id of a project in which the role holds, or a pattern such as shop-*; can be repeated; without "
                "it, all projects, and the server itself",
                "ID",
                repeat=True,
            ),
            Option(
                ("--days",), "new: days until the token expires; 0: it never expires", "N", kind=int, low=0, high=3_650
            ),
        ),
        TokensOptions,
        (
            "fathom tokens new ci --role indexer --project shop",
            "fathom tokens new ops --role admin --days 30",
            "fathom tokens list",
            "fathom tokens revoke ci",
        ),
    ),
    Command(
        "install",
        "set up coding agents and editors to use fathom",
        (_HOST,),
        (
            *_SETUP,
            Option(("--print",), "only print the settings and the skill; change no file"),
            Option(
                ("--instructions",),
                "also write a short paragraph, between two marks, into the file of instructions that the agent reads, "
                "such as AGENTS.md or CLAUDE.md",
            ),
            Option(
                ("--hook",),
                "also set up a hook in Claude Code, Codex, Copilot and Gemini CLI: after a grep for several plain "
                "words, the agent is told that fathom searches by meaning; it never stops a call of the agent",
            ),
        ),
        InstallOptions,
        ("fathom install", "fathom install claude", "fathom install cursor --project --yes"),
    ),
    Command(
        "uninstall",
        "undo `fathom install`",
        (_HOST,),
        _SETUP,
        InstallOptions,
        ("fathom uninstall", "fathom uninstall claude --yes"),
    ),
    Command(
        "mcp",
        "serve a coding agent over the Model Context Protocol (MCP)",
        (),
        (
            *_SEVERAL[:2],
            Option(("--alone",), "answer in this process, also where `fathom serve` holds sessions of this user"),
        ),
        McpOptions,
        ("fathom mcp", "fathom mcp -C ~/code/shop", "fathom mcp -p shop -p web"),
    ),
    Command(
        "lsp",
        "serve an editor over the Language Server Protocol (LSP)",
        (),
        (),
        PlainOptions,
        ("fathom lsp", "fathom lsp -C ~/code/shop"),
    ),
    Command(
        "bench",
        "measure on this project what an agent finds and pays, beside a search for words",
        (
            Option(
                ("what",),
                "here: this project, asked by first sentences of comments of definitions, or by your own questions",
                "WHAT",
                choices=("here",),
            ),
        ),
        (
            Option(
                ("--questions",),
                "your questions: a file with a place such as src/app.py:10-40, a tab and a question in each line",
                "FILE",
            ),
            Option(("-n", "--limit"), "maximum number of questions", "N", kind=int, low=1, high=10_000),
        ),
        BenchOptions,
        ("fathom bench here", "fathom bench here -n 100 --json", "fathom bench here --questions questions.tsv"),
    ),
    Command(
        "completion",
        "print a script that completes commands and options in a shell",
        (Option(("shell",), "the shell", "SHELL", choices=SHELLS, required=True),),
        (),
        CompletionOptions,
        (
            "fathom completion bash > ~/.local/share/bash-completion/completions/fathom",
            "fathom completion fish > ~/.config/fish/completions/fathom.fish",
            'fathom completion zsh > "${fpath[1]}/_fathom"',
        ),
    ),
    Command("version", "show the version", (), (), PlainOptions),
)
