"""Names of settings in other programs, accepted in settings files and as arguments. Pure."""

from __future__ import annotations

from collections.abc import Mapping

SETTING_NAMES: Mapping[str, str] = {
    "source_dir": "source.dir",
    "required_exts": "source.required_exts",
    "index_filter_level": "select.filter_level",
    "index_filter_file_num": "context.max_files",
    "verify_file_relevance_score": "judge.relevance_threshold",
    "model_max_input_length": "select.max_input_tokens",
    "skip_build_index": "search.refresh",
    "skip_filter_index": "select.filter_level",
    "enable_hybrid_index": "search.mode",
    "duckdb_vector_dim": "embed.dimensions",
    "duckdb_query_top_k": "search.candidates",
    "duckdb_query_similarity": "search.min_similarity",
    "anti_quota_limit_ms": "limits.min_interval_ms",
    "rag_context_window_limit": "context.window",
    "full_text_ratio": "context.full_text_ratio",
    "segment_ratio": "context.segment_ratio",
    "disable_auto_window": "context.disable_auto_window",
    "disable_segment_reorder": "context.disable_segment_reorder",
    "index_filter_workers": "judge.workers",
    "rag_doc_filter_relevance": "judge.doc_relevance",
    "tokenizer_path": "context.tokenizer_path",
}
# Those that are switches there, and the values of our setting that on and off stand for.
SETTING_SWITCHES: Mapping[str, tuple[object, object]] = {
    "skip_build_index": ("never", "auto"),
    "skip_filter_index": (0, -1),
    "enable_hybrid_index": ("hybrid", "lexical"),
}
