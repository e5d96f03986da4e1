"""The flags of the first document, accepted under their names: `fathom --rag --source-dir X "…"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codefathom.cli.options import AskOptions, Common, ContextOptions, IndexOptions, Option, SearchOptions
from codefathom.errors import UsageError

_MODES = ("--rag", "--build-index", "--query-index")

LEGACY_OPTIONS = (
    Option(("prompt",), "the question", "QUERY", repeat=True),
    Option(("--rag",), "answer a question: fathom ask; without a language model its context: fathom context"),
    Option(("--build-index",), "make the index: fathom index"),
    Option(("--query-index",), "search the index: fathom search", "QUERY"),
    Option(("--contexts-only",), "print the context as JSON: fathom ask --contexts-only"),
    Option(("--filter-level",), "0, 1 or 2", "N", setting="select.filter_level"),
    Option(("--max-files",), "most files of a context or an answer", "N", setting="context.max_files"),
    Option(("--relevance-threshold",), "least grade of a file", "N", setting="judge.relevance_threshold"),
    Option(("--enable-hybrid-index",), "search by words and vectors"),
    Option(("--no-enable-hybrid-index",), "search by words only"),
    Option(("--duckdb-vector-dim",), "length of stored vectors", "N", setting="embed.dimensions"),
    Option(("--duckdb-query-top-k",), "candidates of each ranking", "N", setting="search.candidates"),
    Option(("--duckdb-query-similarity",), "least similarity", "X", setting="search.min_similarity"),
    Option(("--rag-doc-filter-relevance",), "least grade of a document", "N", setting="judge.doc_relevance"),
    Option(("--index-filter-workers",), "judgements at the same time", "N", setting="judge.workers"),
    Option(("--rag-context-window-limit",), "tokens of a context", "N", setting="context.window"),
    Option(("--full-text-ratio",), "share of whole files", "X", setting="context.full_text_ratio"),
    Option(("--segment-ratio",), "share of excerpts", "X", setting="context.segment_ratio"),
    Option(("--disable-auto-window",), "keep the window fixed"),
    Option(("--disable-segment-reorder",), "leave excerpts as found"),
    Option(("--anti-quota-limit-ms",), "time between provider calls", "MS", setting="limits.min_interval_ms"),
    Option(("--tokenizer-path",), "tokenizer.json to count with", "FILE", setting="context.tokenizer_path"),
    Option(("--required-exts",), "only names that end so", "LIST", setting="source.required_exts"),
)
_SWITCHES: Mapping[str, tuple[str, object]] = {
    "enable_hybrid_index": ("search.mode", "hybrid"),
    "no_enable_hybrid_index": ("search.mode", "lexical"),
    "disable_auto_window": ("context.disable_auto_window", True),
    "disable_segment_reorder": ("context.disable_segment_reorder", True),
}
NO_MODEL = "no language model is configured: selecting and judging are skipped, this is what retrieval found"


def is_legacy(words: Sequence[str]) -> bool:
    """Whether the words are meant in the first document's way."""
    flags = {name for option in LEGACY_OPTIONS for name in option.names if name.startswith("--")}
    return any(word.partition("=")[0] in flags for word in words)


def translate(common: Common, values: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the command and its options that the flags mean."""
    overrides = dict(common.overrides)
    overrides.update(setting for name, setting in _SWITCHES.items() if name in values)
    if "context.max_files" in overrides:  # a context and an answer are limited by settings of their own
        overrides.setdefault("rerank.top_n", overrides["context.max_files"])
    common = common._replace(overrides=overrides)
    prompt = values.get("prompt", "")
    if "query_index" in values:
        return "search", SearchOptions(common, values["query_index"])
    if "build_index" in values:
        return "index", IndexOptions(common)
    if "rag" not in values:
        raise UsageError(f"say what to do: one of {', '.join(_MODES)}", hint="fathom --help lists the commands too")
    from codefathom.search.question.query import unwrap  # what it imports is not needed before

    query, only_contexts = unwrap(prompt)
    if not query.strip():
        raise UsageError("--rag needs a question", hint='fathom --rag "how are users authenticated?"')
    return "ask", AskOptions(common, query, contexts_only=only_contexts or "contexts_only" in values, rag=True)


def as_context(options: AskOptions) -> ContextOptions:
    """Return what `--rag` means where no language model is configured."""
    if options.contexts_only:
        return ContextOptions(options.common, options.query, format="json")
    return ContextOptions(options.common, options.query, notice=NO_MODEL)
