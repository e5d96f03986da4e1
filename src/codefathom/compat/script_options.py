"""Options of earlier scripts, which name no command: `fathom --rag --source-dir X "…"`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ScriptOption(NamedTuple):
    """One option. Without a metavar it is a switch, and `--no-NAME` turns it off."""

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    setting: str = ""  # the setting that it changes
    default: str = ""  # shown instead of that of the setting
    off: str = ""  # what the --no- form of a switch does
    values: tuple[object, object] | None = None  # of the setting, when the switch is on and when it is off


SCRIPT_OPTIONS = (
    ScriptOption(
        ("--rag",),
        "answer a question, as `fathom ask` does, with a model that judges the sources; without a model as "
        "`fathom context`",
        off="do not answer",
    ),
    ScriptOption(("--build-index",), "as `fathom index`", off="do not make the index"),
    ScriptOption(("--query-index",), "as `fathom search QUERY`", "QUERY"),
    ScriptOption(
        ("--contexts-only",),
        "print the sources as JSON, as `fathom context --format json` does, without writing an answer",
        off="write an answer",
    ),
    ScriptOption(
        ("-s", "--shell"),
        "let the model write one shell command; fathom prints it and never runs it",
        off="write a text, not a command",
    ),
    ScriptOption(
        ("--filter-level",),
        "how sources are chosen, as with `fathom ask --filter-level`",
        "N",
        setting="select.filter_level",
        default="-1",
    ),
    ScriptOption(
        ("--max-files",),
        "maximum number of files in a context, or of sources in an answer",
        "N",
        setting="context.max_files",
    ),
    ScriptOption(
        ("--relevance-threshold",),
        "lowest grade (0 to 10) with which code is kept",
        "N",
        setting="judge.relevance_threshold",
    ),
    ScriptOption(
        ("--enable-hybrid-index",),
        "search by words and by vectors",
        setting="search.mode",
        values=("hybrid", "lexical"),
        off="search by words only",
    ),
    ScriptOption(
        ("--duckdb-vector-dim",),
        "maximum length of the vectors; 0: the length that the model produces",
        "N",
        setting="embed.dimensions",
    ),
    ScriptOption(
        ("--duckdb-query-top-k",), "maximum number of candidates of each ranking", "N", setting="search.candidates"
    ),
    ScriptOption(
        ("--duckdb-query-similarity",), "minimum similarity of vector candidates", "X", setting="search.min_similarity"
    ),
    ScriptOption(
        ("--rag-doc-filter-relevance",),
        "lowest grade (0 to 10) with which documents are kept",
        "N",
        setting="judge.doc_relevance",
    ),
    ScriptOption(
        ("--index-filter-workers",),
        "number of calls of the judging model at the same time",
        "N",
        setting="judge.workers",
    ),
    ScriptOption(
        ("--rag-context-window-limit",), "maximum number of tokens in a context", "N", setting="context.window"
    ),
    ScriptOption(
        ("--full-text-ratio",), "share of the context for whole files", "X", setting="context.full_text_ratio"
    ),
    ScriptOption(("--segment-ratio",), "share of the context for excerpts", "X", setting="context.segment_ratio"),
    ScriptOption(
        ("--disable-auto-window",),
        "judge each file whole and by itself: do not merge small files or split large ones",
        setting="context.disable_auto_window",
        values=(True, False),
        off="adapt the context window to the model",
    ),
    ScriptOption(
        ("--disable-segment-reorder",),
        "keep excerpts in the order of the search",
        setting="context.disable_segment_reorder",
        values=(True, False),
        off="put excerpts into the order of their lines",
    ),
    ScriptOption(
        ("--anti-quota-limit-ms",),
        "minimum number of milliseconds between two calls of a provider",
        "MS",
        setting="limits.min_interval_ms",
    ),
    ScriptOption(
        ("--tokenizer-path",),
        "count tokens with this tokenizer.json; without it, their number is estimated",
        "FILE",
        setting="context.tokenizer_path",
    ),
    ScriptOption(
        ("--required-exts",),
        "index only files whose names end with one of these, such as .rs,.py; with --build-index this applies to "
        'later runs until it is set to "", otherwise only to this run',
        "LIST",
        setting="source.required_exts",
    ),
)
# Commands that take some of them, too.
COMMAND_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "ask": ("--contexts-only", "--index-filter-workers", "--tokenizer-path"),
    "chat": ("--index-filter-workers", "--tokenizer-path"),
    "config": tuple(option.names[-1] for option in SCRIPT_OPTIONS if option.setting),
}
