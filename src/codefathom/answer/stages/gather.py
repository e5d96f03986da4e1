"""Hits → the files of a prompt, within a window of tokens: whole while they fit, then lines around the hits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codefathom.answer.answer_types import Source
from codefathom.answer.budget import CountTokens, Material, NameOf, Shares, pack
from codefathom.types import Context, ContextFile, SearchResult


def materials(result: SearchResult, text_of: Callable[[str], str]) -> list[Material]:
    """Gather hits by file, the file of the best hit first."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in result.hits:
        spans.setdefault(hit.chunk.path, []).append((hit.chunk.start_line, hit.chunk.end_line))
    best = {hit.chunk.path: hit for hit in reversed(result.hits)}
    return [
        Material(path, text_of(path), tuple(of_path), best[path].score, best[path].reason)
        for path, of_path in spans.items()
    ]


def gather(
    query: str, candidates: Sequence[Material], budget: Shares, count: CountTokens, name_of: NameOf = lambda *_: ""
) -> Context:
    """Return the files that fit, most relevant first; of those that do not fit whole, excerpts in line order."""
    packed = pack(candidates, budget, count, name_of)
    by_path: dict[str, list[Source]] = {}
    for source in packed.sources:
        by_path.setdefault(source.path, []).append(source)
    files = tuple(_file(item, by_path[item.path]) for item in candidates if item.path in by_path)
    lost = {*packed.left_out, *packed.cut}
    return Context(query, files, packed.n_tokens, tuple(item.path for item in candidates if item.path in lost))


def _file(item: Material, parts: Sequence[Source]) -> ContextFile:
    if parts[0].is_whole:
        return ContextFile(item.path, item.text, item.score, item.reason, (), _symbols(parts))
    text = "\n…\n".join(part.text for part in parts) + "\n"
    spans = tuple((part.start_line, part.end_line) for part in parts)
    return ContextFile(item.path, text, item.score, item.reason, spans, _symbols(parts))


def _symbols(parts: Sequence[Source]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.symbol for part in parts if part.symbol))
