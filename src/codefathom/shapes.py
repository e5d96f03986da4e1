"""Results as JSON: which keys there are is a promise to scripts and agents. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from codefathom.search.federation import ProjectHit, order_of
from codefathom.text.printable import cut_line, escape_json
from codefathom.types import (
    Backup,
    Check,
    Context,
    FoundSymbol,
    Hit,
    IndexedFile,
    IndexReport,
    PathReport,
    RelatedResult,
    SearchResult,
    SecretPlace,
    Snapshot,
    Status,
    StoreReport,
    StoreState,
)

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Answer, Source, StageTrace
    from codefathom.search.graph.impact import Impact
from codefathom.search.graph.project_map import ProjectMap


def to_json(value: object) -> str:
    """Return one JSON document that ends with a line end."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


# Of a hit that is a whole file, around its best line.
_LINES_BEFORE_BEST, _MAX_FILE_LINES, _MAX_FILE_LINE_CHARS = 8, 24, 1_000


def search_shape(result: SearchResult, *, whole: bool = True) -> dict[str, Any]:
    """Return the JSON of `fathom search --json`; unless `whole`, a file has its best lines only."""
    return {
        "query": result.query,
        "mode": result.mode,
        "plan": asdict(result.plan),
        "hits": [hit_shape(hit, whole=whole) for hit in result.hits],
        "confidence": round(result.confidence, 4),
        "weak": result.weak,
        "degraded": list(result.degraded),
        "stale": result.stale,
        "generation": result.generation,
        "suggestion": result.suggestion,
    }


def federated_shape(
    query: str,
    hits: Iterable[ProjectHit],
    results: Mapping[str, SearchResult],
    failed: Mapping[str, str],
    *,
    whole: bool = True,
) -> dict[str, Any]:
    """Return the JSON of `fathom search --project … --json`: hits of several projects, and the state of each.

    Unless `whole`, a file has its best lines only.
    """
    return {
        "query": query,
        "hits": [{"project": item.project_id, **hit_shape(item.hit, whole=whole)} for item in hits],
        "ranking": order_of(results.values()),
        "projects": [
            {
                "project": name,
                "confidence": round(result.confidence, 4),
                "weak": result.weak,
                "stale": result.stale,
                "degraded": list(result.degraded),
            }
            for name, result in results.items()
        ],
        "failed": dict(failed),
    }


def hit_shape(hit: Hit, *, whole: bool = True) -> dict[str, Any]:
    """Return one place of a search; unless `whole`, the content of a file is its best lines only."""
    chunk = hit.chunk
    lines = chunk.text.split("\n") if chunk.kind == "file" and not whole else []
    first = max(min(hit.line - chunk.start_line - _LINES_BEFORE_BEST, len(lines) - _MAX_FILE_LINES), 0)
    folders = chunk.path.split("/")[:-1]
    return {
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "line": hit.line,
        "column": hit.column,
        "kind": chunk.kind,
        "name": hit.name,
        "language": chunk.language,
        "score": round(hit.score, 4),
        "signals": {name: round(value, 4) for name, value in hit.signals.items()},
        "content": _best_lines(lines[first : first + _MAX_FILE_LINES]) or chunk.text,
        "content_line": chunk.start_line + first,
        "content_column": chunk.column,
        "module": folders[0] if folders else "",
        "sub_module": folders[1] if len(folders) > 1 else "",
        "reason": hit.reason,
        "stale": hit.stale,
        "place": hit.place,
    }


def _best_lines(lines: Sequence[str]) -> str:
    return "\n".join(cut_line(line, _MAX_FILE_LINE_CHARS) for line in lines)


def answer_shape(answer: Answer) -> dict[str, Any]:
    """Return the JSON of `fathom ask --json`."""
    return {
        "question": answer.question,
        "answer": answer.text,
        **details_shape(answer),
        **({"error": answer.failure, "hint": answer.hint} if answer.failure else {}),
    }


def details_shape(answer: Answer) -> dict[str, Any]:
    """Return all of an answer but its text and why it is not whole."""
    return {
        "citations": [asdict(citation) for citation in answer.citations],
        "verified_share": answer.verified_share,
        "dropped_citations": [asdict(dropped) for dropped in answer.dropped],
        "confidence": answer.confidence,
        "label": answer.label,
        "model": answer.model,
        "usage": answer.usage._asdict(),
        "cost": answer.cost,
        "sources": [source_shape(source) for source in answer.sources],
        "degraded": list(answer.degraded),
        "stale": answer.stale,
        "generation": answer.generation,
    }


def source_shape(source: Source) -> dict[str, Any]:
    """Return one numbered excerpt that an answer rests on."""
    return {
        "number": source.number,
        "path": source.path,
        "start_line": source.start_line,
        "end_line": source.end_line,
        "symbol": source.symbol,
        "score": round(source.score, 4),
        "reason": source.reason,
        "place": source.place,
    }


def trace_shape(trace: Iterable[StageTrace]) -> list[dict[str, Any]]:
    """Return the JSON of `fathom ask --trace`: tokens by name, in stages and in calls."""
    return [
        asdict(stage)
        | {"usage": stage.usage._asdict()}
        | {"calls": [asdict(call) | {"usage": call.usage._asdict()} for call in stage.calls]}
        for stage in trace
    ]


def symbols_shape(query: str, symbols: Iterable[FoundSymbol], n_symbols: int) -> dict[str, Any]:
    """Return the JSON of `fathom symbols --json`; `n_symbols` counts also those that a limit has cut off."""
    listed = [{"path": item.path, "language": item.language, **asdict(item.symbol)} for item in symbols]
    return {"query": query, "symbols": listed, "n_symbols": n_symbols}


def files_shape(files: Iterable[IndexedFile]) -> dict[str, Any]:
    """Return the JSON of `fathom files --json`."""
    return {"files": [file._asdict() for file in files]}


def plain_shape(
    value: RelatedResult
    | Impact
    | ProjectMap
    | Context
    | IndexReport
    | PathReport
    | Status
    | StoreReport
    | StoreState
    | Backup
    | Snapshot,
) -> dict[str, Any]:
    """Return a result whose fields are the keys: related, impact, map, context, index, status, store, backup."""
    return asdict(value)


def secrets_shape(places: Iterable[SecretPlace]) -> dict[str, Any]:
    """Return the JSON of `fathom status --secrets --json`."""
    return {"secrets": [asdict(place) for place in places]}


def checks_shape(checks: Iterable[Check]) -> dict[str, Any]:
    """Return the JSON of `fathom doctor --json`."""
    listed = [asdict(check) for check in checks]
    return {"ok": all(check["ok"] for check in listed), "checks": listed}
