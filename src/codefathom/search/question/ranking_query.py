"""A question → the query of the ranking: words with their weights, translations, symbols, lines of a stack trace.

`analyse` reads the question alone, `understand` also compares it with the index.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

from codefathom.search.question.definitions import heads_of
from codefathom.search.question.file_mentions import (
    bare_files,
    imported_files,
    is_file_name,
    named_files,
    written_files,
)
from codefathom.search.question.frames import FrameChunk, frames, same_place
from codefathom.search.question.issue import Issue, read_issue, weights_of
from codefathom.search.question.query import Query
from codefathom.search.question.translate import COMMON, to_chinese, to_english
from codefathom.search.question.words import Forms, forms_of, usual_forms
from codefathom.stores.base import LexicalStore
from codefathom.stores.catalog.readers import Chunks, SearchCatalog
from codefathom.stores.catalog.records import DefinitionPlace
from codefathom.stores.lexical.terms import parts, terms
from codefathom.text.file_stems import flat_stem

Kind: TypeAlias = Literal["short", "long"]

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
LONG = 24  # words: a longer text is an issue or a log, in which few words name the topic
_FORM = 0.6  # the weight of another form of a word, relative to the word
_MAX_FORMS = 3  # of one word
_SHORT_TEXT = 200  # characters: a longer text may have a title, prose and code
_MAX_MEANT = 3  # files of one name that a line of a trace may mean
_MAX_START = 4  # files whose imports are followed
_MAX_LOOKED_UP = 12  # symbols of a text
_MAX_IMPORTED = 12  # files that are one import away
_FEWEST_OTHERS = 2  # terms beside the name of the project
# Parts of the names of projects that tell the language or the kind of project.
_OF_ANY_PROJECT = frozenset(
    "app c cpp cs framework go java js lib library net nvim php py rb rs src swift ts vim".split()  # noqa: SIM905
)
_OUTER = 0.8  # the value of each caller in a trace, relative to the function that it calls
_WORD = re.compile(r"[a-z0-9]+|[^\W\x00-\x7f]+")
_ACRONYMS = re.compile(r"\b([A-Z]{2,})s\b")  # in the plural
_SHORT_MIXED = re.compile(r"\b(?:[a-z][A-Z]{2,4}|[A-Z][a-z]{1,2}[A-Z]|[A-Z][a-z][A-Z][a-z][A-Z])\b")  # iOS, TeX, LaTeX
_LAST = re.compile(r"::|\.|#|->|\\|/")
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:::|\.|#|->|\\)[^\W\d]\w*)*")


class RankingQuery(NamedTuple):
    """The question as the ranking sees it."""

    terms: tuple[str, ...]  # lower-case words and parts of identifiers, without stop words; then their translations
    symbols: tuple[str, ...] = ()  # identifiers that the question names, as written
    about_tests: bool = False  # the question is about tests or examples
    about_prose: bool = False  # ... or for documentation
    weights: Mapping[str, float] = MappingProxyType({})  # of terms that count less than 1: translations, asides
    rarity: Mapping[str, float] = MappingProxyType({})  # of terms, over all that is indexed
    n_chunks: int = 0  # of all that is indexed
    unknown: float = 0.0  # share of the question, by rarity, that is nowhere in the index
    is_strange: bool = False  # none of its words, nor of their translations, is anywhere in the index
    minor_terms: Mapping[str, float] = MappingProxyType({})  # of a long text: they only find candidates
    forms: Mapping[str, float] = MappingProxyType({})  # other forms of its terms: they find candidates
    meaning: str = ""  # the text that is embedded
    written: tuple[str, ...] = ()  # of a short question: its words, without stop words and translations
    title: str = ""  # a short question of one line, as it is written
    runs: frozenset[str] = frozenset()  # words of it, and two and three in a row written as one, lower-case
    frames: Mapping[int, FrameChunk] = MappingProxyType({})  # chunks that a stack trace names, by key
    files: Mapping[str, float] = MappingProxyType({})  # paths of files that the question names, 0 to 1
    foreign: tuple[str, ...] = ()  # symbols of the question without a definition in the project
    heads: Mapping[str, tuple[DefinitionPlace, ...]] = MappingProxyType({})  # of its symbols, by path
    n_defining: Mapping[str, int] = MappingProxyType({})  # files that define a symbol, by its lower-case last part
    is_only_symbol: bool = False  # the question is only the name of a symbol

    @property
    def kind(self) -> Kind:
        """The kind of text it is: pasted issues and logs are ranked and judged in another way than short questions."""
        return "long" if self.minor_terms else "short"

    @property
    def word_forms(self) -> Forms:
        """The forms of its terms: what was compared for one hit is not compared for the next."""
        return forms_of(self.terms)

    @property
    def depth(self) -> int:
        """Factor for the number of candidates: the words of a long text lead everywhere."""
        return 3 if self.kind == "long" else 1

    @property
    def symbol_names(self) -> frozenset[str]:
        """The last parts of the names of the symbols, lower-case."""
        return frozenset(last_of(symbol).lower() for symbol in self.symbols)

    @property
    def name_of_parts(self) -> str:
        """The question in lower case where it is one name of several words, which alone are other names; else ""."""
        name = self.title.strip("_").lower()
        return name if self.is_only_symbol and len(self.written) > 1 and self.written[0] == name else ""

    @property
    def weighted(self) -> dict[str, float]:
        """The terms with the weight of each."""
        return {term: self.weights.get(term, 1.0) for term in self.terms}

    @property
    def worth(self) -> dict[str, float]:
        """The terms, each with its weight times its rarity."""
        return {term: weight * self.rarity.get(term, 0.0) for term, weight in self.weighted.items()}


def last_of(symbol: str) -> str:
    """Return the last part of a qualified name, in any language."""
    return _LAST.split(symbol)[-1]


def understand(query: Query, catalog: SearchCatalog, lexical: LexicalStore, project: str = "") -> RankingQuery:
    """Return the question as the ranking sees it, with the rarity of each of its words in the index.

    `project` is the name of the project, of which any part of it could be meant.
    """
    text = query.text
    in_chinese = any(lexical.document_frequencies(COMMON).values())
    about_parts = without_project(analyse(query, in_chinese=in_chinese), project)
    analysed = _naming_files(query, about_parts, catalog)
    counts = lexical.document_frequencies(analysed.terms)
    rarity, unknown = _rarity(counts, lexical.n_chunks)
    heads = {last: heads_of(last, catalog) for last in dict.fromkeys(map(last_of, analysed.symbols))}
    framed = _framed(text, catalog) if ":" in text or "line " in text else {}
    near = _one_import_away(analysed, framed, catalog) if query.is_pasted or framed else {}
    ranking_query = analysed._replace(
        forms=_forms(analysed, lexical) if len(analysed.terms) <= LONG else {},
        files={**near, **analysed.files},
        rarity=rarity,
        n_chunks=lexical.n_chunks,
        unknown=unknown,
        is_strange=bool(counts) and not any(counts.values()),
        frames=framed,
        foreign=tuple(symbol for symbol in analysed.symbols if not heads[last_of(symbol)]),
        heads=_by_path(heads.values()),
        n_defining={last.lower(): len({one.path for one in own}) for last, own in heads.items()},
    )
    return focused(ranking_query, nowhere={word for word, n_chunks in counts.items() if not n_chunks})


def _forms(query: RankingQuery, lexical: LexicalStore) -> dict[str, float]:
    """Return the forms of the words of a question that stand most often in the index, each with its weight."""
    term_of = {form: term for term in query.terms for form in usual_forms(term)}
    # In their order: scores by words are sums, whose last bits depend on it.
    counts = lexical.document_frequencies([form for form in term_of if form not in query.terms])
    by_term: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for form, n_chunks in counts.items():
        if n_chunks:
            by_term[term_of[form]].append((-n_chunks, form))
    weighted = query.weighted
    return {form: _FORM * weighted[term] for term, own in by_term.items() for _, form in sorted(own)[:_MAX_FORMS]}


def _by_path(heads: Iterable[Sequence[DefinitionPlace]]) -> dict[str, tuple[DefinitionPlace, ...]]:
    paths: dict[str, list[DefinitionPlace]] = defaultdict(list)
    for one in chain.from_iterable(heads):
        paths[one.path].append(one)
    return {path: tuple(own) for path, own in paths.items()}


def _naming_files(query: Query, analysed: RankingQuery, catalog: SearchCatalog) -> RankingQuery:
    """Return a question with the files of the index that it names. What names a file, names no symbol."""
    paths = catalog.paths_by_stem()
    is_long = len(query.text) > _SHORT_TEXT
    named = named_files(written_files(read_issue(query.text) if is_long else Issue(query.text, "", "")), paths)
    bare = dict.fromkeys(bare_files(analysed.runs, paths), 0.0)
    names = {path.rpartition("/")[2] for path in named}
    symbols = [one for one in analysed.symbols if one in query.symbols or not (is_file_name(one) or one in names)]
    is_module = query.intent == "symbol" and _is_module(query.text, named, catalog)
    return analysed._replace(
        files={**bare, **named},
        symbols=() if is_module else tuple(symbols),
        is_only_symbol=analysed.is_only_symbol and not is_module,
    )


def _one_import_away(query: RankingQuery, framed: Mapping[int, FrameChunk], catalog: SearchCatalog) -> dict[str, float]:
    """Return files that are imported where the last places of a trace lie, in files that are named, and where a named
    symbol of few definitions is defined. They are only candidates: most of them are as they should be."""
    keys = list(framed)[:_MAX_START]
    for symbol in query.symbols[:_MAX_LOOKED_UP]:
        defining = catalog.chunks_defining(last_of(symbol), partial=False, limit=_MAX_MEANT)
        keys += defining if len(defining) < _MAX_MEANT else ()
    start = [chunk.path for chunk in catalog.chunks(keys[: 2 * _MAX_START]).values()]
    start += [path for path, value in query.files.items() if value > 0]
    paths = catalog.paths_by_stem()
    n_imports: Counter[str] = Counter()
    for path in list(dict.fromkeys(start))[:_MAX_START]:
        n_imports.update(imported_files(catalog.imports_of(path), paths))
    return dict.fromkeys((path for path, _ in n_imports.most_common(_MAX_IMPORTED)), 0.0)


def _is_module(name: str, named: Mapping[str, float], catalog: SearchCatalog) -> bool:
    """Return True if a qualified name is a file of the index, and nothing that is defined here."""
    *front, last = _LAST.split(name)
    stems = {flat_stem(part) for path in named for part in path.split("/")[-2:]}
    if not front or flat_stem(last) not in stems:
        return False
    return all(item.symbol.kind == "section" for item in catalog.symbols_named(".".join((*front, last))))


def _framed(text: str, catalog: Chunks) -> dict[int, FrameChunk]:
    """Return the chunks that hold the places of a stack trace; a place that many files could be is left out."""
    framed: dict[int, FrameChunk] = {}
    value = 1.0
    for frame in frames(text):
        rows = catalog.chunks_at(frame.path.rpartition("/")[2], frame.line)
        n_same = [same_place(frame.path, path) for _, path in rows]
        best = [key for (key, _), n in zip(rows, n_same, strict=True) if n == max(n_same)]
        if 0 < len(best) <= _MAX_MEANT:
            for key in best:
                framed.setdefault(key, FrameChunk(value, frame.line))
            value *= _OUTER
    return framed


def _rarity(counts: Mapping[str, int], total: int) -> tuple[dict[str, float], float]:
    """Return each word's inverse document frequency over all chunks, as BM25 defines it, and the share of the unknown.

    A word that stands nowhere and is not Latin counts nothing: code in English says nothing in Chinese.
    """
    rare = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
    rare = {word: value if counts[word] or word.isascii() else 0.0 for word, value in rare.items()}
    unknown = sum(value for word, value in rare.items() if not counts[word])
    return rare, unknown / (sum(rare.values()) or 1.0)


def analyse(query: Query, *, in_chinese: bool = False) -> RankingQuery:
    """Return the query of the ranking for a question. `in_chinese`: the project is commented in Chinese."""
    text = query.text
    words = [term for term in question_terms(text) if term not in STOP_WORDS] or terms(text)
    english = {} if text.isascii() else _without_stop_words(to_english(text))
    translations = english | (to_chinese(words) if in_chinese else {})
    counts = _counts(read_issue(text)) if len(words) > LONG else {}
    all_terms = tuple(dict.fromkeys([*(counts or words), *translations]))
    best = [word for word, weight in english.items() if weight == 1.0]  # what else a word can mean only finds
    meaning = " ".join((text, *best))
    return RankingQuery(
        terms=all_terms,
        symbols=tuple(dict.fromkeys(_symbols(query))),
        about_tests=not _ABOUT_TESTS.isdisjoint((*words, *best)) and not counts,
        about_prose=not _ABOUT_PROSE.isdisjoint((*words, *best)) and not counts,
        weights=translations | counts | {word: 1.0 for word in words if not counts},
        meaning=meaning,
        written=() if counts else tuple(dict.fromkeys(words)),
        title="" if counts or "\n" in text.strip() else text.strip(),
        runs=_runs(meaning),
        is_only_symbol=query.intent == "symbol",
    )


def without_project(query: RankingQuery, project: str) -> RankingQuery:
    """Return a short question without the name of the project among its terms, where enough others remain.

    "How does gin recover from a panic" is about recovery: `gin.go` is no better an answer in that project. A name of
    several words, such as `search-engine`, may as well be what is asked about, and stays.
    """
    own = [word for word in parts(project) if word not in _OF_ANY_PROJECT]
    kept = tuple(term for term in query.terms if term not in own)
    if len(own) != 1 or len(kept) < _FEWEST_OTHERS or len(query.terms) > LONG or query.symbols:
        return query
    return query._replace(terms=kept)


def question_terms(text: str) -> list[str]:
    """Return the terms of a question, in order: single letters and digits are none where there are others.

    "URLs" is the plural of url, and of a short name such as TeX or iOS only the whole is a term.
    """
    plain = _SHORT_MIXED.sub(lambda match: match[0].lower(), _ACRONYMS.sub(r"\1", text))
    words = terms(plain)
    return list(filter(_is_term, words)) or words


def _is_term(word: str) -> bool:
    return len(word) > 1 or not word.isascii()


def _without_stop_words(weights: Mapping[str, float]) -> dict[str, float]:
    return {word: weight for word, weight in weights.items() if word not in STOP_WORDS}


def _counts(issue: Issue) -> dict[str, float]:
    """Return the weight of each word of a long text, at most 1."""
    weights = {word: weight for word, weight in _without_stop_words(weights_of(issue)).items() if _is_term(word)}
    top = max(weights.values(), default=1.0)
    return {word: weight / top for word, weight in weights.items()}


def focused(query: RankingQuery, nowhere: Set[str] = frozenset()) -> RankingQuery:
    """Return a question with the words that say most; the rest of a long text only helps to find candidates.

    Words worth nothing, such as Chinese ones where nothing is Chinese, are left out. Words of a long text that stand
    `nowhere` in the index, the rarest of all, take the place of no other.
    """
    weighted, worth = query.weighted, query.worth
    useful = tuple(term for term in query.terms if worth[term]) or query.terms
    if len(useful) <= LONG:
        return query if useful == query.terms else query._replace(terms=useful)
    ordered = sorted(useful, key=lambda term: (term in nowhere, -worth[term], term))
    minor_terms = {term: weighted[term] for term in ordered[LONG:]}
    return query._replace(terms=tuple(ordered[:LONG]), minor_terms=minor_terms)


def _runs(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    rows = (words, words[1:], words[2:])
    return frozenset("".join(row) for n in (1, 2, 3) for row in zip(*rows[:n], strict=False))


def _symbols(query: Query) -> Iterator[str]:
    """Yield the identifiers of a question: those after @@, a single one, and those that look like no English word."""
    yield from query.symbols
    identifiers = _IDENTIFIER.findall(query.text)
    if query.intent == "symbol" and len(identifiers) == 1:
        yield identifiers[0]
        return
    for word in identifiers:
        if "_" in word.strip("_") or re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]|::|\w\.\w|->|#|\\", word):
            yield word
