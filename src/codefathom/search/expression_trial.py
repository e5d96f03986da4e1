"""One expression tried on the texts of some files, or on some chunks alone: the chunks in which its matches begin."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple, TypeAlias

from codefathom.errors import SlowExpressionError
from codefathom.search.sign_table import PartSigns, SignsOfPart
from codefathom.stores.catalog.readers import Chunks
from codefathom.stores.catalog.records import CheckedText
from codefathom.system.stopping import check_stopped
from codefathom.text.expressions import Deadline, Expression
from codefathom.types.hits import Chunk


class Match(NamedTuple):
    """One chunk with matches of an expression, and the place of the first."""

    key: int
    chunk: Chunk
    line: int
    column: int
    n_matches: int


class Trial(NamedTuple):
    """The chunks of some files that match, in path order."""

    matches: Sequence[Match]
    n_cut: int  # files that were not searched to the end
    signs: PartSigns | None = None  # of all these files, where somebody asked for them and no file was left out


class ChunkTrial(NamedTuple):
    """The chunks that match, of those that hold their matches alone."""

    matches: Sequence[Match]
    files: frozenset[int]  # that must be read whole: a row is damaged or lost, or the expression takes too long


_AT_ONCE = 1_000  # chunks that are read, and searched as one text

_Places: TypeAlias = list[tuple[int, int]]  # line and column in which each match begins, from 1, in order


class _Place(NamedTuple):
    """The first match in a chunk."""

    key: int
    line: int
    column: int
    n_matches: int


def try_on(
    paths: Sequence[str],
    expression: Expression,
    catalog: Chunks,
    allowed: Collection[int] | None,
    running: Deadline,
    *,
    signs: SignsOfPart | None = None,
) -> Trial:
    """Try an expression on the files of sorted paths, as many as there is time for. A match may span chunks of a file.

    Only chunks with an allowed key count; None allows all. The groups of signs of all texts are added to `signs`.
    """
    matching: list[_Place] = []
    n_cut = 0
    for n_before, document in enumerate(catalog.texts(paths)):
        if running.is_over:
            n_cut += len(paths) - n_before
            signs = None
            break
        check_stopped()
        if signs is not None:
            signs.add(n_before, document.text)
        if allowed is not None and not any(key in allowed for key in document.keys):
            continue
        places, is_cut = _places(expression, document.text)
        n_cut += is_cut
        if places:
            matching += (item for item in _inside(places, document) if allowed is None or item.key in allowed)
    chunks = catalog.chunks([item.key for item in matching])
    matches = [Match(item.key, chunks[item.key], *item[1:]) for item in matching if item.key in chunks]
    return Trial(matches, n_cut, signs.all() if signs is not None else None)


def _places(expression: Expression, text: str) -> tuple[_Places, bool]:
    """Return the places in which matches begin, and True if the search for more was stopped."""
    places: _Places = []
    line, position = 1, 0
    try:
        for start in expression.places(text):
            line += text.count("\n", position, start)
            position = start
            places.append((line, start - text.rfind("\n", 0, start)))
    except SlowExpressionError:
        return places, True
    return places, False


def _inside(places: _Places, document: CheckedText) -> Iterator[_Place]:
    """Yield the chunks of a document in which some of these places lie."""
    first = 0
    for key, end in zip(document.keys, document.begins[1:], strict=True):
        behind = bisect_left(places, end, first)
        if behind > first:
            yield _Place(key, *places[first], behind - first)
        first = behind


def try_on_chunks(chunks: Mapping[int, int], expression: Expression, catalog: Chunks) -> ChunkTrial:
    """Try an expression on chunks of whole lines, each with the number of its file; a match lies in one line."""
    keys = sorted(chunks)
    matches: list[Match] = []
    files: set[int] = set()
    for start in range(0, len(keys), _AT_ONCE):
        check_stopped()
        some = keys[start : start + _AT_ONCE]
        texts = catalog.chunks(some)
        files.update(chunks[key] for key in some if key not in texts)
        try:
            matches += _matches_in(list(texts.items()), expression)
        except SlowExpressionError:
            files.update(map(chunks.__getitem__, some))
    return ChunkTrial([match for match in matches if chunks[match.key] not in files], frozenset(files))


def _matches_in(chunks: Sequence[tuple[int, Chunk]], expression: Expression) -> Iterator[Match]:
    """Yield the matches in chunks. To search them as one text takes a fifth of the time. Raises SlowExpressionError."""
    joined = "\n".join([chunk.text for _, chunk in chunks])
    ends = list(accumulate(len(chunk.text) + 1 for _, chunk in chunks))
    for number, group in groupby(list(expression.places(joined)), key=lambda place: bisect_right(ends, place)):
        key, chunk = chunks[number]
        places = list(group)
        before = chunk.text[: places[0] - ends[number] + len(chunk.text) + 1]
        line, column = chunk.start_line + before.count("\n"), len(before) - before.rfind("\n")
        yield Match(key, chunk, line, column, len(places))
