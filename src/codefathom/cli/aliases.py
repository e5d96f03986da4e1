"""The options of earlier scripts, which name no command: `fathom --rag --source-dir X "…"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codefathom.cli.options import (
    FILTER_LEVEL,
    JUDGE_WORKERS,
    REQUIRED_EXTS,
    SHELL,
    TOKENIZER_PATH,
    AskOptions,
    Common,
    ContextOptions,
    IndexOptions,
    Option,
    SearchOptions,
)
from codefathom.errors import UsageError

_MODES = ("--rag", "--build-index", "--query-index")

_ON_OPTIONS = (
    Option(("prompt",), "the question", "QUERY", repeat=True),
    Option(("--rag",), "as `fathom ask`, with a model that judges the sources; without a model as `fathom context`"),
    Option(("--build-index",), "as `fathom index`"),
    Option(("--query-index",), "as `fathom search`", "QUERY"),
    Option(("--contexts-only",), "print the sources as JSON, as `fathom ask --contexts-only`"),
    SHELL,
    FILTER_LEVEL._replace(default="-1"),
    Option(
        ("--max-files",),
        "maximum number of files in a context, or of sources in an answer",
        "N",
        setting="context.max_files",
    ),
    Option(
        ("--relevance-threshold",),
        "lowest grade (0 to 10) with which code is kept",
        "N",
        setting="judge.relevance_threshold",
    ),
    Option(("--enable-hybrid-index",), "search by words and by vectors"),
    Option(
        ("--duckdb-vector-dim",),
        "greatest length of the vectors; 0: the length that the model produces",
        "N",
        setting="embed.dimensions",
    ),
    Option(("--duckdb-query-top-k",), "maximum number of candidates of each ranking", "N", setting="search.candidates"),
    Option(
        ("--duckdb-query-similarity",), "minimum similarity of vector candidates", "X", setting="search.min_similarity"
    ),
    Option(
        ("--rag-doc-filter-relevance",),
        "lowest grade (0 to 10) with which documents are kept",
        "N",
        setting="judge.doc_relevance",
    ),
    JUDGE_WORKERS,
    Option(("--rag-context-window-limit",), "maximum number of tokens in a context", "N", setting="context.window"),
    Option(("--full-text-ratio",), "share of the context for whole files", "X", setting="context.full_text_ratio"),
    Option(("--segment-ratio",), "share of the context for excerpts", "X", setting="context.segment_ratio"),
    Option(
        ("--disable-auto-window",), "judge each file whole and by itself: do not merge small files or split large ones"
    ),
    Option(("--disable-segment-reorder",), "keep excerpts in the order of the search"),
    Option(
        ("--anti-quota-limit-ms",),
        "minimum milliseconds between two calls of a provider",
        "MS",
        setting="limits.min_interval_ms",
    ),
    TOKENIZER_PATH,
    REQUIRED_EXTS._replace(
        help="index only files whose names end with one of these, such as .rs,.py; with --build-index it holds for "
        'later runs until "" is given, else for this run'
    ),
)
_OFF = {
    "rag": "do not answer",
    "build_index": "do not make the index",
    "contexts_only": "write an answer",
    "shell": "write a text, not a command",
    "enable_hybrid_index": "search by words only",
    "disable_auto_window": "adapt the context window to the model",
    "disable_segment_reorder": "put excerpts into the order of their lines",
}
LEGACY_OPTIONS: tuple[Option, ...] = (
    *_ON_OPTIONS,
    *(Option((f"--no-{name.replace('_', '-')}",), help_text, turns_off=name) for name, help_text in _OFF.items()),
)
_SWITCHES: Mapping[str, tuple[str, object, object]] = {  # setting, its value when on, when off
    "enable_hybrid_index": ("search.mode", "hybrid", "lexical"),
    "disable_auto_window": ("context.disable_auto_window", True, False),
    "disable_segment_reorder": ("context.disable_segment_reorder", True, False),
}
# Those that change a setting: `fathom config show` takes them, too.
SETTING_OPTIONS = tuple(option for option in LEGACY_OPTIONS if option.setting or option.destination in _SWITCHES)
NO_MODEL = "no language model is configured: the sources are the hits of the search, no model selects or judges them"


def is_legacy(words: Sequence[str]) -> bool:
    """Return True if the words contain an option that needs no command."""
    flags = {name for option in LEGACY_OPTIONS for name in option.names if name.startswith("--")}
    return any(word.partition("=")[0] in flags for word in words)


def translate(common: Common, values: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the command that the options stand for, and the options of that command."""
    overrides = {**common.overrides, **switched(values)}
    if "context.max_files" in overrides:  # a context and an answer are limited by settings of their own
        overrides.setdefault("rerank.top_n", overrides["context.max_files"])
    common = common._replace(overrides=overrides)
    prompt = values.get("prompt", "")
    if "query_index" in values:
        return "search", SearchOptions(common, values["query_index"])
    if values.get("build_index"):
        return "index", IndexOptions(common)
    if not values.get("rag"):
        raise UsageError(
            f"the options name no task: one of {', '.join(_MODES)} is needed",
            hint="`fathom --help` lists the commands and options",
        )
    from codefathom.search.question.query import unwrap  # what it imports is not needed before

    query, only_contexts = unwrap(prompt)
    if not query.strip():
        raise UsageError("--rag needs a question", hint='fathom --rag "how are users authenticated?"')
    only_contexts = only_contexts or bool(values.get("contexts_only"))
    options = AskOptions(common, query, contexts_only=only_contexts, rag=True, shell=bool(values.get("shell")))
    return "ask", options


def switched(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings that switches of earlier scripts stand for."""
    return {setting: on if values[name] else off for name, (setting, on, off) in _SWITCHES.items() if name in values}


def as_context(options: AskOptions) -> ContextOptions:
    """Return the options of `fathom context` with which `--rag` runs when no language model is configured."""
    if options.contexts_only:
        return ContextOptions(options.common, options.query, format="json")
    return ContextOptions(options.common, options.query, notice=NO_MODEL)
