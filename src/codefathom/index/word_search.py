"""The files of a project that has no index yet: found by their words, and read as an index would show them.

The same files count as for an index, and secrets have masks: nothing can be found here that an index would leave out.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from codefathom.errors import SourceError, UsageError
from codefathom.facts.languages import is_document, language_of
from codefathom.facts.reasons import HAS_WORDS, Note
from codefathom.index.plan import Recipe
from codefathom.index.prepare import as_kept, with_masks
from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import analyse
from codefathom.source.changes import FileStat
from codefathom.source.documents import is_read_whole, open_file, read
from codefathom.source.masks import MARK, marked
from codefathom.source.origin import opened_folders
from codefathom.source.scan import FileTree, Scan, scan
from codefathom.stores.conditions import combine, file_record, matches
from codefathom.stores.lexical.terms import terms
from codefathom.system.stopping import check_stopped
from codefathom.types import Chunk, Document, FileLines, Hit, IndexedFile, Rest, SearchResult, Skipped, Where

USUAL_LIMIT_S = 1.0
_LINES_BEFORE, _SHOWN_LINES = 2, 20
_MANY = 1.2  # occurrences of a word after which more of them count little, as k1 of BM25
_IN_PATH = 0.5  # the worth of a word in a path, relative to one in the text
_MOST_CONFIDENCE = 0.5
_PRELIMINARY = (
    "Preliminary: the index is being made; these places were found by their words alone, in {n} of {total} files."
)


class _WordFile(NamedTuple):
    """A file with words of the question."""

    file: FileStat
    counts: Mapping[str, int]  # by word


class _WordDocument(NamedTuple):
    """A document whose words count, and its text as it is shown, of as many lines."""

    kept: Document
    shown: str


class _WordHit(NamedTuple):
    """A place, and the number of words of the question that its file has."""

    hit: Hit
    n_words: int


class UnindexedFiles:
    """The files as they are now. The tree is listed once; files are read when they are asked for."""

    def __init__(
        self, recipe: Recipe, clock: Callable[[], float] = time.monotonic, *, marks_secrets: bool = False
    ) -> None:
        """`marks_secrets` shows a mark in the place of each secret, also of one that an index would keep."""
        self._recipe = recipe
        self._marks_secrets = marks_secrets
        self._clock = clock

    @property
    def root(self) -> str:
        """The folder of the project."""
        return self._recipe.root

    def search(
        self,
        query: str,
        *,
        where: Where | None = None,
        limit: int = 20,
        offset: int = 0,
        limit_s: float = USUAL_LIMIT_S,
    ) -> SearchResult:
        """Return the places with the rarest words of a question, in as many files as can be read in so many seconds.

        Raises UsageError for an empty question.
        """
        until = self._clock() + limit_s
        parsed = parse_query(query)
        if parsed.is_empty:
            raise UsageError("the query is empty", hint="give a question, a name or a path")
        words = dict.fromkeys((*analyse(parsed).terms, *(term for name in parsed.symbols for term in terms(name))))
        # Words are looked for inside of others, too: a single letter is everywhere.
        words = {word: None for word in words if len(word.encode("utf-8", "replace")) > 1} or words
        files = self._chosen(combine(where, parsed.where), parsed.paths, words)
        with_words, n_read = self._read_through(files, tuple(words), until)
        worth = _worth(with_words, n_read)
        ranked = sorted(((_score(item, worth), item) for item in with_words), key=lambda pair: -pair[0])
        places = tuple(self._hits(ranked, worth, offset + limit))
        note = _PRELIMINARY.format(n=n_read, total=len(files))
        # Of the best place; words alone say little.
        confidence = _MOST_CONFIDENCE * places[0].n_words / len(words) if places else 0.0
        hits = tuple(place.hit for place in places[offset:])
        is_nothing = not places and n_read == len(files)  # of files that were not read nothing is known
        # Of the others, some may have the words in masked values only.
        rest = Rest(0, is_exact=n_read == len(files) and len(ranked) <= offset + limit)
        result = SearchResult(
            query, hits, "chunk", "lexical", confidence, 0, (note,), scale="words", offset=offset, rest=rest
        )
        return replace(result, weak=is_nothing, unanswerable=is_nothing)

    def lines(self, path: str, start_line: int = 1, end_line: int = 0) -> FileLines:
        """Return lines of a file; without `end_line`, up to the last. Raises SourceError, UsageError."""
        document = self._document(self._files[path]) if path in self._files else None
        if document is None:
            raise SourceError(f"no such file here, or it is not indexed: {path!r}", hint="give a relative path")
        lines = document.shown.removesuffix("\n").split("\n")
        if not 1 <= start_line <= len(lines):
            raise UsageError(f"{path} has no line {start_line}", hint=f"it has {len(lines)} lines")
        text = "\n".join(lines[start_line - 1 : end_line or None]) + "\n"
        file = IndexedFile(path, document.kept.language, self._files[path].size, len(lines))
        end = min(end_line or len(lines), len(lines))
        return FileLines(file, start_line, end, text, has_marks=MARK in text)

    @cached_property
    def _scan(self) -> Scan:
        return scan(self._recipe.tree, self._recipe.rules)

    @cached_property
    def _files(self) -> dict[str, FileStat]:
        return {file.path: file for file in self._scan.files if is_read_whole(file) and not is_document(file.path)}

    def _chosen(self, where: Where | None, paths: Sequence[str], words: Mapping[str, None]) -> list[FileStat]:
        """Return the files that pass, those with words of the question in their path first."""
        files = [file for path, file in self._files.items() if not paths or any(name in path for name in paths)]
        if where is not None:
            # The stamps of a revision are made of its contents, and are not times.
            has_times = self._recipe.revision is None
            records = [_record(file if has_times else file._replace(mtime_ns=-1)) for file in files]
            files = [file for file, record in zip(files, records, strict=True) if matches(where, record)]
        return sorted(files, key=lambda file: -sum(word in file.path.lower() for word in words))

    def _read_through(
        self, files: Sequence[FileStat], words: Sequence[str], until: float
    ) -> tuple[list[_WordFile], int]:
        """Return the files with one of the words at least, and the number of files that there was time for."""
        spelled = {word: word.encode("utf-8", "replace") for word in words}
        with_words: list[_WordFile] = []
        with opened_folders(self._recipe.tree) as tree:
            for n_read, file in enumerate(files):
                check_stopped()
                if self._clock() > until:
                    return with_words, n_read
                text = _bytes(tree, file).lower()
                counts = {word: n for word, sought in spelled.items() if (n := text.count(sought))}
                counts |= {word: 1 for word in words if word not in counts and word in file.path.lower()}
                if counts:
                    with_words.append(_WordFile(file, counts))
        return with_words, len(files)

    def _hits(
        self, ranked: Sequence[tuple[float, _WordFile]], worth: Mapping[str, float], limit: int
    ) -> Iterator[_WordHit]:
        n_hits = 0
        for score, item in ranked:
            if n_hits == limit:
                return
            check_stopped()
            document = self._document(item.file)
            hit = None if document is None else _hit(document, item, worth, score / ranked[0][0])
            if hit is not None:
                n_hits += 1
                yield hit

    def _document(self, file: FileStat) -> _WordDocument | None:
        """Return a file as it would be indexed and as it is shown; None for one that would not be indexed."""
        recipe = self._recipe
        document = read(
            recipe.tree, file, include_generated=recipe.rules.include_generated, assumed=recipe.assumed_encoding
        )
        if isinstance(document, Skipped):
            return None
        if not self._marks_secrets:
            kept = as_kept(document, recipe)
            return _WordDocument(kept, kept.text)
        kept = with_masks(document)
        return _WordDocument(kept, marked(kept.text, document.text))


def _bytes(tree: str | FileTree, file: FileStat) -> bytes:
    try:
        stream = open_file(tree, file.path)
    except OSError:
        return b""
    if stream is None:
        return b""
    with stream:
        return stream.read(file.size)


def _record(file: FileStat) -> dict[str, object]:
    return {**file_record(file.path, file), "language": language_of(file.path, ""), "kind": "block"}


def _worth(files: Sequence[_WordFile], n_read: int) -> dict[str, float]:
    """Return the worth of each word: the rarer, the more."""
    n_files = Counter(word for item in files for word in item.counts)
    return {word: math.log(1 + n_read / n) for word, n in n_files.items()}


def _score(item: _WordFile, worth: Mapping[str, float]) -> float:
    path = item.file.path.lower()
    return sum(worth[word] * (n / (n + _MANY) + _IN_PATH * (word in path)) for word, n in item.counts.items())


def _hit(words: _WordDocument, item: _WordFile, worth: Mapping[str, float], score: float) -> _WordHit | None:
    """Return the lines around the one with the most; None where only a masked value had the words."""
    document = words.kept
    lines = document.text.removesuffix("\n").split("\n")
    lowered = [line.lower() for line in lines]
    kept = [word for word in item.counts if word in document.path.lower() or any(word in line for line in lowered)]
    if not kept:
        return None
    values = [sum(worth[word] for word in kept if word in line) for line in lowered]
    best = values.index(max(values))
    first = max(0, min(best - _LINES_BEFORE, len(lines) - _SHOWN_LINES))
    text = "\n".join(words.shown.removesuffix("\n").split("\n")[first : first + _SHOWN_LINES]) + "\n"
    end = first + text.count("\n")
    chunk = Chunk(f"{document.path}:{first}", document.path, document.language, "block", "", (), first + 1, end, text)
    return _WordHit(
        Hit(chunk, score, {}, (Note(HAS_WORDS, {"words": tuple(kept)}),), best + 1, kind=chunk.kind), len(kept)
    )
