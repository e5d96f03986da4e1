"""The evidence for each candidate: one number for each signal, most of them from 0 to 1.

Plain retrieval finds the right file among ten nine times in ten; tools differ in the order. `SIGNALS` explains each
number in words, `weights.py` holds its weight, and `rank.py` makes the order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log1p
from typing import NamedTuple

from codefathom.search.question.ranking_query import RankingQuery, last_of
from codefathom.search.question.words import Cover, WordStrengths, same_word
from codefathom.search.ranking.as_asked import AsAsked, NameWords
from codefathom.search.ranking.copies import copying_files
from codefathom.search.ranking.places import PathFacts, place_of
from codefathom.stores.lexical.terms import parts
from codefathom.types.hits import Chunk

SIGNALS = {
    "lexical": "words of the question in it, rare ones count more (relative to the best candidate)",
    "vector": "closeness of its meaning to the question (cosine, relative to the best candidate)",
    "vector_rank": "its rank by meaning: 1 for the first, 1/2 for the second",
    "definition": "it defines the symbol in the question",
    "symbol_only": "it defines the symbol, and the question has no other words",
    "frame": "the stack trace or error message names its line",
    "words": "share of the question's words that are in it, in any form",
    "names": "share of the question's words that are in names it defines",
    "name_share": "share of a name it defines that is in the question",
    "test": "tests and examples count less",
    "data": "data counts less than code: translations, and tables of numbers and quoted text",
    "prose": "documentation counts less than code, unless its heading or it alone has the question's words",
    "heading": "its heading is the question, word for word",
    "lacking": "it has no word of the question, and another candidate has all of them",
    # The others are about its file.
    "stem_share": "share of its file name that is in the question",
    "folder_share": "share of its folder's name that is in the question",
    "stem_inside": "the question names its file",
    "named_file": "the question writes its file as a path, file name, module or link",
    "file_words": "share of the question's words that are in its file, in any form",
    "file_lexical": "the best score by words in its file",
    "file_several": "the three best scores by words in its file, when the question is a long text",
    "file_vector": "the closest meaning in its file",
    "file_share": "share of all evidence that lies in its file (relative to the file with most)",
    "file_size": "number of lines of its file",
    "depth": "number of folders above its file",
    "declaration": "it declares what another file defines",
    "legacy": "an older copy, such as code in legacy/ or in v1/ beside v2/, or a file made of others, counts less",
}
NAMES = tuple(SIGNALS)
_SHORTEST_STEM = 3
_SEVERAL = 3  # places of a file that speak for it where a text is about several things
_REEXPORTED = 0.8
_BESIDE = 0.3  # the value of a namesake of what a symbol means first: a constructor, a namespace, an import
_FEW = 4  # files that may define a name before it says less
_TESTS = frozenset({"test", "tests"})
_MADE_OF_OTHERS = 1.5  # such a file has all words of the others, and so more evidence than an older copy
_FILE_OF_DATA = 2.0  # a translation has the words of the page, and so does each of its copies in other languages
_FEWEST_MARKS = 25  # commas and quotes of a table
_PER_MARK = 8  # characters
_PER_COMMA = 3 * _PER_MARK  # two quotes stand beside each
_PER_ACTION = 5  # commas and quotes for each call, assignment or statement
_UNDER_HEADING = 0.8  # of what documentation counts less, taken back where a heading has all words of the question
_MUCH_MORE = 2  # a document that has so many times the words that any code has is likelier to be meant
_FEWEST_IN_HEADING = 3  # words of such a question: the code of a thing often has the same one or two words in its name


class Candidate(NamedTuple):
    """A chunk that at least one source of candidates found; a score of 0 means that this source did not find it."""

    key: int
    chunk: Chunk
    lexical: float = 0.0  # score of the lexical view
    vector: float = 0.0  # cosine similarity
    line: int = 0  # where the evidence stands; 0: not known
    n_lines: int = 0  # of its file
    column: int = 0  # in that line, from 1; 0: not known


def signals(
    query: RankingQuery, candidates: Sequence[Candidate], fused: Mapping[int, float]
) -> list[tuple[float, ...]]:
    """Return the numbers of each candidate, in the order of `NAMES`.

    `fused` is the lexical and vector evidence by key, scaled to 0..1.
    """
    forms = query.word_forms
    cover = Cover(query.worth)
    strengths = WordStrengths(forms, cover)
    term_bits = [
        forms.inside(f"{one.chunk.path}\n{one.chunk.signature}\n{one.chunk.text}".lower()) for one in candidates
    ]
    names = [_names(one.chunk.names) for one in candidates]
    top = _Top(
        max((one.lexical for one in candidates), default=0.0) or 1.0,
        max((one.vector for one in candidates), default=0.0) or 1.0,
    )
    files = _Files(candidates, term_bits, fused, cover)
    if query.kind == "long":
        files.several = _several(candidates)
    of_file = {
        one.chunk.path: _about_path(one.chunk.path, query, strengths) + _of_file(one, files, top, query)
        for one in {one.chunk.path: one for one in candidates}.values()
    }
    places = _places_by_meaning(candidates)
    defined = _definitions(query, candidates, names)
    about_names = _about_names(names, strengths)
    covered = [cover[bits] for bits in term_bits]
    documents = _Documents(query, candidates, covered)
    as_asked = AsAsked(query)
    chunks = [one.chunk for one in candidates]
    named = [NameWords(own.each, share) for own, (share, _) in zip(names, about_names, strict=True)]
    lacking = as_asked.lacking(chunks, term_bits, named)
    frames = {key: frame.value for key, frame in query.frames.items()}
    tests_count_less = not query.about_tests
    return [
        (
            one.lexical / top.lexical,
            one.vector / top.vector if one.vector > 0 else 0.0,
            places.get(one.key, 0.0),
            defined[one.key],
            defined[one.key] * query.is_only_symbol,
            frames.get(one.key, 0.0),
            share,
            *own_names,
            float(tests_count_less and _is_test(one.chunk)),
            _data(one.chunk, query),
            documents.prose(one.chunk, share, own_names[0]),
            float(is_heading),
            float(lacks),
            *of_file[one.chunk.path],
        )
        for one, share, own_names, is_heading, lacks in zip(
            candidates, covered, about_names, as_asked.headings(chunks, named), lacking, strict=True
        )
    ]


class _Top(NamedTuple):
    """The best score of each source."""

    lexical: float
    vector: float


def _of_file(one: Candidate, files: _Files, top: _Top, query: RankingQuery) -> tuple[float, ...]:
    """Return the signals of the file of a candidate."""
    path = one.chunk.path
    place = place_of(path)
    # A text of a report names headers that must change; a short question asks how something works.
    is_declared_in_c = place.is_header and place.flat_stem in files.defined_in_c and query.kind == "short"
    return (
        files.cover[files.words[path]],
        files.lexical[path] / top.lexical,
        files.several.get(path, 0.0),
        files.vector[path] / top.vector,
        files.share(path),
        log1p(one.n_lines) / 8,
        place.depth / 5,
        float(place.is_declaration or is_declared_in_c or _only_names(place, query)),
        _MADE_OF_OTHERS if path in files.copying else float(_is_legacy(place, files, query)),
    )


def _data(chunk: Chunk, query: RankingQuery) -> float:
    """Return 1 for a table, more for a file of data that the question does not ask for by the name of its folder."""
    data = place_of(chunk.path).data
    return _FILE_OF_DATA if data and not query.word_forms.among(data) else float(_is_table(chunk.text))


class _Documents:
    """The documentation among the candidates, beside the code that could answer."""

    def __init__(self, query: RankingQuery, candidates: Sequence[Candidate], covered: Sequence[float]) -> None:
        self._are_meant = query.about_prose
        self._may_be_heading = len(query.terms) >= _FEWEST_IN_HEADING
        of_code = (
            share for one, share in zip(candidates, covered, strict=True) if not place_of(one.chunk.path).is_prose
        )
        self._best_code = 0.0 if self._are_meant else max(of_code, default=0.0)

    def prose(self, chunk: Chunk, share: float, in_heading: float) -> float:
        """Return 1 for documentation that is not asked for; less where a heading has most of the question's words, and
        where no code has half as many of them. `share` of the words are in the chunk, `in_heading` in its headings."""
        if self._are_meant or not place_of(chunk.path).is_prose:
            return 0.0
        value = 1 - _UNDER_HEADING * in_heading**4 if self._may_be_heading else 1.0
        return value * min(1.0, _MUCH_MORE * self._best_code / share) if share else value


def _is_table(text: str) -> bool:
    """Return True for a text that is mostly literals: an eighth of it is commas and quotes, and little is done."""
    n_commas = text.count(",")
    if n_commas * _PER_COMMA < len(text):  # most code, at a third of the cost
        return False
    n_marks = n_commas + text.count('"') + text.count("'")
    if n_marks < _FEWEST_MARKS or n_marks * _PER_MARK < len(text):
        return False
    return (text.count("(") + text.count("=") + text.count(";")) * _PER_ACTION <= n_marks


def _only_names(place: PathFacts, query: RankingQuery) -> bool:
    """Return True for the arguments or results of a module where they are not asked for."""
    return place.is_interface and not query.word_forms.among(place.stem)


def _is_legacy(place: PathFacts, files: _Files, query: RankingQuery) -> bool:
    """Return True if a living copy replaces a file, and the question does not ask for the older one."""
    if place.version and f"v{place.version}" not in query.terms and place.version < files.newest[place.unversioned]:
        return True
    return bool(place.legacy) and not query.word_forms.among(place.legacy)


class _Files:
    """The joint evidence of the candidates of each file."""

    def __init__(
        self, candidates: Sequence[Candidate], term_bits: Sequence[int], fused: Mapping[int, float], cover: Cover
    ) -> None:
        self.cover = cover
        self.words: dict[str, int] = defaultdict(int)
        self.lexical: dict[str, float] = defaultdict(float)
        self.vector: dict[str, float] = defaultdict(float)
        self.several: Mapping[str, float] = {}
        self._sums: dict[str, float] = defaultdict(float)
        for one, bits in zip(candidates, term_bits, strict=True):
            path = one.chunk.path
            self.words[path] |= bits
            # A call of `max` is felt here: each candidate of each search would make two.
            if one.lexical > self.lexical[path]:  # noqa: PLR1730
                self.lexical[path] = one.lexical
            if one.vector > self.vector[path]:  # noqa: PLR1730
                self.vector[path] = one.vector
            self._sums[path] += fused.get(one.key, 0.0)
        self._largest = max(self._sums.values(), default=0.0) or 1.0
        # Without a folder of a version a file is the living one beside v1/, and as likely the older one beside v2/.
        self.newest: dict[str, float] = {}
        for place in map(place_of, self._sums):
            version = place.version or 1.5
            self.newest[place.unversioned] = max(version, self.newest.get(place.unversioned, 0))
        # In C a function is defined in the source file; its header says little of how it works.
        self.copying = copying_files(candidates)
        self.defined_in_c = {place_of(path).flat_stem for path in self._sums if path.endswith(".c")}

    def share(self, path: str) -> float:
        """Return the share of the evidence that lies in a file, against the file with most."""
        return self._sums[path] / self._largest


def _several(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Return by path the sum of the best lexical scores of a file, against the highest of these sums."""
    scores: dict[str, list[float]] = defaultdict(list)
    for one in candidates:
        scores[one.chunk.path].append(one.lexical)
    sums = {path: sum(sorted(own, reverse=True)[:_SEVERAL]) for path, own in scores.items()}
    largest = max(sums.values(), default=0.0) or 1.0
    return {path: value / largest for path, value in sums.items()}


def _places_by_meaning(candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return 1 / place in the order by meaning; equals share a place."""
    near = {one.key: one.vector for one in candidates if one.vector > 0}
    # The nearest comes last: of equals the first place stays.
    place_of_score = dict(zip(sorted(near.values()), range(len(near), 0, -1), strict=True))
    return {key: 1 / place_of_score[score] for key, score in near.items()}


class _Names(NamedTuple):
    """The last parts of the names of a chunk."""

    lowered: frozenset[str]
    words: tuple[str, ...]  # of all of them
    each: tuple[tuple[str, ...], ...]  # the words of each


def _about_names(names: Sequence[_Names], strengths: WordStrengths) -> list[tuple[float, float]]:
    """Return for each candidate what its names cover of the question, and how much of a name the question has."""
    shared = strengths.learn(set().union(*[own.words for own in names]))
    about = []
    for own in names:
        terms = strengths.forms.among(shared.intersection(own.words))
        about.append((strengths.cover[terms], strengths.best_share(own.each)) if terms else (0.0, 0.0))
    return about


@lru_cache(maxsize=16_384)
def _names(names: tuple[str, ...]) -> _Names:
    lasts = [name.rpartition(".")[2] for name in names]
    each = tuple(words for words in dict.fromkeys(tuple(parts(last)) for last in lasts) if words)
    words = tuple(sorted({word for one in each for word in one}))
    return _Names(frozenset(last_of(name).lower() for name in names), words, each)


def _is_test(chunk: Chunk) -> bool:
    """Return True if a chunk lies in a file of tests, or in the module of tests that Rust keeps beside the code."""
    return place_of(chunk.path).is_test or (chunk.language == "rust" and not _TESTS.isdisjoint(chunk.symbol.split(".")))


def _about_path(path: str, query: RankingQuery, strengths: WordStrengths) -> tuple[float, ...]:
    place = place_of(path)
    stem, forms, cover = place.flat_stem, strengths.forms, strengths.cover
    is_named = len(stem) >= _SHORTEST_STEM and stem in query.runs
    return (
        strengths.share_of(place.stem),
        strengths.share_of(place.folder),
        # What is written about a thing often has its name, and so has the code that it describes.
        cover.strength(forms.among(place.stem)) if is_named and (query.about_prose or not place.is_prose) else 0.0,
        query.files.get(path, 0.0),
    )


def _definitions(query: RankingQuery, candidates: Sequence[Candidate], names: Sequence[_Names]) -> dict[int, float]:
    """Return by key: 1 when the chunk holds the head of a query symbol as written, less for another case; more when the
    file is named so. Constructors, members and comments that bear the name count less, and so does a name that the
    project only re-exports."""
    strengths = dict.fromkeys((one.key for one in candidates), 0.0)
    lasts = {symbol: last_of(symbol) for symbol in query.symbols}
    by_name: dict[str, list[str]] = {}  # a long question names thousands of symbols, and a chunk defines few
    for symbol, last in lasts.items():
        by_name.setdefault(last.lower(), []).append(symbol)
    foreign = {lasts[symbol] for symbol in query.foreign}  # thousands of symbols may share one
    beside = _BESIDE if query.heads else 1.0
    as_written = frozenset(lasts.values())
    for one, own in zip(candidates, names, strict=True) if lasts else ():
        chunk, defined = one.chunk, own.lowered
        best = _REEXPORTED if foreign and any(_reexports(last, chunk) for last in foreign) else 0.0
        if not defined.isdisjoint(by_name) and chunk.kind != "section":  # a heading defines nothing
            shared = by_name.keys() & defined
            symbols = {*(symbol for name in shared for symbol in by_name[name]), *(lasts.keys() & chunk.names)}
            best = max(
                best,
                *(
                    beside * _says(lasts[symbol], query) * _definition(symbol, lasts[symbol], chunk)
                    for symbol in symbols
                ),
            )
        # A long comment above a definition fills chunks of its own, which hold its name, but not its line.
        for head in query.heads.get(chunk.path, ()):
            if chunk.start_line <= head.line <= chunk.end_line:
                value = _value(head.name, chunk, is_as_written=head.name in as_written)
                best = max(best, _says(head.name, query) * value)
        strengths[one.key] = best
    return strengths


def _definition(symbol: str, last: str, chunk: Chunk) -> float:
    shorts = [name.rpartition(".")[2] for name in chunk.names]
    if last in shorts or symbol in chunk.names:
        return _value(last, chunk, is_as_written=True)
    return _value(last, chunk, is_as_written=False) if last.lower() in map(str.lower, shorts) else 0.0


def _value(name: str, chunk: Chunk, *, is_as_written: bool) -> float:
    return (0.8 if is_as_written else 0.5) + 0.2 * same_word(place_of(chunk.path).flat_stem, name.lower())


def _says(name: str, query: RankingQuery) -> float:
    """Return 1 for a name that few files define, less for one of many; a question of nothing else means it anyhow."""
    n_files = query.n_defining.get(name.lower(), 0)
    return 1.0 if query.is_only_symbol or n_files <= _FEW else _FEW / n_files


def _reexports(name: str, chunk: Chunk) -> bool:
    """Return True if a chunk re-exports a name: `pub use`, `export {`, an import in `__init__.py`."""
    if name not in chunk.text:
        return False
    imports = r"|from\s+\S+\s+import\s+(?:\([^)]*?|[^\n(]*?)" if chunk.path.endswith("__init__.py") else ""
    export = rf"^[ \t]*(?:pub\b[^\n;]*?\buse\b[^;]*?|export\s+(?:type\s+)?\{{[^}}]*?{imports})\b{re.escape(name)}\b"
    return re.search(export, chunk.text, re.MULTILINE) is not None
