"""Why a hit ranks where it does, in words and numbers. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from codefathom.search.rank import SIGNALS, Wanted, same_word
from codefathom.stores.tokens import terms
from codefathom.types import Chunk


def reason(want: Wanted, chunk: Chunk, signals: Mapping[str, float]) -> str:
    """Return one short sentence: the strongest evidence for this chunk."""
    parts = [part for part in (_definition(want, chunk, signals), _names(want, chunk), _path(want, chunk)) if part]
    if signals.get("lexical", 0.0) > 0.25:
        parts.append(_words(want, chunk))
    if signals.get("vector", 0.0) > 0.6:
        parts.append("close in meaning")
    return "; ".join([part for part in parts if part][:3]) or "weak evidence only"


def best_line(want: Wanted, chunk: Chunk) -> int:
    """Return the line of a chunk that mentions most of the question, the first of equals."""
    best, most = chunk.start_line, 0
    for number, line in enumerate(chunk.text.split("\n"), chunk.start_line):
        lowered = line.lower()
        n_found = sum(term in lowered for term in want.terms)
        if n_found > most:
            best, most = number, n_found
    return min(best, chunk.end_line)


def lines(signals: Mapping[str, float]) -> list[str]:
    """Return each signal with its number and meaning, strongest first, for --explain."""
    shown = sorted(signals.items(), key=lambda item: -item[1])
    return [f"{name} {value:.3f}  {SIGNALS.get(name, '')}".rstrip() for name, value in shown]


def _definition(want: Wanted, chunk: Chunk, signals: Mapping[str, float]) -> str:
    if not signals.get("definition"):
        return ""
    lasts = {symbol.replace("::", ".").rpartition(".")[2].lower() for symbol in want.symbols}
    defined = [name for name in chunk.names if name.rpartition(".")[2].lower() in lasts]
    return f"defines {defined[0]}" if defined else ""


def _names(want: Wanted, chunk: Chunk) -> str:
    matching = [name for name in chunk.names if _shared(want, terms(name.rpartition(".")[2]))]
    return f"named {', '.join(matching[:2])}" if matching else ""


def _path(want: Wanted, chunk: Chunk) -> str:
    file_name = chunk.path.rpartition("/")[2]
    return f"file {file_name}" if _shared(want, terms(file_name.partition(".")[0])) else ""


def _words(want: Wanted, chunk: Chunk) -> str:
    inside = set(terms(chunk.text))
    found = [term for term in want.terms if term in inside]
    return f"mentions {', '.join(found[:4])}" if found else ""


def _shared(want: Wanted, words: list[str]) -> bool:
    return any(same_word(term, word) for term in want.terms for word in words)
