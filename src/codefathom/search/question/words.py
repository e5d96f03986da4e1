"""Words of a question and words of code: forms of a word, and the share of the question that words cover. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache, reduce
from operator import or_

_SHORTEST_FORM = 3
_SHORTEST_STEM = 4
_STRONG = 0.5  # of the weight of a question's best term: from here on a term has the strength 1
_ROOT_ENDING = re.compile(r"(?:ings?|ers?|ors?|ed|es|s|e)$")
_DOUBLED = re.compile(r"([bdgmnprt])\1$")  # logg(ing), mapp(er), runn(ing)
_ENDING = re.compile(r"(?:ations?|ings?|ers?|ors?|ions?|ed|es|s|e|y|ies|ments?|able|ible|ive)$")


def same_word(one: str, other: str) -> bool:
    """Return True if two lower-case words are forms of one: equal, alike at the beginning ("route", "routing"), or with
    one root ("save", "saving")."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < _SHORTEST_FORM:
        return False
    if longer.startswith(shorter):
        return True
    common = len(shorter) - 1 if shorter[-1] in "esy" else len(shorter)
    return (common >= 4 and longer.startswith(shorter[:common])) or root_of(one) == root_of(other)


@lru_cache(maxsize=16_384)
def root_of(word: str) -> str:
    """Return a word without the ending of a verb or plural ("logging" → "log", "saves" → "sav")."""
    root = _ROOT_ENDING.sub("", word)
    if len(root) < _SHORTEST_FORM:
        return word
    return _DOUBLED.sub(r"\1", root) if len(root) > _SHORTEST_FORM else root


@lru_cache(maxsize=4_096)
def usual_forms(word: str) -> tuple[str, ...]:
    """Return other forms of a word, which a text may hold in its place."""
    root = root_of(word)
    if not word.isascii() or not word.isalpha() or len(root) < _SHORTEST_FORM:
        return ()
    last = root[-1]
    bases = (root, root + last) if _DOUBLED.search(root + last) and len(root) <= 4 else (root,)
    forms = [f"{root}{ending}" for ending in ("", "s", "e", "es")]
    forms += [f"{base}{ending}" for base in bases for ending in ("ed", "er", "ers", "ing")]
    return tuple(form for form in dict.fromkeys(forms) if form != word)


def stem_of(word: str) -> str:
    """Return the beginning that the forms of a word share ("parsing" → "pars"); a short word stays whole."""
    if len(word) <= _SHORTEST_STEM:
        return word
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _SHORTEST_STEM else word[:_SHORTEST_STEM]


def stems_of(word: str) -> tuple[str, ...]:
    """Return the beginnings that the forms of a word have; a short root has several ("saving": "save", "savi")."""
    root = root_of(word)
    if len(root) != _SHORTEST_FORM or word == root or not word.isalpha():
        return (stem_of(word),)
    is_bare = word == f"{root}s" or word[len(root) : len(root) + 1] == root[-1]  # "logs", "logging"
    return (root,) if is_bare else (f"{root}e", f"{root}i")


class Forms(dict[str, int]):
    """Word → the terms of a question that it is a form of, one bit each. Candidates share most of their words."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self._terms: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._stems: dict[str, int] = defaultdict(int)
        for bit, term in enumerate(terms):
            for stem in stems_of(term):
                self._stems[stem] |= 1 << bit
            self._terms[term[:_SHORTEST_FORM]].append((1 << bit, term))

    def __missing__(self, word: str) -> int:
        terms = 0
        for bit, term in self._terms.get(word[:_SHORTEST_FORM], ()):
            if same_word(term, word):
                terms |= bit
        self[word] = terms
        return terms

    def of_terms(self, words: Iterable[str]) -> set[str]:
        """Return those of some words that are forms of terms; most do not even begin like one."""
        begins = self._terms.keys()
        return {word for word in words if word[:_SHORTEST_FORM] in begins and self[word]}

    def among(self, words: Iterable[str]) -> int:
        """Return the terms that stand among some words, one bit each."""
        return reduce(or_, map(self.__getitem__, words), 0)

    def inside(self, text: str) -> int:
        """Return the terms whose stems stand somewhere in a lower-case text, one bit each."""
        terms = 0
        for stem, bits in self._stems.items():
            if stem in text:
                terms |= bits
        return terms


@lru_cache(maxsize=16)
def forms_of(terms: tuple[str, ...]) -> Forms:
    """Return the forms of a question's terms; a form that was compared for one hit is not compared for the next."""
    return Forms(terms)


class Cover(dict[int, float]):
    """Terms, one bit each → their share of the question's whole weight."""

    def __init__(self, weight_of: Mapping[str, float]) -> None:
        super().__init__()
        self._weights = tuple(weight_of.values())
        self._total = sum(self._weights) or 1.0
        self._strong = max(self._weights, default=0.0) * _STRONG or 1.0
        self._strengths = {0: 0.0}

    def __missing__(self, terms: int) -> float:
        self[terms] = share = sum(x for bit, x in enumerate(self._weights) if terms >> bit & 1) / self._total
        return share

    def strength(self, terms: int) -> float:
        """Return the weight of the best of some terms, from 0 to 1: next to nothing for the name of the project."""
        if terms not in self._strengths:
            best = max(x for bit, x in enumerate(self._weights) if terms >> bit & 1)
            self._strengths[terms] = min(1.0, best / self._strong)
        return self._strengths[terms]


class WordStrengths(dict[str, float]):
    """Word → the weight of the terms that it is a form of, from 0 to 1."""

    def __init__(self, forms: Forms, cover: Cover) -> None:
        super().__init__()
        self.forms, self.cover = forms, cover

    def __missing__(self, word: str) -> float:
        self[word] = strength = self.cover.strength(self.forms[word])
        return strength

    def learn(self, words: Set[str]) -> set[str]:
        """Take in the words of all names at once, and return those that are forms of terms: a handful of hundreds."""
        shared = self.forms.of_terms(words)
        self.update(dict.fromkeys(words, 0.0))
        for word in shared:
            self[word] = self.cover.strength(self.forms[word])
        return shared

    def share_of(self, words: Sequence[str]) -> float:
        """Return the share of some words that are forms of terms, each counted by the weight of its term."""
        return sum(map(self.__getitem__, words)) / len(words) if words else 0.0

    def best_share(self, names: Iterable[Sequence[str]]) -> float:
        """Return the highest share of the words of one of some names."""
        says = self.__getitem__
        return max([sum(map(says, words)) / len(words) if words else 0.0 for words in names])
