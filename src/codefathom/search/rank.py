"""The first ranking: candidates → ordered hits. Pure.

Plain retrieval finds the right file among ten nine times in ten; what divides tools is the order. Each signal is a
number from 0 to 1, the score a weighted sum of them times what kind of file it is; `SIGNALS` says in words what each
one means. Weights were chosen by cross-validation over the development repositories (docs/benchmarks.md).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from codefathom.stores.tokens import terms
from codefathom.types import Chunk

SIGNALS = {
    "text": "its text matches, by words and meaning together",
    "lexical": "words of the question stand in it (BM25)",
    "vector": "its meaning is near the question's (cosine)",
    "definition": "it defines the symbol asked for",
    "name": "names it defines contain words of the question",
    "stem": "its file name contains words of the question",
    "folder": "its folder's name contains words of the question",
    "file": "other parts of the same file match too",
    "kind": "tests, examples and declaration files count less",
    "repeat": "an earlier hit lies in the same file",
}


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, and how hard the factors are."""

    text: float = 1.0
    definition: float = 5.0
    name: float = 0.2
    stem: float = 1.0
    folder: float = 0.5
    file: float = 0.3
    test: float = 0.3
    declaration: float = 0.7
    repeat: float = 0.5

    @property
    def total(self) -> float:
        """The score of a chunk for which every signal is 1."""
        return self.text + self.definition + self.name + self.stem + self.folder + self.file


WEIGHTS = Weights()


class Candidate(NamedTuple):
    """A chunk that some source of candidates found; a score of 0 means that this source did not."""

    key: int
    chunk: Chunk
    lexical: float = 0.0  # BM25
    vector: float = 0.0  # cosine similarity
    line: int = 0  # where the evidence stands; 0: not known


@dataclass(frozen=True, slots=True)
class Wanted:
    """The question as the ranking sees it."""

    terms: tuple[str, ...]  # lower-case words and parts of identifiers, without stop words
    symbols: tuple[str, ...] = ()  # identifiers asked for by name, as written
    about_tests: bool = False  # the question itself asks for tests or examples


class Ranked(NamedTuple):
    """A candidate with its final score and the signals behind it."""

    candidate: Candidate
    score: float
    signals: dict[str, float]


def rank(
    wanted: Wanted,
    candidates: Sequence[Candidate],
    fused: Mapping[int, float],
    weight_of: Mapping[str, float],
    weights: Weights,
) -> list[Ranked]:
    """Order candidates, best first, scores from 0 to 1. Ties are broken by path and line, never by chance.

    `fused` is the lexical and vector evidence by key, scaled to 0..1; `weight_of` each term's rarity.
    """
    if not candidates:
        return []
    overlap = _Overlap(weight_of)
    rows = [_signals(wanted, overlap, candidate, fused) for candidate in candidates]
    base = [_base(row, weights) for row in rows]
    _add_file_evidence(rows, base, candidates)
    for row, candidate in zip(rows, candidates, strict=True):
        row["kind"] = 1.0 if wanted.about_tests else file_factor(candidate.chunk.path, weights)
    possible = weights.total
    scores = [
        (value + weights.file * row["file"]) * row["kind"] / possible for row, value in zip(rows, base, strict=True)
    ]
    return _saturated(candidates, scores, rows, weights.repeat)


def _signals(wanted: Wanted, overlap: _Overlap, candidate: Candidate, fused: Mapping[int, float]) -> dict[str, float]:
    chunk = candidate.chunk
    stem, folder = _path_words(chunk.path)
    return {
        "text": fused.get(candidate.key, 0.0),
        "lexical": candidate.lexical,
        "vector": candidate.vector,
        "definition": _definition(wanted.symbols, chunk),
        "name": overlap(_name_words(chunk.names)),
        "stem": overlap(stem),
        "folder": overlap(folder),
    }


def _base(row: Mapping[str, float], weights: Weights) -> float:
    return (
        weights.text * row["text"]
        + weights.definition * row["definition"]
        + weights.name * row["name"]
        + weights.stem * row["stem"]
        + weights.folder * row["folder"]
    )


def _add_file_evidence(rows: list[dict[str, float]], base: list[float], candidates: Sequence[Candidate]) -> None:
    """Give each file's best chunk credit for what its other chunks show."""
    total: dict[str, float] = defaultdict(float)
    best: dict[str, int] = {}
    for index, candidate in enumerate(candidates):
        path = candidate.chunk.path
        total[path] += base[index]
        rows[index]["file"] = 0.0
        if path not in best or base[index] > base[best[path]]:
            best[path] = index
    largest = max(total.values())
    for path, index in best.items():
        rows[index]["file"] = total[path] / largest if largest > 0 else 0.0


def by_score_and_place(item: Ranked) -> tuple[float, str, int]:
    """Return what a ranking is sorted by: best first, then by path and line."""
    chunk = item.candidate.chunk
    return -item.score, chunk.path, chunk.start_line


def _saturated(
    candidates: Sequence[Candidate], scores: Sequence[float], rows: Sequence[dict[str, float]], decay: float
) -> list[Ranked]:
    """Order by score; each further chunk of a file counts less, so that one file does not fill the list."""
    seen: dict[str, int] = defaultdict(int)
    result = []
    for item in sorted(map(Ranked, candidates, scores, rows), key=by_score_and_place):
        path = item.candidate.chunk.path
        factor = decay ** seen[path]
        seen[path] += 1
        item.signals["repeat"] = factor
        result.append(Ranked(item.candidate, item.score * factor, item.signals))
    result.sort(key=attrgetter("score"), reverse=True)  # stable: equal scores keep their order
    return result


# ---- single signals


def _definition(symbols: Sequence[str], chunk: Chunk) -> float:
    """1 when the chunk defines a wanted symbol as written, less for another case; more when the file is named so."""
    best = 0.0
    for wanted in symbols:
        last = re.split(r"::|\.|#|->|\\|/", wanted)[-1]
        for name in chunk.names:
            short = name.rpartition(".")[2]
            if name == wanted or short == last:
                best = max(best, 0.8)
            elif short.lower() == last.lower():
                best = max(best, 0.5)
            else:
                continue
            if same_word(_stem(chunk.path).replace("_", "").replace("-", ""), last.lower()):
                best += 0.2
    return min(best, 1.0)


class _Overlap(dict[int, float]):
    """Terms, one bit each → their share of the question's whole weight."""

    def __init__(self, weight_of: Mapping[str, float]) -> None:
        super().__init__()
        self._forms = Forms(tuple(weight_of))
        self._weights = tuple(weight_of.values())
        self._total = sum(self._weights) or 1.0

    def __call__(self, words: Iterable[str]) -> float:
        """Return the share of the terms that stand among some words, in any of their forms."""
        return self[self._forms.among(words)]

    def __missing__(self, found: int) -> float:
        self[found] = share = sum(x for bit, x in enumerate(self._weights) if found >> bit & 1) / self._total
        return share


class Forms(dict[str, int]):
    """Word → the terms of a question that it is a form of, one bit each. Candidates share most of their words."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self._terms: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for bit, term in enumerate(terms):
            self._terms[term[:_SHORTEST_FORM]].append((1 << bit, term))

    def __missing__(self, word: str) -> int:
        near = self._terms.get(word[:_SHORTEST_FORM], ())
        self[word] = found = sum(bit for bit, term in near if same_word(term, word))
        return found

    def among(self, words: Iterable[str]) -> int:
        """Return the terms that stand among some words, one bit each."""
        found = 0
        for word in words:
            found |= self[word]
        return found


@lru_cache(maxsize=16)
def forms_of(terms: tuple[str, ...]) -> Forms:
    """Return the forms of a question's terms; what was learned of them for one hit serves the next."""
    return Forms(terms)


_SHORTEST_FORM = 3


def same_word(one: str, other: str) -> bool:
    """Whether two lower-case words are forms of one: equal, or one a beginning of the other ("route", "routing")."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < _SHORTEST_FORM:
        return False
    if longer.startswith(shorter):
        return True
    common = len(shorter) - 1 if shorter[-1] in "esy" else len(shorter)
    return common >= 4 and longer.startswith(shorter[:common])


@lru_cache(maxsize=16_384)
def _path_words(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the file's stem and of its folder; `index.ts` and the like are named after their folder."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return frozenset(terms(_stem(path))), frozenset(terms(folder))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower() if "/" in path else path.partition(".")[0].lower()


@lru_cache(maxsize=16_384)
def _name_words(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for name in names for word in terms(name.rpartition(".")[2]))


# ---- what kind of file it is

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing|testdata|fixtures?|examples?|samples?|benchmarks?|docs?_src)/"
    r"|(?:^|/)test_[^/]*$|[_.-](?:test|tests|spec)\.[^/]*$|(?:^|/)[^/]*(?:Test|Tests|Spec|Suite)\.[a-z]+$"
    r"|(?:^|/)(?:compat|_compat|legacy)/",
)
_DECLARATION = re.compile(r"\.d\.ts$|\.pyi$")


@lru_cache(maxsize=16_384)
def _file_kind(path: str) -> str:
    if _TEST.search(path):
        return "test"
    return "declaration" if _DECLARATION.search(path) else ""


def file_factor(path: str, weights: Weights) -> float:
    """Return what a hit in this file is worth: tests, examples and declarations count less."""
    kind = _file_kind(path)
    return {"test": weights.test, "declaration": weights.declaration}.get(kind, 1.0)
