"""Hits → the files of a prompt, within a window of tokens: whole while they fit, then lines around the hits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from codefathom.answer.answer_types import Source
from codefathom.answer.budget import CountTokens, Material, NameOf, Parts, Shares, pack
from codefathom.answer.context_formats import context_file, context_text
from codefathom.types import Context, ContextFile, SearchResult


class PrintedForm(NamedTuple):
    """The format in which a context is printed, and the counter of its tokens."""

    format_name: str
    count: CountTokens

    def cost(self, query: str, files: Sequence[ContextFile]) -> int:
        """Return the tokens of these files as they are printed."""
        return self.count(context_text(Context(query, tuple(files), 0), self.format_name))


def materials(result: SearchResult, text_of: Callable[[str], str]) -> list[Material]:
    """Gather hits by file, the file of the best hit first."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in result.hits:
        spans.setdefault(hit.chunk.path, []).append((hit.chunk.start_line, hit.chunk.end_line))
    in_lines: dict[str, list[tuple[int, int, int]]] = {}
    for chunk in (hit.chunk for hit in result.hits if hit.chunk.is_part):
        in_lines.setdefault(chunk.path, []).append((chunk.start_line, chunk.column, len(chunk.text.rstrip("\n"))))
    best = {hit.chunk.path: hit for hit in reversed(result.hits)}
    return [
        Material(
            path,
            text_of(path),
            tuple(of_path),
            best[path].score,
            best[path].reason,
            in_lines=tuple(in_lines.get(path, ())),
        )
        for path, of_path in spans.items()
    ]


def gather(
    query: str, candidates: Sequence[Material], budget: Shares, form: PrintedForm, name_of: NameOf = lambda *_: ""
) -> Context:
    """Return the files that fit as they are printed, most relevant first; of those that do not fit whole, excerpts."""
    texts = {item.path: item.text for item in candidates}
    around = form.cost(query, ())

    def cost_of(parts: Parts) -> int:
        return form.cost(query, [context_file(parts, texts[parts[0].path])]) - around

    budget = Shares(budget.full, budget.segment - around)
    packed = pack(candidates, budget, form.count, name_of, cost_of=cost_of)
    by_path: dict[str, list[Source]] = {}
    for source in packed.sources:
        by_path.setdefault(source.path, []).append(source)
    files = [context_file(parts, texts[path]) for path, parts in by_path.items()]
    return Context(query, tuple(files), form.cost(query, files), packed.cut, packed.left_out)
