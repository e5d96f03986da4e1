"""Paths by the stems of their files: the name without folder, ending, case, hyphens and underscores. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from codefathom.facts.paths import BARRELS, stands_for_folder
from codefathom.text.path_spelling import canonical

PathsByStem: TypeAlias = Mapping[str, Sequence[str]]


def flat_stem(name: str) -> str:
    """Return the stem of a file's name as letters and digits, lower-case: `Hot_reload.test.ts` gives `hotreload`.

    A name that begins with a dot is its own stem.
    """
    name = canonical(name)
    return flattened(name.partition(".")[0]) or name.lower()


def flattened(name: str) -> str:
    """Return a name in small letters, without the signs that join its words."""
    return name.lower().replace("_", "").replace("-", "")


def by_stem(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return paths by the flat stem of the file; one that stands for its folder also by the name of the folder."""
    listed = list(paths)
    names = [path.rpartition("/")[2] for path in listed]
    result: dict[str, list[str]] = {}
    for path, name, stem in zip(listed, names, _flat_stems(names), strict=True):
        result.setdefault(stem, []).append(path)
        if stem in _STEMS_OF_BARRELS and stands_for_folder(name) and path != name:
            result.setdefault(flat_stem(path.split("/")[-2]), []).append(path)
    return result


_STEMS_OF_BARRELS = frozenset(map(flat_stem, BARRELS))


def _flat_stems(names: Sequence[str]) -> Iterator[str]:
    """Yield the flat stem of each name. All names are changed in one text: the first question reads all of an index."""
    together = flattened("/".join(names))
    for name, flat in zip(names, together.split("/") if names else (), strict=True):
        stem = flat.partition(".")[0]
        yield stem if stem and name.isascii() and "\\" not in name else flat_stem(name)
