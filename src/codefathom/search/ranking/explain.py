"""The reasons for the rank of a hit, as notes and in numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.excerpt import begins
from codefathom.search.ranking.rank import LONG_TEXT, MIDDLE, SPREAD, score_of, weights_of
from codefathom.search.ranking.signals import SIGNALS
from codefathom.stores.lexical.terms import terms
from codefathom.types.hits import Chunk, Hit

RERANKED = "rerank"
MEANING = SIGNALS | {
    "repeat": "factor of its score, because an earlier hit lies in the same file",
    LONG_TEXT: "the question is a long text, for which the signals have weights of their own",
    RERANKED: "grade by a reranking model, which moved it",
    "overview": "its place among the lines that tell what the project is for",
    "bm25": "BM25 of the words of the question in it",
    "cosine": "closeness of its meaning to the question (cosine)",
    "by_words": "what the ranking by words adds, its weight included",
    "by_meaning": "what the ranking by meaning adds, its weight included",
}
_ADDED = {"by_words": 1.0, "by_meaning": 1.0}
_CONNECTED = {  # what is said of one edge, and of several
    "called by": (say.CALLS_IT, say.CALLS_IT_TIMES),
    "references": (say.USES_IT, say.USES_IT_TIMES),
    "imported by": (say.IMPORTS_IT, say.IMPORTS_IT),
    "calls": (say.IS_CALLED, say.IS_CALLED),
    "imports": (say.IS_IMPORTED, say.IS_IMPORTED),
}
_NEAR = 0.8  # of the nearest, by cosine
_HEAD = 2  # words, as which the line counts in which a symbol of the question is defined
_MENTIONED = 0.25  # of the best, by words
_COMMENTS = ("//", "/*", "*", "#", "--", ";", "%")


class MatchedNames(NamedTuple):
    """The names of a chunk that occur in a question."""

    symbols: list[str]  # of symbols that the question names
    shared: list[str]  # that share words with the question, most words first

    @property
    def all(self) -> list[str]:
        """Both kinds, the symbols first."""
        return [*self.symbols, *self.shared]


def matched_names(query: RankingQuery, chunk: Chunk) -> MatchedNames:
    """Return the names whose last part the question means."""
    forms = query.word_forms
    lasts = query.symbol_names
    symbols, shared = [], []
    for name in chunk.names:
        last = name.rpartition(".")[2]
        if last.lower() in lasts:
            symbols.append(name)
        if forms.among(_words_of(last)):
            shared.append(name)
    if len(shared) > 1:
        shared.sort(key=lambda name: -forms.among(_words_of(name)).bit_count())
    return MatchedNames(symbols, shared)


def reasons(
    query: RankingQuery, chunk: Chunk, names: MatchedNames, signals: Mapping[str, float], line: int = 0
) -> tuple[Note, ...]:
    """Return the strongest evidence for this chunk, at most three notes. `line` is that of a first match."""
    if "matches" in signals:
        count = round(signals["matches"])
        return (
            Note(say.MATCHES, {"count": count, "line": line}) if count > 1 else Note(say.ONE_MATCH, {"line": line}),
        )
    if "lexical" not in signals:  # what words and meaning find is ranked by no edge
        uses = [
            Note(several, {"count": round(n)}) if n > 1 and several != one else Note(one)
            for kind, (one, several) in _CONNECTED.items()
            if (n := signals.get(kind, 0.0))
        ]
        if uses:
            return tuple(uses)
    defines = Note(say.DEFINES, {"name": names.symbols[0]}) if names.symbols else None
    if "overview" in signals:
        return (Note(say.TELLS_PURPOSE),)
    if "scope" in signals:
        return (defines or Note(say.IN_SCOPE),)
    evidence = _evidence(query, chunk, names, signals, defines)
    return tuple(islice(filter(None, evidence), 3)) or (Note(say.WEAK),)


def _evidence(
    query: RankingQuery, chunk: Chunk, names: MatchedNames, signals: Mapping[str, float], defines: Note | None
) -> Iterator[Note | None]:
    """Yield what speaks for a chunk, the strongest first; what comes behind the last shown is never looked for."""
    yield Note(say.IN_TRACE) if signals.get("frame") else None
    yield defines if signals.get("definition") else None
    yield Note(say.NAMED, {"names": tuple(names.shared[:2])}) if names.shared else None
    yield _file(query, chunk, is_named=signals.get("named_file", 0.0) > 0)
    yield _words(query, chunk) if signals.get("lexical", 0.0) > _MENTIONED else None
    yield Note(say.CLOSE) if signals.get("vector", 0.0) > _NEAR else None


def best_line(query: RankingQuery, chunk: Chunk, names: MatchedNames) -> int:
    """Return the line of a chunk that mentions most of the question, the first of equals.

    The line in which a symbol is defined that the question names counts as much as two words, and so does one that has
    all words of the question.
    """
    text = chunk.text.lower()
    n_found = _mentions(query.terms, text)
    if len(query.written) > 1:
        are_terms = query.written == query.terms  # of most questions: nothing is counted twice
        for place, n_written in enumerate([*n_found] if are_terms else _mentions(query.written, text)):
            n_found[place] += _HEAD * (n_written == len(query.written))
    heads = _heads(chunk, {name.rpartition(".")[2] for name in (*names.symbols, *names.shared[:1])})
    lines = chunk.text.split("\n") if heads else []
    for place in {
        place for name, head in heads for place, line in enumerate(lines) if name in line and begins(line, head)
    }:
        n_found[place] += _HEAD
    return min(chunk.start_line + n_found.index(max(n_found)), chunk.end_line)


def _mentions(terms: Sequence[str], text: str) -> list[int]:
    """Return for each line of a lower-case text the number of terms in it."""
    counts = [0] * (text.count("\n") + 1)
    for term in terms:
        line, start, place = 0, 0, text.find(term)
        while place >= 0:
            line += text.count("\n", start, place)
            counts[line] += 1
            start = text.find("\n", place)
            place = text.find(term, start) if start >= 0 else -1
    return counts


def _heads(chunk: Chunk, names: Collection[str]) -> list[tuple[str, str]]:
    """Return some names of a chunk, each with the signatures that hold it."""
    return [(name, head) for name in sorted(names) for head in chunk.signature.split("\n") if name in head]


def best_name(chunk: Chunk, names: MatchedNames, line: int) -> str:
    """Return the symbol to show for a chunk: the one it is; of those that begin in it, the one that the question names
    or that is at a line; or the one it lies in."""
    if chunk.symbol in chunk.names:
        return chunk.symbol
    return next(chain(names.all, _at(chunk, line), chunk.names), chunk.symbol)


def _at(chunk: Chunk, line: int) -> Iterator[str]:
    """Yield the names whose definitions begin before a line, the nearest first; of a comment, those after it."""
    if len(chunk.names) < 2:
        return
    lines = chunk.text.split("\n")
    place = line - chunk.start_line
    before, after = lines[place::-1], lines[place:]
    lasts = [(name, name.rpartition(".")[2]) for name in chunk.names]
    heads = _heads(chunk, {last for _, last in lasts})
    for text in after if lines[place].lstrip().startswith(_COMMENTS) else before:
        for name, last in lasts:
            if last in text and any(one == last and begins(text, head) for one, head in heads):
                yield name


def lines(hit: Hit) -> list[str]:
    """Return a line for each signal of a hit that is not 0, for --explain: what it adds, its value and meaning.

    The last line shows how the score follows from them, where it is a sum.
    """
    weights = weights_of(hit.signals) if "repeat" in hit.signals else _ADDED
    rows = [(weights.get(name, 0.0) * value, name, value) for name, value in hit.signals.items() if value]
    rows.sort(key=lambda item: (-abs(item[0]), item[1]))
    listed = [
        f"{f'{added:+.3f} ' if name in weights else ''}{name} {value:.3f}  {MEANING.get(name, '')}".rstrip()
        for added, name, value in rows
    ]
    return [*listed, *_sum(hit, sum(added for added, _, _ in rows))]


def _sum(hit: Hit, total: float) -> Iterator[str]:
    if any(name in hit.signals for name in _ADDED):
        yield f"= {total:.3f}, the sum, is the score"
    elif "repeat" in hit.signals:
        score, repeat = score_of(total), hit.signals["repeat"]
        times = f"; times {repeat:g}, because an earlier hit lies in the same file: {score * repeat:.3f}"
        yield f"= {total:.3f}; score 1 / (1 + exp(({MIDDLE:g} - {total:.3f}) / {SPREAD:g})) = {score:.3f}" + (
            times if repeat != 1 else ""
        )
        if RERANKED in hit.signals:
            yield f"the reranking model moved it to {hit.score:.3f}"


@lru_cache(maxsize=4_096)
def _words_of(name: str) -> tuple[str, ...]:
    return tuple(terms(name))


def _file(query: RankingQuery, chunk: Chunk, *, is_named: bool) -> Note | None:
    file_name = chunk.path.rpartition("/")[2]
    if is_named or query.word_forms.among(_words_of(file_name.partition(".")[0])):
        return Note(say.FILE, {"name": file_name})
    return None


def _words(query: RankingQuery, chunk: Chunk) -> Note | None:
    lowered = chunk.text.lower()
    words = [term for term in query.terms if term in lowered]
    return Note(say.MENTIONS, {"words": tuple(words[:4])}) if words else None
