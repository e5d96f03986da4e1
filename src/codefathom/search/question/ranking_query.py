"""A question → what the ranking looks for: words, translations, symbols. Pure but for the dictionary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from codefathom.search.question.frames import Framed
from codefathom.search.question.issue import Issue, read_issue, weights_of
from codefathom.search.question.query import Query
from codefathom.search.question.translate import to_chinese, to_english
from codefathom.stores.lexical.terms import terms

STOP_WORDS = frozenset(
    """a about after all an and any are as at be been before being between but by can could did do does doing done for
    from get gets had has have having how i if in into is it its let me my no not of off on one or our out over own
    same should show so some such than that the their them then there these they this those through to too under
    until up use used uses using very was we were what when where which while who whom why will with would you
    your""".split()  # noqa: SIM905 -- a list of strings would take a hundred lines
)

_ABOUT_TESTS = frozenset(("test", "tests", "testing", "spec", "example", "examples"))
_ABOUT_PROSE = frozenset(
    "readme documentation docs changelog license contributing guide tutorial install installation".split()  # noqa: SIM905
)
LONG = 24  # words: a longer text is an issue or a log, of which few words say what it is about
_WORD = re.compile(r"[a-z0-9]+|[^\W\x00-\x7f]+")
_LAST = re.compile(r"::|\.|#|->|\\|/")
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:::|\.|#|->|\\)[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """The question as the ranking sees it."""

    terms: tuple[str, ...]  # lower-case words and parts of identifiers, without stop words; then their translations
    symbols: tuple[str, ...] = ()  # identifiers asked for by name, as written
    about_tests: bool = False  # the question itself asks for tests or examples
    about_prose: bool = False  # ... or for documentation
    weights: Mapping[str, float] = field(default_factory=dict)  # of terms that count less than 1: translations, asides
    rarity: Mapping[str, float] = field(default_factory=dict)  # of terms, over all that is indexed
    unknown: float = 0.0  # share of the question, by rarity, that stands nowhere
    rest: Mapping[str, float] = field(default_factory=dict)  # of a long text: words that only help to find candidates
    meaning: str = ""  # the text whose meaning is looked for
    runs: frozenset[str] = frozenset()  # words of it, and two and three in a row written as one, lower-case
    frames: Mapping[int, Framed] = field(default_factory=dict)  # chunks that a stack trace names, by key
    foreign: tuple[str, ...] = ()  # symbols asked for that are defined nowhere here
    is_only_symbol: bool = False  # nothing but a symbol is asked for
    is_translated: bool = False  # it is asked in Chinese, and its words are looked for in English, too

    @property
    def symbol_names(self) -> frozenset[str]:
        """The last parts of the symbols asked for, lower-case."""
        return frozenset(last_of(symbol).lower() for symbol in self.symbols)

    @property
    def weighted(self) -> dict[str, float]:
        """The terms with what each one counts."""
        return {term: self.weights.get(term, 1.0) for term in self.terms}

    @property
    def worth(self) -> dict[str, float]:
        """The terms with what finding each is worth: what it counts, times how rare it is."""
        return {term: weight * self.rarity.get(term, 0.0) for term, weight in self.weighted.items()}


def last_of(symbol: str) -> str:
    """Return the last part of a qualified name, in any language."""
    return _LAST.split(symbol)[-1]


def wanted(query: Query, *, in_chinese: bool = False) -> RankingQuery:
    """Return what the ranking looks for in a question. `in_chinese`: what is searched is commented in Chinese."""
    text = query.text
    words = [term for term in terms(text) if term not in STOP_WORDS] or terms(text)
    english = {} if text.isascii() else to_english(text)
    translations = english | (to_chinese(words) if in_chinese else {})
    counts = _counts(read_issue(text)) if len(words) > LONG else {}
    found = tuple(dict.fromkeys([*(counts or words), *translations]))
    meaning = " ".join((text, *english))
    return RankingQuery(
        terms=found,
        symbols=tuple(dict.fromkeys(_symbols(query))),
        about_tests=not _ABOUT_TESTS.isdisjoint(found) and not counts,
        about_prose=not _ABOUT_PROSE.isdisjoint(found) and not counts,
        weights=translations | counts | {word: 1.0 for word in words if not counts},
        meaning=meaning,
        runs=_runs(meaning),
        is_only_symbol=query.intent == "symbol",
        is_translated=bool(english),
    )


def _counts(issue: Issue) -> dict[str, float]:
    """Return what each word of a long text counts, at most 1."""
    weights = {word: weight for word, weight in weights_of(issue).items() if word not in STOP_WORDS}
    top = max(weights.values(), default=1.0)
    return {word: weight / top for word, weight in weights.items()}


def focused(want: RankingQuery) -> RankingQuery:
    """Return a question with the words that say most; the rest of a long text only helps to find candidates.

    Words worth nothing, such as Chinese ones where nothing is Chinese, are left out.
    """
    weighted, worth = want.weighted, want.worth
    known = tuple(term for term in want.terms if worth[term]) or want.terms
    if len(known) <= LONG:
        return want if known == want.terms else replace(want, terms=known)
    ordered = sorted(known, key=lambda term: (-worth[term], term))
    rest = {term: weighted[term] for term in ordered[LONG:]}
    return replace(want, terms=tuple(ordered[:LONG]), rest=rest)


def _runs(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    rows = (words, words[1:], words[2:])
    return frozenset("".join(row) for n in (1, 2, 3) for row in zip(*rows[:n], strict=False))


def _symbols(query: Query) -> Iterator[str]:
    """Yield identifiers asked for: those marked with @@, a bare one, and those whose shape no English word has."""
    yield from query.symbols
    found = _IDENTIFIER.findall(query.text)
    if query.intent == "symbol" and len(found) == 1:
        yield found[0]
        return
    for word in found:
        if "_" in word.strip("_") or re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]|::|\w\.\w|->|#|\\", word):
            yield word
