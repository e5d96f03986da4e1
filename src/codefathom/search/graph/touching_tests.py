"""The test files that most likely run something of a change: by uses, imports, words, names and history. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from codefathom.facts.paths import has_tests
from codefathom.search.graph.change_history import changed_together
from codefathom.search.graph.impact import ChangedSymbol, Touch, TouchingTest
from codefathom.search.ranking.places import place_of
from codefathom.stores.catalog.records import CheckedText
from codefathom.types import Related

TextsOf: TypeAlias = Callable[[Sequence[str]], Iterable[CheckedText]]  # sorted paths → their documents with texts

_WORD = re.compile(r"[^\W\d]\w{2,}")
_PLAIN_FOLDERS = frozenset({"src", "lib", "test", "tests", "spec", "specs", "main", "java", "python", "unit"})
_PLAIN_WORDS = frozenset({"test", "tests", "spec", "specs", "suite", "py", "the"})
_DECAY = 0.5  # with each step


class Evidence(NamedTuple):
    """Evidence for a test file, each from 0 to 1."""

    uses: float = 0.0  # it uses a changed symbol, known by scope or import
    uses_by_name: float = 0.0
    uses_owner: float = 0.0  # it uses the class of a changed member
    reaches: float = 0.0  # it uses something that uses a changed symbol
    imports: float = 0.0
    name: float = 0.0  # it is called like a changed file
    folder: float = 0.0  # it lies in folders that are called like those of a changed file
    words: float = 0.0  # it mentions rare words of the changed lines
    history: float = 0.0  # it changed in the same commits as a changed file, more often than in others


# Learned by `python -m evals.impact --fit` from commits of the repositories that it calls "development".
_WEIGHTS = Evidence(1.73, 0.19, 0.98, 1.73, 0.83, 2.46, 0.91, 3.52, 5.68)
_BIAS = -4.07
_LEAST = 0.025  # of a score; less is not shown
_LEAST_OF_BEST = 0.15  # as a part of the best score


class ChangedText(NamedTuple):
    """Texts of a change, beside its symbols."""

    paths: Collection[str]  # of the changed files
    lines: Collection[str]  # that are on one side only
    commits: Sequence[Collection[str]] = ()  # the paths that each earlier commit changed


def touching_tests(
    touches: Sequence[Touch], change: ChangedText, paths: Iterable[str], texts_of: TextsOf
) -> list[TouchingTest]:
    """Return the test files among `paths` that a change most likely touches, likeliest first."""
    evidence = evidence_of(touches, change, paths, texts_of)
    nearest = _nearest(touches)
    scores = named(evidence) | {path: 1.0 for path in evidence if path in change.paths}
    tests = [
        TouchingTest(path, round(score, 3), _reason(evidence[path], nearest.get(path)), _depth(nearest.get(path)))
        for path, score in scores.items()
    ]
    return sorted(tests, key=lambda test: (-test.score, test.path))


def named(evidence: Mapping[str, Evidence]) -> dict[str, float]:
    """Return the test files for which enough speaks, with their scores."""
    scores = {path: score_of(item) for path, item in evidence.items()}
    least = max(_LEAST, _LEAST_OF_BEST * max(scores.values(), default=0.0))
    return {path: score for path, score in scores.items() if score >= least}


def evidence_of(
    touches: Sequence[Touch], change: ChangedText, paths: Iterable[str], texts_of: TextsOf
) -> Mapping[str, Evidence]:
    """Return the evidence for each test file."""
    tests = [path for path in paths if has_tests(path)]
    shares = _shares(touches)
    words = _word_shares(change, tests, texts_of)
    together = changed_together(change.commits, change.paths)
    targets = [_Name(path) for path in change.paths if not has_tests(path)]
    return {
        path: Evidence(
            **{kind: shares[kind].get(path, 0.0) for kind in _KINDS},
            name=max((target.likeness(path) for target in targets), default=0.0),
            folder=max((target.nearness(path) for target in targets), default=0.0),
            words=words.get(path, 0.0),
            history=together.get(path, 0.0),
        )
        for path in tests
    }


def score_of(evidence: Evidence) -> float:
    """Return the likelihood that a test touches the change, from 0 to 1."""
    total = _BIAS + sum(weight * value for weight, value in zip(_WEIGHTS, evidence, strict=True))
    return 1 / (1 + math.exp(-total))


# ---- uses

_KINDS = ("uses", "uses_by_name", "uses_owner", "reaches", "imports")


def _kind(edge: Related) -> str:
    if not edge.likely:
        return "uses_owner"
    if edge.kind == "imported by":
        return "imports"
    if edge.depth > 1:
        return "reaches"
    return "uses" if edge.certainty != "by-name" else "uses_by_name"


def _shares(touches: Sequence[Touch]) -> Mapping[str, Mapping[str, float]]:
    """Return by kind and test file how much the best of its edges tells: the fewer tests share it, the more."""
    paths: dict[tuple[str, ChangedSymbol], dict[str, int]] = defaultdict(dict)
    for edge, origin in touches:
        if has_tests(edge.path):
            depths = paths[_kind(edge), origin]
            depths[edge.path] = min(depths.get(edge.path, edge.depth), edge.depth)
    shares: dict[str, dict[str, float]] = {kind: {} for kind in _KINDS}
    for (kind, _), depths in paths.items():
        rarity = 1 / math.sqrt(len(depths))
        for path, depth in depths.items():
            shares[kind][path] = max(shares[kind].get(path, 0.0), rarity * _DECAY ** max(depth - 1, 0))
    return shares


def _nearest(touches: Sequence[Touch]) -> Mapping[str, Related]:
    """Return the nearest and surest edge of each test file."""
    nearest: dict[str, Related] = {}
    for edge, _ in touches:
        if has_tests(edge.path):
            rival = nearest.get(edge.path)
            if rival is None or _distance(edge) < _distance(rival):
                nearest[edge.path] = edge
    return nearest


def _distance(edge: Related) -> tuple[bool, int, bool, bool]:
    return not edge.likely, edge.depth, edge.kind == "imported by", edge.certainty == "by-name"


# ---- names and words


class _Name:
    """The words in the name of a changed file and of its folders."""

    def __init__(self, path: str) -> None:
        self._stem = _words(place_of(path).stem)
        folders = [part.lower() for part in path.split("/")[:-1]]
        self._folders = frozenset(folders) - _PLAIN_FOLDERS
        self._flat = "".join(self._stem)

    def likeness(self, path: str) -> float:
        """Return 1 for a test called like the file, less when only some of the words are the same."""
        stem = _words(place_of(path).stem)
        if not stem or not self._stem:
            return 0.0
        if "".join(stem) == self._flat:
            return 1.0
        common = len(set(stem) & set(self._stem))
        return 0.8 * common / len({*stem, *self._stem})

    def nearness(self, path: str) -> float:
        """Return the share of the file's folders, plain ones left out, that the test lies in by name or is called."""
        if not self._folders:
            return 0.0
        here = {part.lower() for part in path.split("/")[:-1]} | set(_words(place_of(path).stem))
        return len(self._folders & here) / len(self._folders)


def _words(stem: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in stem if word.lower() not in _PLAIN_WORDS)


def _word_shares(change: ChangedText, tests: Sequence[str], texts_of: TextsOf) -> Mapping[str, float]:
    """Return the share of rare words of the changed lines that each test mentions; 1 for the one with most."""
    changed_words = {word for line in change.lines for word in _WORD.findall(line)}
    if not changed_words:
        return {}
    texts = texts_of(sorted(tests))
    mentioned = {item.path: _mentioned(changed_words, item.text) for item in texts}
    n_tests = Counter(word for words in mentioned.values() for word in words)
    weight = {word: math.log((1 + len(tests)) / n) ** 2 for word, n in n_tests.items()}
    totals = {path: sum(weight[word] for word in words) for path, words in mentioned.items()}
    most = max(totals.values(), default=0.0)
    return {path: total / most for path, total in totals.items()} if most else {}


def _mentioned(words: set[str], text: str) -> set[str]:
    """Return those of some words that stand in a text; most texts have none of them, and are not taken apart."""
    return words.intersection(_WORD.findall(text)) if any(word in text for word in words) else set()


# ---- the reason


def _depth(edge: Related | None) -> int:
    return edge.depth if edge is not None else 0


def _reason(evidence: Evidence, edge: Related | None) -> str:
    reasons = []
    if edge is not None:
        verb = "imports" if edge.kind == "imported by" else "calls" if edge.kind == "called by" else "uses"
        steps = f", {edge.depth} steps away" if edge.depth > 1 else ""
        by_name = " (by name)" if edge.certainty == "by-name" else ""
        reasons.append(f"line {edge.line} {verb} {edge.name}{by_name}{steps}")
    if evidence.name >= 1:
        reasons.append("is called like a changed file")
    if evidence.words > 0.5:
        reasons.append("mentions rare words of the changed lines")
    if evidence.history > 0.2:
        reasons.append("often changed in the same commit as a changed file")
    return "; ".join(reasons) or "its name and folders are near to those of a changed file"
