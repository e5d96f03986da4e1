"""Why a hit ranks where it does, in words and numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from codefathom.search.signals import SIGNALS
from codefathom.search.wanted import Wanted
from codefathom.search.weights import WEIGHTS
from codefathom.search.words import forms_of
from codefathom.stores.tokens import terms
from codefathom.types import Chunk

MEANING = SIGNALS | {
    "repeat": "its share of the score: an earlier hit lies in the same file",
    "rerank": "a reranking model's grade for it, by which it was moved",
}
_CONNECTED = {
    "called by": "calls it{}",
    "references": "uses it{}",
    "imported by": "imports it",
    "calls": "is called there",
    "imports": "is imported there",
}
_NEAR = 0.8  # of the nearest, by cosine
_COMMENTS = ("//", "/*", "*", "#", "--", ";", "%")


def reason(want: Wanted, chunk: Chunk, signals: Mapping[str, float]) -> str:
    """Return one short sentence: the strongest evidence for this chunk."""
    if "matches" in signals:
        return f"{signals['matches']:.0f} matches" if signals["matches"] > 1 else "1 match"
    used = [
        said.format(f" {n:.0f} times" if n > 1 else "") for kind, said in _CONNECTED.items() if (n := signals.get(kind))
    ]
    if used:
        return "; ".join(used)
    if "scope" in signals:
        defined = _asked_for(want, chunk)
        return f"defines {defined[0]}" if defined else "inside what was asked for"
    parts = [part for part in (_definition(want, chunk, signals), _names(want, chunk), _path(want, chunk)) if part]
    if signals.get("lexical", 0.0) > 0.25:
        parts.append(_words(want, chunk))
    if signals.get("vector", 0.0) > _NEAR:
        parts.append("close in meaning")
    return "; ".join([part for part in parts if part][:3]) or "weak evidence only"


def best_line(want: Wanted, chunk: Chunk) -> int:
    """Return the line of a chunk that mentions most of the question, the first of equals.

    The line in which a symbol is defined that the question names counts as much as two words.
    """
    lines = chunk.text.split("\n")
    lowered = chunk.text.lower().split("\n")
    n_found = [0] * len(lines)
    for term in want.terms:
        for place in [place for place, line in enumerate(lowered) if term in line]:
            n_found[place] += 1
    for place in _defining(_heads(want, chunk), lines):
        n_found[place] += 2
    return min(chunk.start_line + n_found.index(max(n_found)), chunk.end_line)


def _defining(heads: Sequence[tuple[str, str]], lines: Sequence[str]) -> set[int]:
    """Return the places of the lines that begin one of these (name, signature)."""
    return {place for name, head in heads for place, line in enumerate(lines) if name in line and _begins(line, head)}


def best_name(want: Wanted, chunk: Chunk, line: int) -> str:
    """Return the symbol to show for a chunk: the one it lies in, the one it holds that the question names, or the one
    at a line."""
    if chunk.symbol:
        return chunk.symbol
    named = (*_asked_for(want, chunk), *_named(want, chunk))
    return next(iter((*named, *_at(chunk, line), *chunk.names)), "")


def _at(chunk: Chunk, line: int) -> Iterator[str]:
    """Yield the names whose definitions begin before a line, the nearest first; of a comment, those after it."""
    if len(chunk.names) < 2:
        return
    lines = chunk.text.split("\n")
    place = line - chunk.start_line
    before, after = lines[place::-1], lines[place:]
    heads = [head for head in chunk.signature.split("\n") if head]
    for text in after if lines[place].lstrip().startswith(_COMMENTS) else before:
        for name in chunk.names:
            last = name.rpartition(".")[2]
            if last in text and any(last in head and _begins(text, head) for head in heads):
                yield name


def _begins(line: str, head: str) -> bool:
    """Whether a line is the beginning of a signature, or the other way round; white space does not count."""
    folded = " ".join(line.split())
    return folded.startswith(head) or head.startswith(folded)


def _heads(want: Wanted, chunk: Chunk) -> list[tuple[str, str]]:
    """Return names that the question means, with their signatures in a chunk."""
    asked, named = _asked_for(want, chunk), _named(want, chunk)
    names = {name.rpartition(".")[2] for name in (*asked, *named[:1])}
    return [(name, head) for name in sorted(names) for head in chunk.signature.split("\n") if name in head]


def lines(signals: Mapping[str, float]) -> list[str]:
    """Return each signal that counts, for --explain: what it adds before scaling, its number, its meaning."""
    shown = [(WEIGHTS.get(name, 0.0) * value, name, value) for name, value in signals.items() if value]
    shown.sort(key=lambda item: (-abs(item[0]), item[1]))
    return [f"{added:+.2f} {name} {value:.3f}  {MEANING.get(name, '')}".rstrip() for added, name, value in shown]


def _definition(want: Wanted, chunk: Chunk, signals: Mapping[str, float]) -> str:
    defined = _asked_for(want, chunk) if signals.get("definition") else []
    return f"defines {defined[0]}" if defined else ""


def _asked_for(want: Wanted, chunk: Chunk) -> list[str]:
    lasts = {symbol.replace("::", ".").rpartition(".")[2].lower() for symbol in want.symbols}
    return [name for name in chunk.names if name.rpartition(".")[2].lower() in lasts]


def _named(want: Wanted, chunk: Chunk) -> list[str]:
    """Return the names whose last part is a word of the question; those first that have most of its words."""
    named = [name for name in chunk.names if _n_shared(want, _words_of(name.rpartition(".")[2]))]
    return sorted(named, key=lambda name: -_n_shared(want, _words_of(name))) if len(named) > 1 else named


@lru_cache(maxsize=4_096)
def _words_of(name: str) -> tuple[str, ...]:
    return tuple(terms(name))


def _names(want: Wanted, chunk: Chunk) -> str:
    matching = _named(want, chunk)
    return f"named {', '.join(matching[:2])}" if matching else ""


def _path(want: Wanted, chunk: Chunk) -> str:
    file_name = chunk.path.rpartition("/")[2]
    return f"file {file_name}" if _n_shared(want, terms(file_name.partition(".")[0])) else ""


def _words(want: Wanted, chunk: Chunk) -> str:
    lowered = chunk.text.lower()
    found = [term for term in want.terms if term in lowered]
    return f"mentions {', '.join(found[:4])}" if found else ""


def _n_shared(want: Wanted, words: Sequence[str]) -> int:
    return forms_of(want.terms).among(words).bit_count()
