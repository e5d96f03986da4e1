"""Results as JSON: which keys there are is a promise to scripts and agents. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from codefathom.errors import FathomError, FirstRunError
from codefathom.facts.paths import is_test
from codefathom.facts.reasons import Note, Told, note_shape, notes_of, verbatim
from codefathom.search.federation import ProjectHit, order_of
from codefathom.search.graph.impact_part import first_items, left_out, next_offset
from codefathom.search.graph.project_map import ProjectMap
from codefathom.search.ranking.excerpt import window
from codefathom.search.verdict import of_several
from codefathom.text.printable import cut_line, escape_json
from codefathom.types import (
    FACETS,
    Backup,
    Branches,
    Check,
    Context,
    Facets,
    Failure,
    Hit,
    IndexReport,
    LineHistory,
    Partial,
    PathReport,
    Related,
    RelatedResult,
    Rest,
    ScipReport,
    SearchPlan,
    SearchResult,
    SecretPlace,
    Skipped,
    Snapshot,
    SomeFiles,
    SomeSymbols,
    Status,
    StoreReport,
    StoreState,
    TourStep,
)

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Answer, Citation, Dropped, Source, StageTrace
    from codefathom.search.graph.impact import Impact


def to_json(value: object) -> str:
    """Return one JSON document in one line, with a line end."""
    return escape_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n"


# Fields that hold notes, and the properties that say them in English: the JSON has the sentence.
_SAID = {
    "why": "reason",
    "limitations": "completeness",
    "damages": "damage",
    "first_run": "incomplete",
    "unloaded": "missing_grammars",
}


def _fields(value: Any) -> dict[str, Any]:
    """Return what `asdict` returns, with English sentences in the place of notes."""
    names = (_SAID.get(item.name, item.name) for item in fields(value))
    return {name: _field(getattr(value, name)) for name in names}


def _field(value: Any) -> Any:
    if isinstance(value, Note):
        return str(value)
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return dict(value)
    return tuple(map(_field, value)) if isinstance(value, tuple) else value


# Lines of the content: of each of the first three hits, and of each later one. docs/benchmarks-agents.md has what an
# agent pays for them.
_FIRST_LINES, _LATER_LINES, _N_FIRST = 6, 3, 3
_MAX_LINE_CHARS = 1_000


class HitDetail(NamedTuple):
    """The parts of each hit that are told."""

    whole: bool = False  # its whole content; else its best lines
    explain: bool = False  # its signals, too

    def shape(self, hit: Hit, place: int) -> dict[str, Any]:
        """Return the JSON of a hit at a place of the list, from 0."""
        n_lines = _FIRST_LINES if place < _N_FIRST else _LATER_LINES
        return hit_shape(hit, n_lines=None if self.whole else n_lines, explain=self.explain)


_WHOLE = HitDetail(whole=True, explain=True)


def rest_shape(rest: Rest, offset: int, n_shown: int) -> dict[str, Any]:
    """Return the keys that tell how a list goes on behind a page of `n_shown` items that begins at `offset`."""
    return {
        "n_left_out": rest.n,
        "n_left_out_is_exact": rest.is_exact,
        "next_offset": rest.next_offset(offset, n_shown),
    }


def facets_shape(facets: Facets) -> dict[str, Any]:
    """Return the counts of a list as JSON, the most frequent values first."""
    counts = {
        name: [{"value": value, "n": n} for value, n in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))]
        for name in FACETS
        for counted in (facets.counts.get(name, {}),)
    }
    return {"is_whole": facets.is_whole, "n_places": facets.n_places, **counts}


def search_shape(result: SearchResult, detail: HitDetail = _WHOLE, n_hits: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom search --json`, of all hits or the first ones."""
    hits = result.hits[:n_hits]
    return {
        "query": result.query,
        "mode": result.mode,
        "plan": plan_shape(result.plan),
        "hits": [detail.shape(hit, place) for place, hit in enumerate(hits)],
        "confidence": round(result.confidence, 4),
        "weak": result.weak,
        **degraded_shape(result.problems),
        **partial_shape(result.partial),
        **branches_shape(result.branches),
        "stale": result.stale,
        "generation": result.generation,
        "suggestion": result.suggestion,
        "suggestion_parts": notes_shape(result.advice),
        **rest_shape(result.rest.plus(len(result.hits) - len(hits)), result.offset, len(hits)),
    }


def federated_shape(
    query: str,
    hits: Iterable[ProjectHit],
    results: Mapping[str, SearchResult],
    failed: Mapping[str, FathomError],
    detail: HitDetail = _WHOLE,
) -> dict[str, Any]:
    """Return the JSON of `fathom search --project … --json`: hits of several projects, and the state of each."""
    judged = of_several(results.values())
    return {
        "query": query,
        "hits": [{"project": item.project_id, **detail.shape(item.hit, place)} for place, item in enumerate(hits)],
        "ranking": order_of(results.values()),
        "confidence": round(judged.confidence, 4),
        "weak": judged.weak,
        "projects": [
            {
                "project": name,
                "confidence": round(result.confidence, 4),
                "weak": result.weak,
                "stale": result.stale,
                **degraded_shape(result.problems),
                **partial_shape(result.partial),
                **branches_shape(result.branches),
            }
            for name, result in results.items()
        ],
        **failed_shape(failed),
    }


def failed_shape(failed: Mapping[str, FathomError]) -> dict[str, Any]:
    """Return the errors of the projects that could not be asked, with their remedies, and what is being indexed."""
    return {
        "failed": {name: f"{error}; {error.hint}" if error.hint else str(error) for name, error in failed.items()},
        "indexing": indexing_shape(failed),
    }


def indexing_shape(failed: Mapping[str, FathomError]) -> list[dict[str, Any]]:
    """Return the projects whose first index is being made, with the number of files by now; 0 of 0: not known."""
    return [
        {"project": name, "n_done": error.progress.n_done, "n_files": error.progress.n_files}
        for name, error in failed.items()
        if isinstance(error, FirstRunError)
    ]


def hit_shape(hit: Hit, *, n_lines: int | None = None, explain: bool = True) -> dict[str, Any]:
    """Return one place of a search; with `n_lines`, the content is so many lines, the best one among them."""
    chunk = hit.chunk
    places = window(hit, n_lines) if n_lines else range(0)
    lines = chunk.text.split("\n")[places.start : places.stop] if n_lines else ()
    folders = chunk.path.split("/")[:-1]
    return {
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "line": hit.line,
        "column": hit.column,
        "kind": hit.kind,
        "name": hit.name,
        "language": chunk.language,
        "score": round(hit.score, 4),
        **({"signals": {name: round(value, 4) for name, value in hit.signals.items()}} if explain else {}),
        "content": "\n".join(cut_line(line, _MAX_LINE_CHARS) for line in lines) if n_lines else chunk.text,
        "content_line": chunk.start_line + places.start,
        "content_column": chunk.column,
        "module": folders[0] if folders else "",
        "sub_module": folders[1] if len(folders) > 1 else "",
        "reason": hit.reason,
        "is_test": is_test(chunk.path),
        "stale": hit.stale,
        "place": hit.place,
        "commit": hit.commit and hit.commit._asdict(),
        **(
            {"reason_parts": notes_shape(hit.reasons), "place_parts": notes_shape(hit.document_place)}
            if explain
            else {}
        ),
    }


def notes_shape(notes: Note | Iterable[Note] | None) -> list[dict[str, Any]]:
    """Return the statements of a sentence as kinds and values, for a face that speaks another language."""
    listed = () if notes is None else (notes,) if isinstance(notes, Note) else notes
    return list(map(note_shape, listed))


def left_out_shape(item: Skipped | Failure) -> dict[str, Any]:
    """Return a file that is left out, with the reason also as notes."""
    return {"path": item.path, "reason": item.reason, "reason_parts": notes_shape(notes_of(item.why))}


def degraded_shape(degraded: Iterable[Told]) -> dict[str, Any]:
    """Return the problems of a result: a sentence each, and the same as notes in the same order."""
    listed = list(degraded)
    parts = [note if isinstance(note, Note) else verbatim(note) for note in listed]
    return {"degraded": list(map(str, listed)), "degraded_parts": notes_shape(parts)}


def branches_shape(branches: Branches) -> dict[str, Any]:
    """Return which branches of a fleet were searched, as the key `branches`; nothing where it has one of each."""
    return {} if branches is None else {"branches": branches}


def partial_shape(partial: Partial | None) -> dict[str, Any]:
    """Return the part of a fleet that was not searched, as the key `partial`; nothing where all of it was."""
    if partial is None:
        return {}
    shards = [
        {"shard": item.shard, "repositories": list(item.repositories), "reason": str(item.reason)}
        | {"reason_parts": notes_shape(item.reason)}
        for item in partial.unasked
    ]
    counts = {"n_shards": partial.n_shards, "n_unasked": len(shards), "n_repositories": partial.n_repositories}
    return {"partial": {**counts, "shards": shards}}


def plan_shape(plan: SearchPlan) -> dict[str, Any]:
    """Return the kind of search that was chosen, and the reason."""
    return {"route": plan.route, "why": plan.why, "kept_to": plan.kept_to, "why_parts": notes_shape(plan.reason)}


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
        "citations": [citation_shape(citation) for citation in answer.citations],
        "verified_share": answer.verified_share,
        "claims": answer.claims._asdict(),
        "dropped_citations": [dropped_shape(dropped) for dropped in answer.dropped],
        "confidence": answer.confidence,
        "label": answer.label,
        "weak": answer.weak,
        "model": answer.model,
        "usage": answer.usage._asdict(),
        "cost": answer.cost,
        "sources": [source_shape(source) for source in answer.sources],
        **degraded_shape(answer.problems),
        "stale": answer.stale,
        "generation": answer.generation,
        **({"expected": answer.expected._asdict()} if answer.expected else {}),
    }


def citation_shape(citation: Citation) -> dict[str, Any]:
    """Return a place that an answer names, and that was verified."""
    return {
        "path": citation.path,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        "symbol": citation.symbol,
        "place": citation.place,
        "place_parts": notes_shape(citation.document_place),
    }


def dropped_shape(dropped: Dropped) -> dict[str, Any]:
    """Return a citation that was removed from an answer."""
    return {"text": dropped.text, "reason": dropped.reason, "reason_parts": notes_shape(dropped.why)}


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
        "place_parts": notes_shape(source.document_place),
    }


def trace_shape(trace: Iterable[StageTrace]) -> list[dict[str, Any]]:
    """Return the JSON of `fathom ask --trace`: tokens by name, in stages and in calls."""
    return [
        asdict(stage)
        | {"usage": stage.usage._asdict()}
        | {"calls": [asdict(call) | {"usage": call.usage._asdict()} for call in stage.calls]}
        for stage in trace
    ]


def symbols_shape(query: str, page: SomeSymbols, offset: int = 0) -> dict[str, Any]:
    """Return the JSON of `fathom symbols --json`; `completeness` says what was not listed, where that is something."""
    listed = [
        {"path": item.path, "language": item.language, **asdict(item.symbol), "by_head": item.by_head}
        for item in page.symbols
    ]
    rest = Rest(max(page.n_symbols - offset - len(listed), 0))
    shape = {"query": query, "symbols": listed, "n_symbols": page.n_symbols, **rest_shape(rest, offset, len(listed))}
    return shape | ({"completeness": page.completeness} if page.limitations else {})


def related_shape(result: RelatedResult, n_edges: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom related --json`, of all edges or the first ones."""
    edges = result.edges[:n_edges]
    shape = _fields(replace(result, edges=edges))
    del shape["rest"], shape["offset"]
    shape["edges"] = [edge_shape(edge) for edge in edges]
    shape["notes"] = notes_shape(result.notes)
    return {**shape, **rest_shape(result.rest.plus(len(result.edges) - len(edges)), result.offset, len(edges))}


_LOST = "unfollowed"  # with its place


def edge_shape(edge: Related) -> dict[str, Any]:
    """Return the JSON of a connection; it names an import that could not be followed where there is one."""
    shape = asdict(edge)
    return shape if edge.unfollowed else {name: value for name, value in shape.items() if not name.startswith(_LOST)}


def impact_shape(impact: Impact, n: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom impact --json`, of all items or the first ones, the rest counted by list."""
    part = impact if n is None else first_items(impact, n)
    rest = left_out(impact, part)
    shape = _fields(part)
    del shape["offset"]
    shape["reached"] = [edge_shape(edge) for edge in part.reached]
    return {
        **shape,
        "left_out_of": dict(rest),
        "n_left_out": sum(rest.values()),
        "next_offset": next_offset(impact, part),
    }


def history_shape(history: LineHistory, n: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom history --json`, of all commits or the first ones."""
    steps = history.steps[:n]
    return {
        "path": history.path,
        "start_line": history.start_line,
        "end_line": history.end_line,
        "commits": [
            {
                **step.commit._asdict(),
                "path": step.path,
                "start_line": step.start_line,
                "end_line": step.end_line,
                "before": step.before,
                "after": step.after,
            }
            for step in steps
        ],
        "code_owners": list(history.code_owners),
        "changed_by": [asdict(owner) for owner in history.changed_by],
        "note": history.note,
        **rest_shape(history.rest.plus(len(history.steps) - len(steps)), history.offset, len(steps)),
    }


def files_shape(some: SomeFiles, n_shown: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom files --json`, of all files or the first ones."""
    listed = [file._asdict() for file in some.files[:n_shown]]
    left_out = {"n_left_out": len(some.files) - len(listed)}
    return {"files": listed, **left_out, **({"completeness": some.completeness} if some.limitations else {})}


def map_shape(outline: ProjectMap) -> dict[str, Any]:
    """Return the JSON of `fathom map --json`; without a question there is no confidence."""
    judged = outline.verdict
    told = {"confidence": round(judged.confidence, 4), "weak": judged.weak} if judged else {}
    return {**{name: value for name, value in _fields(outline).items() if name != "verdict"}, **told}


def plain_shape(
    value: Context | IndexReport | PathReport | ScipReport | Status | StoreReport | StoreState | Backup | Snapshot,
) -> dict[str, Any]:
    """Return a result whose fields are the keys: context, index, SCIP, status, store, backup, snapshot."""
    shape = _fields(value)
    if isinstance(value, Context):
        del shape["problems"]
        shape |= degraded_shape(value.problems)
    return shape


def tour_shape(steps: Sequence[TourStep]) -> dict[str, Any]:
    """Return the JSON of `fathom map --tour --json`."""
    return {"steps": [step._asdict() for step in steps]}


def secrets_shape(places: Sequence[SecretPlace], n_shown: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom status --secrets --json`, of all places or the first ones."""
    listed = [asdict(place) for place in places[:n_shown]]
    return {"secrets": listed, "n_left_out": len(places) - len(listed)}


def status_shape(status: Status, revisions: Sequence[Mapping[str, Any]], n_shown: int | None = None) -> dict[str, Any]:
    """Return the JSON of `fathom status --json`; with `n_shown`, so many first entries of its long lists."""
    lists: Mapping[str, Sequence[Any]] = {
        "failures": list(map(_fields, status.failures)),
        "broken": list(map(_fields, status.broken)),
        "skipped": list(map(_fields, status.skipped)),
        "revisions": revisions,
    }
    rest = sum(map(len, lists.values())) if n_shown is None else n_shown
    shape = {**_fields(status), "revisions": []}
    for key, items in lists.items():
        shape[key] = list(items[:rest])
        rest -= len(shape[key])
    return {**shape, "n_left_out": sum(map(len, lists.values())) - sum(len(shape[key]) for key in lists)}


def checks_shape(checks: Iterable[Check]) -> dict[str, Any]:
    """Return the JSON of `fathom doctor --json`."""
    listed = list(checks)
    return {"ok": all(check.ok for check in listed), "checks": list(map(_finding, listed))}


def check_shape(check: Check) -> dict[str, Any]:
    """Return one finding, its sentences also as notes."""
    return {
        **_finding(check),
        "name_parts": notes_shape(notes_of(check.part)),
        "detail_parts": notes_shape(notes_of(check.told)),
        "hint_parts": notes_shape(notes_of(check.remedy)),
    }


def _finding(check: Check) -> dict[str, Any]:
    return {"name": check.name, "ok": check.ok, "detail": check.detail, "hint": check.hint}
