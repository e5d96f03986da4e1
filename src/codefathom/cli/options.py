"""What each command takes, as data: the parser, the help texts and docs/cli.md are all made from these tables."""

# Without `from __future__ import annotations`: see config/settings.py.

from collections.abc import Mapping
from typing import NamedTuple

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
    low: float | None = None  # of numbers that are no setting
    high: float | None = None

    @property
    def destination(self) -> str:
        """Name of the value after parsing."""
        name = self.names[-1].lstrip("-").replace("-", "_")
        return "format" if name == "as" else name  # "as" cannot be the name of a field


class Common(NamedTuple):
    """What every command takes."""

    source_dir: str = ""
    overrides: Mapping[str, object] = {}
    json: bool = False
    quiet: bool = False
    verbose: bool = False


class IndexOptions(NamedTuple):
    """`fathom index`."""

    common: Common
    full: bool = False
    watch: bool = False
    dry_run: bool = False
    interactive: bool = False


class SearchOptions(NamedTuple):
    """`fathom search`."""

    common: Common
    query: str
    dir: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    min_score: float = 0.0
    explain: bool = False


class SymbolsOptions(NamedTuple):
    """`fathom symbols`."""

    common: Common
    query: str = ""
    path: str = ""
    kind: str = ""
    limit: int = 50


class RelatedOptions(NamedTuple):
    """`fathom related`."""

    common: Common
    target: str
    depth: int = 1


class ContextOptions(NamedTuple):
    """`fathom context`, and `fathom --rag` without a language model."""

    common: Common
    query: str
    format: str = "files"
    dir: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    notice: str = ""  # said on stderr before the context


class AskOptions(NamedTuple):
    """`fathom ask`, `fathom --rag`, and `fathom chat`, which has no question yet."""

    common: Common
    query: str = ""
    dir: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    filter: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()
    doc: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    contexts_only: bool = False
    agent: bool = False
    trace: str = ""
    rag: bool = False  # `fathom --rag`: without a language model it is `fathom context`
    explain: bool = False


class StatusOptions(NamedTuple):
    """`fathom status`."""

    common: Common
    skipped: bool = False
    secrets: bool = False


class DoctorOptions(NamedTuple):
    """`fathom doctor`."""

    common: Common
    providers: bool = False
    fix: bool = False


class PlainOptions(NamedTuple):
    """Commands that take nothing of their own: version."""

    common: Common


class ConfigOptions(NamedTuple):
    """`fathom config`."""

    common: Common
    action: str = "show"


class ServeOptions(NamedTuple):
    """`fathom serve`."""

    common: Common
    folder: str = ""
    new_token: str | None = None


class ExportOptions(NamedTuple):
    """`fathom export`."""

    common: Common
    format: str
    output: str = "-"


class ImportOptions(NamedTuple):
    """`fathom import`."""

    common: Common
    format: str
    file: str = "-"


class Command(NamedTuple):
    """One command: what it is for, what it takes, and into which options that is made."""

    name: str
    summary: str
    operands: tuple[Option, ...]
    options: tuple[Option, ...]
    make: type
    examples: tuple[str, ...] = ()


EXPORT_FORMATS = ("index-json", "jsonl")
CONTEXT_FORMATS = ("files", "autocoder", "markdown", "xml", "json")

COMMON_OPTIONS = (
    Option(("-C", "--source-dir"), "the project; without it, the one around the current folder", "DIR"),
    Option(("--set",), "override a setting, such as search.rrf_k=20", "KEY=VALUE", repeat=True),
    Option(("--json",), "print JSON"),
    Option(("-q", "--quiet"), "say nothing but errors on stderr"),
    Option(("-v", "--verbose"), "say more: whole excerpts, timings, a traceback when something breaks"),
    Option(("-h", "--help"), "show this help"),
)

_FILTERS = (
    Option(("--dir",), "only files below this folder", "DIR", repeat=True),
    Option(("--lang",), "only this language", "NAME", repeat=True),
    Option(("--kind",), "only this kind: function, class, method, section…", "NAME", repeat=True),
    Option(("--filter",), "only what matches, such as 'lines > 20 and not is_test'", "EXPR", repeat=True),
)
_REFRESH = Option(
    ("--refresh",), "update the index first", "WHEN", setting="search.refresh", choices=("auto", "always", "never")
)
_MODEL = Option(("--model",), "provider and model, such as ollama:qwen2.5-coder:14b", "NAME", setting="llm.model")
_MAX_SOURCES = Option(("-n", "--max-sources"), "most files that the model is shown", "N", setting="rerank.top_n")
_FILTER_LEVEL = Option(
    ("--filter-level",), "0 as found, 1 judged by the model, 2 with related files", "N", setting="select.filter_level"
)
_PIN = Option(("--pin",), "a file of the project that must be among the sources", "PATH", repeat=True)
_URL = Option(("--url",), "a page to fetch as a further text", "URL", repeat=True)
_HOW_TO_ANSWER = (
    Option(("--index-filter-workers",), "judgements at the same time", "N", setting="judge.workers"),
    Option(("--tokenizer-path",), "tokenizer.json to count tokens with", "FILE", setting="context.tokenizer_path"),
    Option(("--agent",), "let the model look for itself, in rounds of tool calls"),
    Option(("--explain",), "show every stage on stderr: its time, tokens and cost"),
)
_QUERY = Option(
    ("query",),
    "words, a question, @path, @@symbol, lang:go, kind:function, in:Class",
    "QUERY",
    repeat=True,
    required=True,
)

COMMANDS = (
    Command(
        "index",
        "make or update the index",
        (),
        (
            Option(("--full",), "read every file again"),
            Option(("--watch",), "stay and update whenever files change"),
            Option(("--dry-run",), "only tell what would be done"),
            Option(("--interactive",), "show the plan and ask before indexing"),
            Option(("--required-exts",), "only names that end so: .rs,.py", "LIST", setting="source.required_exts"),
            Option(("--ignore",), "further ignore patterns, with commas between", "LIST", setting="source.ignore"),
            Option(("--workers",), "processes that parse", "N", setting="index.workers"),
            Option(
                ("--wait",), "how long to wait while another process writes; 0: fail", "SECONDS", setting="index.wait_s"
            ),
        ),
        IndexOptions,
        ("fathom index", "fathom index --dry-run", "fathom index --watch"),
    ),
    Command(
        "search",
        "find places in the code",
        (_QUERY,),
        (
            Option(("-n", "--limit"), "most hits", "N", setting="search.limit"),
            Option(("--level",), "what a hit is", "LEVEL", setting="search.level", choices=LEVELS),
            Option(("--mode",), "how to rank; auto decides", "MODE", setting="search.mode", choices=MODES),
            *_FILTERS,
            Option(("--min-score",), "drop hits below this score, 0 to 1", "X", kind=float, low=0, high=1),
            Option(("--explain",), "show every signal of every hit"),
            _REFRESH,
        ),
        SearchOptions,
        (
            "fathom search how are ignore rules applied",
            "fathom search @@Engine open",
            "fathom search --lang go --kind function 'retry with backoff'",
        ),
    ),
    Command(
        "symbols",
        "list definitions by name",
        (Option(("query",), "part of a name; without it, all", "NAME", repeat=True),),
        (
            Option(("--path",), "only below this file or folder", "PATH"),
            Option(("--kind",), "only this kind", "NAME"),
            Option(("-n", "--limit"), "most symbols", "N", kind=int, low=1, high=1_000_000),
        ),
        SymbolsOptions,
        ("fathom symbols parse", "fathom symbols --kind class --path src"),
    ),
    Command(
        "related",
        "show what a file or symbol is connected with",
        (
            Option(
                ("target",),
                "a path, a module (a.b), or @@symbol for its callers and references",
                "PATH|@@SYMBOL",
                required=True,
            ),
        ),
        (Option(("--depth",), "how many steps to follow", "N", kind=int, low=1, high=5),),
        RelatedOptions,
        ("fathom related src/app.py --depth 2", "fathom related @@authenticate"),
    ),
    Command(
        "context",
        "collect whole files for a prompt",
        (_QUERY,),
        (
            Option(("--format",), "how to print it", "FORMAT", choices=CONTEXT_FORMATS),
            Option(("--max-files",), "most files", "N", setting="context.max_files"),
            Option(("--max-tokens",), "most tokens", "N", setting="context.window"),
            *_FILTERS,
            _REFRESH,
        ),
        ContextOptions,
        ("fathom context 'how are users authenticated' --format markdown",),
    ),
    Command(
        "ask",
        "answer a question, with citations that were checked",
        (_QUERY,),
        (
            _MODEL,
            _FILTER_LEVEL,
            _PIN,
            Option(("--doc",), "a further text, - for stdin", "FILE", repeat=True),
            _URL,
            _MAX_SOURCES,
            *_FILTERS,
            Option(("--contexts-only",), "print the sources as JSON, as `context --format json` does, and no answer"),
            *_HOW_TO_ANSWER,
            Option(("--trace",), "write every stage to this file, with what went in and came out", "FILE"),
            _REFRESH,
        ),
        AskOptions,
        (
            "fathom ask where are orders priced",
            "git diff | fathom ask --doc - 'what could this break?'",
            "fathom ask --url https://example.org/guide 'do we follow this?'",
        ),
    ),
    Command(
        "chat",
        "answer questions one after another, each with the ones before in mind",
        (),
        (
            _MODEL,
            _FILTER_LEVEL,
            _PIN,
            Option(("--doc",), "a further text", "FILE", repeat=True),
            _URL,
            _MAX_SOURCES,
            *_FILTERS,
            *_HOW_TO_ANSWER,
            Option(("--trace",), "append the stages of every answer to this file, one JSON line each", "FILE"),
            _REFRESH,
        ),
        AskOptions,
        ("fathom chat", "fathom chat --json < questions.txt"),
    ),
    Command(
        "status",
        "show what the index holds",
        (),
        (
            Option(("--skipped",), "list every file that is not indexed, and why"),
            Option(("--secrets",), "list where secrets stand, never their values"),
        ),
        StatusOptions,
    ),
    Command(
        "doctor",
        "check that everything works",
        (),
        (
            Option(("--providers",), "ask every configured language model for one word"),
            Option(("--fix",), "first make again what is damaged in the index, as `fathom index` does"),
        ),
        DoctorOptions,
    ),
    Command(
        "config",
        "show every setting, its value and where that comes from",
        (Option(("action",), "what to do", "show", choices=("show",)),),
        (),
        ConfigOptions,
        ("fathom config show",),
    ),
    Command(
        "export",
        "write the symbols or chunks of the index",
        (),
        (
            Option(
                ("--as",), "index-json: symbols by file; jsonl: chunks", "FORMAT", choices=EXPORT_FORMATS, required=True
            ),
            Option(("-o", "--output"), "file to write; - is stdout", "FILE"),
        ),
        ExportOptions,
        ("fathom export --as jsonl -o chunks.jsonl",),
    ),
    Command(
        "import",
        "read what export has written; only texts that the project has too are taken",
        (Option(("file",), "file to read; - is stdin", "FILE"),),
        (Option(("--as",), "what the file holds", "FORMAT", choices=EXPORT_FORMATS, required=True),),
        ImportOptions,
        ("fathom import --as jsonl chunks.jsonl",),
    ),
    Command(
        "serve",
        "answer over HTTP: projects, search, answers",
        (Option(("folder",), "a project to add", "DIR"),),
        (
            Option(("--host",), "address to listen on", "ADDRESS", setting="server.host"),
            Option(("--port",), "port to listen on; 0 takes a free one", "N", setting="server.port"),
            Option(("--new-token",), "print a new token and its hash for the settings, and end", "NAME"),
        ),
        ServeOptions,
        ("fathom serve", "fathom serve ~/code/shop --port 9000", "fathom serve --new-token team"),
    ),
    Command("version", "show the version", (), (), PlainOptions),
)
