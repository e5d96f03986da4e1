"""Files that hold again what smaller files hold: amalgamations, single headers, bundles. Pure.

They are known by their content, as they may lie anywhere and be called anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from codefathom.search.ranking.places import place_of
from codefathom.types.hits import Chunk

_LARGE = 1_500  # lines of a file that may be made of others
_LARGER = 3  # times as many lines as the file of the original
_LONG_LINE = 16  # characters: shorter lines are alike by chance
_ORIGINALS = 2  # small files of which a large one holds chunks
_FEWEST_LINES = 3  # long lines that tell a copy
_SAME = 0.8  # share of the long lines of a chunk that the copy holds
_COMMENT = ("//", "/*", "*", "#", "--")
_MAX_NAMESAKES = 8  # a name such as `init` is defined in many places of large files, and tells nothing


class _Placed(Protocol):
    """A chunk, and the length of its file."""

    @property
    def chunk(self) -> Chunk: ...
    @property
    def n_lines(self) -> int: ...


def copying_files(candidates: Sequence[_Placed]) -> frozenset[str]:
    """Return the paths of files that hold whole chunks of two much smaller files, which are neither tests nor old.

    One function that a large file has from a small one tells nothing.
    """
    by_name: dict[str, list[_Placed]] = defaultdict(list)
    for one in candidates:
        if one.n_lines >= _LARGE and one.chunk.kind != "section":  # of most questions none, and nothing is compared
            for name in _last_parts(one.chunk.names):
                by_name[name].append(one)
    originals: dict[str, set[str]] = defaultdict(set)
    for large, small in _pairs(by_name, candidates) if by_name else ():
        smaller = originals[large.chunk.path]
        if len(smaller) < _ORIGINALS and small.chunk.path not in smaller and _holds(large.chunk, small.chunk):
            smaller.add(small.chunk.path)
    return frozenset(path for path, paths in originals.items() if len(paths) >= _ORIGINALS)


def _pairs(
    by_name: Mapping[str, Sequence[_Placed]], candidates: Sequence[_Placed]
) -> Iterator[tuple[_Placed, _Placed]]:
    """Yield chunks of large files, each with a chunk of a much smaller file that defines the same name."""
    for small in candidates:
        names = _last_parts(small.chunk.names)
        if by_name.keys().isdisjoint(names) or small.chunk.kind == "section" or place_of(small.chunk.path).is_aside:
            continue
        for name in names:
            namesakes = by_name.get(name, ())
            for large in namesakes if len(namesakes) <= _MAX_NAMESAKES else ():
                if large.n_lines >= _LARGER * small.n_lines > 0:
                    yield large, small


@lru_cache(maxsize=4_096)
def _last_parts(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([name.rpartition(".")[2] for name in names])


def _holds(large: Chunk, small: Chunk) -> bool:
    """Return True if a chunk has nearly all long lines of another one that are no comments."""
    told, text = _told(small.text), large.text
    n_left = len(told) if len(told) >= _FEWEST_LINES else 0
    least = _SAME * n_left
    for line in told if n_left else ():
        if line not in text:
            n_left -= 1
            if n_left < least:  # nearly always after a few lines
                return False
    return n_left > 0


@lru_cache(maxsize=1_024)
def _told(text: str) -> tuple[str, ...]:
    """Return the long lines of a text that are no comments; of a small file, they are compared with several others."""
    lines = {line for line in map(str.strip, text.splitlines()) if len(line) >= _LONG_LINE}
    return tuple(line for line in lines if not line.startswith(_COMMENT))
