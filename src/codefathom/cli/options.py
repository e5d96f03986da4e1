"""The options of each command, as data: the parser, the help texts and docs/cli.md are all made from these tables."""

# Without `from __future__ import annotations`: see config/settings.py.

from collections.abc import Mapping
from typing import Any, NamedTuple

from codefathom.types import LEVELS, MODES


class Option(NamedTuple):
    """One option or operand. Without a metavar it is a switch; with a setting its value overrides that setting."""

    names: tuple[str, ...]  # an operand has one name without "-"
    help: str
    metavar: str = ""
    setting: str = ""
    choices: tuple[str, ...] = ()
    kind: type = str
    repeat: bool = False
    required: bool = False
    turns_off: str = ""  # destination of the switch that this one turns off
    low: float | None = None  # limits of a number that is not a setting
    high: float | None = None
    default: str = ""  # shown instead of that of the setting

    @property
    def destination(self) -> str:
        """Name of the value after parsing."""
        if self.turns_off:
            return self.turns_off
        name = self.names[-1].lstrip("-").replace("-", "_")
        return _FIELDS.get(name, name)


_FIELDS = {"as": "format", "in": "paths"}  # words of the language cannot be names of fields


class Common(NamedTuple):
    """Options of every command."""

    source_dir: str = ""
    overrides: Mapping[str, object] = {}
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


class SearchOptions(NamedTuple):
    """`fathom search`."""

    common: Common
    query: str
    dir: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    min_score: float = 0.0
    anyway: bool = False
    explain: bool = False
    format: str = "text"
    project: tuple[str, ...] = ()
    all: bool = False
    file: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    max_tokens: int = 0
    offset: int = 0


class SymbolsOptions(NamedTuple):
    """`fathom symbols`."""

    common: Common
    query: str = ""
    path: str = ""
    kind: str = ""
    limit: int = 50
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
    depth: int = 1
    limit: int = 200
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    max_tokens: int = 0
    offset: int = 0


class ImpactOptions(NamedTuple):
    """`fathom impact`."""

    common: Common
    change: str = "HEAD"
    depth: int = 3
    limit: int = 200
    tests_only: bool = False
    fail_on: str = "never"
    max_tokens: int = 0
    offset: int = 0


class MapOptions(NamedTuple):
    """`fathom map`."""

    common: Common
    query: str = ""
    file: tuple[str, ...] = ()
    dir: tuple[str, ...] = ()
    max_tokens: int = 4_000
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()
    offset: int = 0


class ContextOptions(NamedTuple):
    """`fathom context`, and `fathom --rag` without a language model."""

    common: Common
    query: str
    format: str = "files"
    dir: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    anyway: bool = False
    notice: str = ""  # printed on stderr before the context
    project: tuple[str, ...] = ()
    all: bool = False
    paths: tuple[str, ...] = ()


class AskOptions(NamedTuple):
    """`fathom ask`, `fathom --rag`, and `fathom chat`, where `query` is empty."""

    common: Common
    query: str = ""
    dir: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    anyway: bool = False
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


class ServeOptions(NamedTuple):
    """`fathom serve`."""

    common: Common
    folder: str = ""
    new_token: str | None = None


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


class InstallOptions(NamedTuple):
    """`fathom install`, and `fathom uninstall`, which removes."""

    common: Common
    host: str = ""
    project: bool = False
    yes: bool = False
    print: bool = False


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


HOST_NAMES = ("claude", "codex", "cursor", "vscode", "gemini")
SHELLS = ("bash", "zsh", "fish")
FAIL_ON = ("never", "reached", "tests")
PROJECT_ACTIONS = ("list", "add", "remove", "rename")
STORE_ACTIONS = ("verify", "move", "remove", "test", "list", "init")
EXPORT_FORMATS = ("index-json", "jsonl", "faiss")
SEARCH_FORMATS = ("text", "path")
CONTEXT_FORMATS = ("files", "autocoder", "markdown", "xml", "json")

COMMON_OPTIONS = (
    Option(("-C", "--source-dir"), "project folder; without it, the project around the current folder", "DIR"),
    Option(("--set",), "change a setting for this run, such as search.rrf_k=20", "KEY=VALUE", repeat=True),
    Option(("--json",), "print the result as JSON"),
    Option(("-q", "--quiet"), "print only errors on stderr"),
    Option(("-v", "--verbose"), "print more: whole excerpts, timings, tracebacks of unexpected errors"),
    Option(("-h", "--help"), "show this help"),
)

_SEVERAL = (
    Option(
        ("-p", "--project"),
        "ask this project: a name or a group of `fathom projects`, or a folder",
        "NAME",
        repeat=True,
    ),
    Option(("--all",), "ask all projects that have a name"),
    Option(
        ("--in",),
        "ask about this file or folder, whatever projects it belongs to by the routes in your settings file",
        "PATH",
        repeat=True,
    ),
)
_REVISION = Option(
    ("--rev",), "read a branch, tag or commit of git from its object store, instead of the files in the folder", "REV"
)
_FILTERS = (
    Option(("--dir",), "use only files below this folder", "DIR", repeat=True),
    Option(("--lang",), "use only files in this language, such as go", "NAME", repeat=True),
    Option(("--kind",), "use only symbols of this kind, such as function or class", "NAME", repeat=True),
    Option(("--filter",), "use only what this filter matches, such as 'lines > 20'", "EXPR", repeat=True),
)
_ANYWAY = Option(("--anyway",), "show the closest matches even when they are probably not relevant")
_REFRESH = Option(
    ("--refresh",),
    "update the index before the search; auto: unless many files changed",
    "WHEN",
    setting="search.refresh",
    choices=("auto", "always", "never"),
)
_MODEL = Option(
    ("--model",), "language model to ask, such as ollama:qwen2.5-coder:14b", "PROVIDER:NAME", setting="llm.model"
)
_MAX_SOURCES = Option(
    ("-n", "--max-sources"), "maximum number of sources that the model is shown", "N", setting="rerank.top_n"
)
FILTER_LEVEL = Option(
    ("--filter-level",),
    "choice of sources: 0: hits of the search, in one call; 1: judged by a language model; 2: judged, with related "
    "files; -1: 1 if a language model is configured, else 0",
    "N",
    setting="select.filter_level",
)
_THOROUGH = Option(
    ("--thorough",), "let the language model choose and judge the sources first, in many calls: --filter-level 2"
)
_PIN = Option(("--pin",), "add this file, or all files of this folder, to the sources in any case", "PATH", repeat=True)
_URL = Option(("--url",), "download this page and add its text to the sources", "URL", repeat=True)
JUDGE_WORKERS = Option(
    ("--index-filter-workers",),
    "number of calls of the judging model at the same time",
    "N",
    setting="judge.workers",
)
TOKENIZER_PATH = Option(
    ("--tokenizer-path",),
    "tokenizer.json to count tokens with; without it, an estimate is used",
    "FILE",
    setting="context.tokenizer_path",
)
SHELL = Option(("-s", "--shell"), "let the model write one shell command, which is printed and never run")
_HOW_TO_ANSWER = (
    JUDGE_WORKERS,
    TOKENIZER_PATH,
    Option(("--agent",), "let the model search the project itself, in rounds of tool calls"),
    Option(("--explain",), "show each stage on stderr, with its time, tokens and cost"),
)
REQUIRED_EXTS = Option(
    ("--required-exts",),
    'index only files whose names end with one of these, such as .rs,.py; it holds for later runs until "" is given',
    "LIST",
    setting="source.required_exts",
)
_MAX_TOKENS = Option(
    ("--max-tokens",),
    "maximum number of tokens that are printed, by our own count; what has no room is left out, the last first",
    "N",
    kind=int,
    low=1,
    high=1_000_000,
)
_OFFSET = Option(
    ("--offset",), "leave out so many results, those of earlier pages", "N", kind=int, low=0, high=10_000_000
)
_QUERY = Option(
    ("query",),
    "words, a question, @path, @@symbol, lang:go, kind:function, in:Class",
    "QUERY",
    repeat=True,
    required=True,
)
_HOST = Option(("host",), "the agent or editor; without it, all that are found here", "HOST", choices=HOST_NAMES)
_SETUP = (
    Option(("--project",), "in the files of the project, for all who work on it, instead of your own settings"),
    Option(("-y", "--yes"), "write without a question; without a terminal nothing is written otherwise"),
)

COMMANDS = (
    Command(
        "index",
        "make or update the index",
        (),
        (
            Option(("--full",), "read every file again, even if it has not changed"),
            Option(("--only",), "take in only the changes of this file or folder", "PATH", repeat=True),
            Option(("--text",), "keep the text on stdin in the index as texts://NAME", "NAME"),
            Option(("--remove-text",), "remove the text of this name from the index", "NAME", repeat=True),
            Option(("--watch",), "keep running, and update the index whenever files change"),
            Option(("--dry-run",), "show what would be done, without doing it"),
            Option(("--interactive",), "show the plan and ask before indexing"),
            Option(("--remove",), "remove the index of the project; its files stay"),
            _REVISION,
            REQUIRED_EXTS,
            Option(("--ignore",), "more ignore patterns, separated by commas", "LIST", setting="source.ignore"),
            Option(
                ("--workers",),
                "number of parsing processes; 0: one for each processor",
                "N",
                setting="index.workers",
            ),
            Option(
                ("--wait",),
                "wait at most this long for another process; 0: fail",
                "SECONDS",
                setting="index.wait_s",
            ),
        ),
        IndexOptions,
        (
            "fathom index",
            "fathom index --dry-run",
            "fathom index --watch",
            "fathom index --only src/app.py",
            "git diff | fathom index --text review.diff",
        ),
    ),
    Command(
        "search",
        "find places in the code",
        (_QUERY,),
        (
            Option(("-n", "--limit"), "maximum number of hits", "N", setting="search.limit"),
            _MAX_TOKENS,
            _OFFSET,
            Option(("--level",), "what a hit is", "LEVEL", setting="search.level", choices=LEVELS),
            Option(
                ("--mode",),
                "how hits are ranked; auto chooses the mode for each query",
                "MODE",
                setting="search.mode",
                choices=MODES,
            ),
            *_FILTERS,
            _ANYWAY,
            Option(("--min-score",), "leave out hits with a lower score than this", "X", kind=float, low=0),
            Option(("--explain",), "show all signals from which the score of each hit is made"),
            Option(
                ("--format",),
                "text shows lines of each hit; path prints one line, path:line:column: text",
                "FORMAT",
                choices=SEARCH_FORMATS,
            ),
            *_SEVERAL,
            Option(("--file",), "search only this file or folder, and take in its changes first", "PATH", repeat=True),
            _REVISION,
            _REFRESH,
        ),
        SearchOptions,
        (
            "fathom search how are ignore rules applied",
            "fathom search -p shop -p web where is the price made",
            "fathom search @@Engine open",
            "fathom search --rev v1.2 where is the price made",
            "fathom search --lang go --kind function 'retry with backoff'",
            "fathom search --in /data/uploads --in /data/chats/7 what was agreed on",
        ),
    ),
    Command(
        "symbols",
        "list definitions by name",
        (Option(("query",), "part of a symbol's name; without it, all symbols are listed", "NAME", repeat=True),),
        (
            Option(("--path",), "list only symbols in this file or below this folder", "PATH"),
            Option(("--kind",), "list only symbols of this kind, such as function, or import for imports", "NAME"),
            Option(("-n", "--limit"), "maximum number of symbols", "N", kind=int, low=1, high=1_000_000),
            _MAX_TOKENS,
            _OFFSET,
            *_SEVERAL,
            _REVISION,
        ),
        SymbolsOptions,
        ("fathom symbols parse", "fathom symbols --kind class --path src"),
    ),
    Command(
        "files",
        "list the files that are in the index",
        (Option(("folder",), "list only files below this folder", "DIR"),),
        (_MAX_TOKENS, _REVISION),
        FilesOptions,
        ("fathom files", "fathom files src -v"),
    ),
    Command(
        "related",
        "show what a file or a symbol is connected with",
        (
            Option(
                ("target",),
                "a file, a module (a.b), or @@symbol for its callers and references",
                "PATH|@@SYMBOL",
                required=True,
            ),
        ),
        (
            Option(
                ("--depth",),
                "maximum number of steps from the target to a result",
                "N",
                kind=int,
                low=1,
                high=5,
            ),
            Option(("-n", "--limit"), "maximum number of results", "N", kind=int, low=1, high=1_000_000),
            _MAX_TOKENS,
            _OFFSET,
            *_SEVERAL,
            _REVISION,
        ),
        RelatedOptions,
        ("fathom related src/app.py --depth 2", "fathom related @@authenticate -n 20"),
    ),
    Command(
        "impact",
        "show what a change reaches, and which tests touch it",
        (Option(("change",), "a file with a unified diff, -: stdin, or revisions of git: A..B, A...B, A", "CHANGE"),),
        (
            Option(("--depth",), "maximum number of steps from the change to a result", "N", kind=int, low=1, high=5),
            Option(("-n", "--limit"), "maximum number of places and of tests", "N", kind=int, low=1, high=1_000_000),
            Option(("--tests-only",), "print only the paths of the test files, one a line"),
            Option(
                ("--fail-on",),
                "exit with 1 if anything is reached, or if any test touches the change",
                "WHAT",
                choices=FAIL_ON,
            ),
            _MAX_TOKENS,
            _OFFSET,
            _REVISION,
        ),
        ImpactOptions,
        ("fathom impact", "fathom impact main...HEAD --tests-only", "git diff | fathom impact -"),
    ),
    Command(
        "map",
        "outline the most central files of a project, within a number of tokens",
        (Option(("query",), "draw what this question is about into the map; -: stdin", "QUESTION", repeat=True),),
        (
            Option(("--file",), "draw what is near this file into the map", "PATH", repeat=True),
            Option(("--dir",), "show only files below this folder", "DIR", repeat=True),
            _MAX_TOKENS,
            _OFFSET,
            *_SEVERAL,
            _REVISION,
            _REFRESH,
        ),
        MapOptions,
        (
            "fathom map --max-tokens 2000",
            "fathom map where are orders priced",
            "fathom map --file shop/orders.py",
            "fathom map -p shop -p web",
        ),
    ),
    Command(
        "context",
        "collect whole files for a prompt",
        (_QUERY,),
        (
            Option(("--format",), "format of the output", "FORMAT", choices=CONTEXT_FORMATS),
            Option(("--max-files",), "maximum number of files", "N", setting="context.max_files"),
            Option(("--max-tokens",), "maximum number of tokens", "N", setting="context.window"),
            *_FILTERS,
            *_SEVERAL,
            _ANYWAY,
            _REVISION,
            _REFRESH,
        ),
        ContextOptions,
        ("fathom context 'how are users authenticated' --format markdown",),
    ),
    Command(
        "ask",
        "answer a question, with citations that are checked",
        (_QUERY,),
        (
            _MODEL,
            FILTER_LEVEL,
            _THOROUGH,
            _PIN,
            Option(("--doc",), "add this text file to the sources; -: stdin", "FILE", repeat=True),
            _URL,
            _MAX_SOURCES,
            _MAX_TOKENS,
            *_FILTERS,
            *_SEVERAL,
            _ANYWAY,
            Option(
                ("--contexts-only",),
                "print the sources as JSON, as `context --format json` does, without writing an answer",
            ),
            SHELL,
            *_HOW_TO_ANSWER,
            Option(("--trace",), "write each stage to this file, with its input and output", "FILE"),
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
            FILTER_LEVEL,
            _THOROUGH,
            _PIN,
            Option(("--doc",), "add this text file to the sources", "FILE", repeat=True),
            _URL,
            _MAX_SOURCES,
            _MAX_TOKENS._replace(
                help="maximum number of tokens that are printed of each answer, by our own count; what has no room is "
                "left out, the last first"
            ),
            *_FILTERS,
            *_SEVERAL,
            _ANYWAY,
            *_HOW_TO_ANSWER,
            Option(("--trace",), "append the stages of each answer to this file, one JSON line each", "FILE"),
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
            Option(("--skipped",), "list each file that is not indexed, with the reason"),
            Option(("--secrets",), "list the places of secrets, without their values"),
            _MAX_TOKENS,
            _REVISION,
        ),
        StatusOptions,
    ),
    Command(
        "doctor",
        "check that everything works",
        (),
        (
            Option(("--providers",), "also send a short request to each configured language model"),
            Option(("--fix",), "first repair damaged parts of the index, as `fathom index` does"),
        ),
        DoctorOptions,
    ),
    Command(
        "config",
        "show each setting, its value, and where the value comes from",
        (Option(("action",), "show the settings; this word may be left out", "show", choices=("show",)),),
        (),
        PlainOptions,
        ("fathom config show",),
    ),
    Command(
        "export",
        "write symbols or chunks of the index to a file, or the index for other checkouts",
        (),
        (
            Option(
                ("--as",),
                "index-json: the symbols of each file; jsonl: the chunks; faiss: vectors of files and functions, with "
                "their texts in metadata.json",
                "FORMAT",
                choices=EXPORT_FORMATS,
            ),
            Option(("-o", "--output"), "file to write, for faiss a folder; -: stdout", "FILE"),
            Option(
                ("--snapshot",),
                "instead of --as: bring the index up to date and write it to this file; `fathom import` takes it over "
                "in another checkout",
                "FILE",
            ),
            Option(("--sign",), "file with a private Ed25519 key that signs the snapshot", "KEYFILE"),
            _MAX_TOKENS,
        ),
        ExportOptions,
        ("fathom export --as jsonl -o chunks.jsonl", "fathom export --snapshot main.fathom --sign team-key"),
    ),
    Command(
        "import",
        "read an exported file, as far as it fits the project; a snapshot replaces the index",
        (Option(("file",), "file to read, for faiss a folder; -: stdin", "FILE"),),
        (
            Option(("--as",), "format of the file; a snapshot needs none", "FORMAT", choices=EXPORT_FORMATS),
            Option(
                ("--check",),
                "for a snapshot without a signature: make again a sample of what it says of the files, or all",
                "EXTENT",
                choices=("sample", "all"),
            ),
        ),
        ImportOptions,
        ("fathom import main.fathom", "fathom import --as jsonl chunks.jsonl"),
    ),
    Command(
        "backup",
        "write the index to one file; others may go on searching and indexing",
        (Option(("file",), "file to write; a backup of this name is replaced", "FILE", required=True),),
        (),
        BackupOptions,
        ("fathom backup shop.backup",),
    ),
    Command(
        "restore",
        "put a backup in the place of the index, then take in what has changed since",
        (Option(("file",), "file that `fathom backup` has written", "FILE", required=True),),
        (),
        BackupOptions,
        ("fathom restore shop.backup",),
    ),
    Command(
        "projects",
        "the names of your projects, for questions to several",
        (
            Option(("action",), "the thing to do", "ACTION", choices=PROJECT_ACTIONS),
            Option(("target",), "add: the folder; remove, rename: the name", "TARGET"),
        ),
        (
            Option(("--name",), "add: the name, by default that of the folder; rename: the new name", "NAME"),
            Option(("--group",), "add: a name that several projects share", "NAME", repeat=True),
            Option(("--rev",), "add: the name means this branch, tag or commit of git, without a checkout", "REV"),
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
        "store",
        "where the vectors are kept: compare, move, remove, test",
        (
            Option(("action",), "the thing to do", "ACTION", choices=STORE_ACTIONS, required=True),
            Option(
                ("target",),
                "the store, such as faiss or qdrant://localhost:6333; by default the one that is used",
                "STORE",
            ),
        ),
        (
            Option(("--to",), "same as STORE", "STORE"),
            Option(("--project",), "remove: another project of the store, as `fathom store list` names it", "NAME"),
            Option(("--fix",), "verify: fill a store that differs from the index anew"),
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
        (Option(("folder",), "folder of a project to add; by default the project of the current folder", "DIR"),),
        (
            Option(("--host",), "address to listen on", "ADDRESS", setting="server.host"),
            Option(("--port",), "port to listen on; 0: any free port", "N", setting="server.port"),
            Option(("--new-token",), "print a new token of this name and its hash, then exit", "NAME"),
        ),
        ServeOptions,
        ("fathom serve", "fathom serve ~/code/shop --port 9000", "fathom serve --new-token team"),
    ),
    Command(
        "install",
        "set up coding agents: the settings for `fathom mcp`, and a skill",
        (_HOST,),
        (
            *_SETUP,
            Option(("--print",), "print the settings and the skill, to write them by hand; nothing is written"),
        ),
        InstallOptions,
        ("fathom install", "fathom install claude", "fathom install cursor --project --yes"),
    ),
    Command(
        "uninstall",
        "take back what `fathom install` has written",
        (_HOST,),
        _SETUP,
        InstallOptions,
        ("fathom uninstall", "fathom uninstall claude --yes"),
    ),
    Command(
        "mcp",
        "answer a coding agent on stdin and stdout (Model Context Protocol)",
        (),
        _SEVERAL[:2],
        McpOptions,
        ("fathom mcp", "fathom mcp -C ~/code/shop", "fathom mcp -p shop -p web"),
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
