"""Commands that ask several projects at once: those that are named, or those that paths belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from codefathom.askers.joined import (
    FederatedMap,
    FederatedRelated,
    FederatedSearch,
    FederatedSymbols,
    FederatedTour,
    JoinedProjects,
    left_out_notes,
)
from codefathom.askers.joined_answers import failure_notes, in_project_note
from codefathom.cli.asked_questions import map_question, related_question, search_question, symbols_question
from codefathom.cli.display.output import Style
from codefathom.cli.display.render import map_code, map_notes, related_text, symbols_text
from codefathom.cli.face import Face
from codefathom.cli.options import MapOptions, RelatedOptions, SearchOptions, SymbolsOptions
from codefathom.cli.search_output import exit_code, write_hits
from codefathom.cli.token_budget import ItemList, map_within, write_items
from codefathom.cli.tour_output import write_tour
from codefathom.errors import FathomError, UsageError
from codefathom.facts.reasons import Note, Told
from codefathom.search.federation import in_project
from codefathom.search.graph.project_map import ProjectMap, map_text
from codefathom.search.verdict import note_of
from codefathom.shapes import (
    HitDetail,
    failed_shape,
    federated_shape,
    map_shape,
    related_shape,
    rest_shape,
    symbols_shape,
    to_json,
)
from codefathom.types import RelatedResult, SearchResult, Skipped, SomeSymbols


def search_several(options: SearchOptions, face: Face) -> int:
    """Print the best places of several projects or paths. Return 1 without hits.

    A path begins with its project; with --in it is absolute.
    """
    if options.paths and options.values.get("files"):
        raise UsageError("--in cannot be used with --file", hint="use --in alone: it says what is searched")
    with face.open_several(options) as projects:
        question = search_question(options, "")
        result: FederatedSearch = projects.of_each(question)
    judged = result.verdict
    doubts = [*_doubts_of_several(result), *left_out_notes(result.left_out)]
    face.notes([*doubts, *([note_of(judged, anyway=question.anyway)] if result.hits else [])])
    detail = HitDetail(whole=face.common.verbose, explain=options.explain)
    of_paths = _of_paths(options.paths, result.roots, result.left_out)

    def shape(n: int) -> Mapping[str, Any]:
        first = federated_shape(options.query, result.hits[:n], result.results, result.failed, detail)
        return {**first, **of_paths, **rest_shape(result.rest.plus(len(result.hits) - n), result.offset, n)}

    hits = tuple(map(result.in_place if options.paths else in_project, result.hits))
    best = max(result.results.values(), key=lambda one: one.confidence)
    shown = replace(
        best,
        hits=hits,
        weak=judged.weak,
        unanswerable=judged.unanswerable,
        offset=result.offset,
        rest=result.rest,
    )
    write_hits(shown, shape, options, face)
    if not result.hits:
        face.note(f"nothing found for {options.query!r}")
    return exit_code(shown, options)


def symbols_of_several(options: SymbolsOptions, face: Face) -> int:
    """Print definitions by name, each path with its project before it, or absolute. Return 1 without any."""
    with face.open_several(options) as projects:
        result: FederatedSymbols = projects.of_each(symbols_question(options))
        roots, left_out = projects.roots, projects.left_out
    face.notes([*failure_notes(result.failed), *left_out_notes(left_out)])
    face.notes(result.limitations)
    of_paths = _of_paths(options.paths, roots, left_out)
    n_symbols = sum(result.n_symbols.values())

    def text(n: int, style: Style) -> str:
        listed = result.first(n)
        if not face.common.json:
            return symbols_text(
                (replace(item, path=projects.shown_path(name, item.path)) for name, item in listed), style
            )
        named = tuple(replace(item, path=f"{name}/{item.path}") for name, item in listed)
        shape = symbols_shape(options.query, SomeSymbols(named, n_symbols, result.limitations))
        rest = rest_shape(result.rest.plus(len(result.symbols) - len(listed)), options.offset, n)
        return to_json({**shape, **rest, **failed_shape(result.failed), **of_paths})

    pages = ItemList(result.n_rows, text, "symbols", None, options.offset, result.rest, lambda n: len(result.first(n)))
    write_items(pages, options.max_tokens, face)
    if not result.symbols:
        problem = f"no symbol matches {options.query!r}" if options.query else "no symbol was found"
        face.note(f"{problem}; `fathom search` also searches the text")
    return 0 if result.symbols else 1


def related_in_several(options: RelatedOptions, face: Face) -> int:
    """Print what a file or symbol is connected with in each project that has it. Return 1 without any."""
    with face.open_several(options) as projects:
        result: FederatedRelated = projects.of_each(related_question(options))
        roots, left_out = projects.roots, projects.left_out
    # A name that is in one project only is no failure of the others.
    failed = {name: error for name, error in result.failed.items() if not isinstance(error, UsageError)}
    face.notes([*failure_notes(failed), *left_out_notes(left_out)])
    of_paths = _of_paths(options.paths, roots, left_out)

    def text(n: int, style: Style) -> str:
        first = result.first(n)
        if not face.common.json:
            return "".join(related_text(_shown(name, one, projects), style) for name, one in first.items())
        shapes = {name: related_shape(one) for name, one in first.items()}
        rest = rest_shape(result.rest.plus(result.n_in(result.n_rows) - result.n_in(n)), options.offset, n)
        return to_json({"target": options.target, "projects": shapes, **rest, **failed_shape(failed), **of_paths})

    pages = ItemList(result.n_rows, text, "results", None, options.offset, result.rest, result.n_in)
    write_items(pages, options.max_tokens, face)
    face.notes(f"{name}: {one.completeness.rstrip('.')}" for name, one in result.results.items())
    return 0 if any(one.edges for one in result.results.values()) else 1


def _shown(name: str, result: RelatedResult, projects: JoinedProjects) -> RelatedResult:
    """Return the connections in a project with the paths that a user reads."""
    edges = tuple(replace(edge, path=projects.shown_path(name, edge.path)) for edge in result.edges)
    return replace(result, edges=edges)


def map_of_several(options: MapOptions, face: Face) -> int:
    """Print one outline of several projects, each path with its project before it. Return 1 without any file."""
    with face.open_chosen(options) as projects:
        assert isinstance(projects, JoinedProjects)  # what several names and paths choose
        question = map_question(options)
        if question.tour:
            tour: FederatedTour = projects.of_each(question)
            face.notes(failure_notes(tour.failed))
            return write_tour(tour.steps, options.max_tokens, face)
        failed: Mapping[str, FathomError] = {}

        def draw(budget: int) -> tuple[ProjectMap, str]:
            nonlocal failed
            result: FederatedMap = projects.of_each(replace(question, max_tokens=budget))
            failed = result.failed
            if not face.common.json:
                return result.map, map_text(result.map.files)
            # Some of it is known only after the files have been looked at.
            of_paths = _of_paths(options.paths, projects.roots, projects.left_out)
            return result.map, to_json({**map_shape(result.map), **failed_shape(failed), **of_paths})

        outline, text = map_within(draw, options.max_tokens)
        left_out = projects.left_out
    face.notes([*failure_notes(failed), *left_out_notes(left_out)])
    face.write(text)
    face.notes(map_notes(outline))
    return map_code(outline)


def _of_paths(paths: Sequence[str], roots: Mapping[str, str], left_out: Sequence[Skipped]) -> dict[str, object]:
    """Return the keys that results have only where paths have chosen the projects."""
    if not paths:
        return {}
    listed = [{"path": item.path, "reason": item.reason} for item in left_out]
    return {"roots": dict(roots), "left_out": listed}


def _doubts_of_several(result: FederatedSearch) -> list[Note]:
    """Return a note for each project that failed, and for all that limits the results of the others."""
    return [
        *failure_notes(result.failed),
        *(in_project_note(name, note) for name, one in result.results.items() for note in _doubts(one)),
    ]


def _doubts(result: SearchResult) -> list[Told]:
    stale = ["files have changed since the index was made; run `fathom index` there to update it"]
    return [*result.problems, *(stale if result.stale else [])]
