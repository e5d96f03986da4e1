"""The hits of a search as text, as lines of paths or as JSON, within a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from codefathom.cli.display.output import Style
from codefathom.cli.display.render import paths_text, places_text, search_text
from codefathom.cli.face import Face
from codefathom.cli.options import SearchOptions
from codefathom.cli.token_budget import ItemList, write_items
from codefathom.search.verdict import MAX_WEAK
from codefathom.types.hits import Hit, SearchResult

Shape = Callable[[int], Mapping[str, Any]]  # of so many first hits


def write_hits(result: SearchResult, shape: Shape, options: SearchOptions, face: Face) -> None:
    """Write the hits of a result; where they are weak, text has few of them unless all are asked for."""
    if face.common.json:
        from codefathom.shapes import to_json

        items = ItemList(len(result.hits), lambda n, _: to_json(shape(n)), "hits")
        shown = result
    else:
        shown = _shown(result, options)
        items = _as_text(shown, options, face)
        if n_more := len(result.hits) - len(shown.hits):
            face.note(f"the {len(shown.hits)} closest matches are shown; --anyway shows {n_more} more")
    write_items(items._replace(offset=shown.offset, rest=shown.rest), options.max_tokens, face)


def _shown(result: SearchResult, options: SearchOptions) -> SearchResult:
    """Return the hits that text shows: few where they are weak."""
    n = len(result.hits) if options.values.get("anyway") or not result.weak else MAX_WEAK
    return replace(result, hits=result.hits[:n], rest=result.rest.plus(len(result.hits[n:])))


def exit_code(result: SearchResult, options: SearchOptions) -> int:
    """Return 0 for a search with hits, unless it is as good as certain that none of them answers: then 1."""
    return 0 if result.hits and (options.values.get("anyway") or not result.unanswerable) else 1


def _as_text(result: SearchResult, options: SearchOptions, face: Face) -> ItemList:
    if options.format == "path":
        return ItemList(len(result.hits), lambda n, _: paths_text(result.hits[:n]), "hits")
    explain = _explainer(options.explain)

    def text(n: int, style: Style) -> str:
        return search_text(replace(result, hits=result.hits[:n]), style, whole=face.common.verbose, explain=explain)

    return ItemList(len(result.hits), text, "hits", lambda style: places_text(result.hits[:1], style))


def _explainer(explain: bool) -> Callable[[Hit], Iterable[str]]:
    if not explain:
        return lambda _: ()
    from codefathom.search.ranking.explain import lines

    return lines
