"""Paths by the stems of their files: the name without folder, ending, case, hyphens and underscores. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from codefathom.facts.paths import stands_for_folder
from codefathom.text.path_spelling import canonical

PathsByStem: TypeAlias = Mapping[str, Sequence[str]]


def flat_stem(name: str) -> str:
    """Return the stem of a file's name as letters and digits, lower-case: `Hot_reload.test.ts` gives `hotreload`.

    A name that begins with a dot is its own stem.
    """
    name = canonical(name)
    return name.partition(".")[0].lower().replace("_", "").replace("-", "") or name.lower()


def by_stem(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return paths by the flat stem of the file; one that stands for its folder also by the name of the folder."""
    result: dict[str, list[str]] = {}
    stems: dict[str, tuple[str, bool]] = {}  # by file name: a tree has few names, and many files of each
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name not in stems:
            stems[name] = flat_stem(name), stands_for_folder(name)
        stem, is_barrel = stems[name]
        result.setdefault(stem, []).append(path)
        if folder and is_barrel:
            result.setdefault(flat_stem(folder.rpartition("/")[2]), []).append(path)
    return result
