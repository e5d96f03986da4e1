"""Hits → the files of a prompt, within a window of tokens: whole while they fit, then lines around the hits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from codefathom.answer.answer_types import Source
from codefathom.answer.budget import CountTokens, Material, NameOf, Parts, Shares, pack
from codefathom.answer.context_formats import context_file, context_text
from codefathom.types import Context, ContextFile, Hit, SearchResult


class PrintedForm(NamedTuple):
    """The format in which a context is printed, and the counter of its tokens."""

    format_name: str
    count: CountTokens

    def cost(self, query: str, files: Sequence[ContextFile]) -> int:
        """Return the tokens of these files as they are printed."""
        return self.count(context_text(Context(query, tuple(files), 0), self.format_name))


def materials(result: SearchResult, text_of: Callable[[str], str]) -> list[Material]:
    """Gather hits by file, the file of the best hit first."""
    hits_of: dict[str, list[Hit]] = {}
    for hit in result.hits:
        hits_of.setdefault(hit.chunk.path, []).append(hit)
    return [_material(path, text_of(path), hits) for path, hits in hits_of.items()]


def _material(path: str, text: str, hits: Sequence[Hit]) -> Material:
    """Return a file with the lines of its hits, those that it still has: it may be shorter than when it was indexed."""
    n_lines = text.count("\n") + 1
    chunks = [hit.chunk for hit in hits if hit.chunk.start_line <= n_lines]
    return Material(
        path,
        text,
        tuple((chunk.start_line, min(chunk.end_line, n_lines)) for chunk in chunks),
        hits[0].score,
        hits[0].reason,
        in_lines=tuple(
            (chunk.start_line, chunk.column, len(chunk.text.rstrip("\n"))) for chunk in chunks if chunk.is_part
        ),
    )


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
