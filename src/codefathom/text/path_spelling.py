"""Paths as people and systems write them: with backslashes, accents in one or two characters, another case. Pure.

Windows parts paths with backslashes, macOS may give `ü` as u and two dots, and both find a file in any case. A path of
the index is as the disk has it, with slashes; one that is spelled exactly like that always comes first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal


def canonical(path: str) -> str:
    """Return a path with slashes and composed characters: two paths are spelled alike if these are equal."""
    path = path.replace("\\", "/")
    return path if path.isascii() else _in_form("NFC", path)


def spellings(path: str) -> tuple[str, ...]:
    """Return a path as it is written, then in the forms that an index may have it in, each once."""
    if path.isascii() and "\\" not in path:
        return (path,)
    composed = canonical(path)
    return tuple(dict.fromkeys((path, composed, _in_form("NFD", composed))))


def paths_named(written: str, paths: Iterable[str]) -> list[str]:
    """Return the path that is written, else every path that ends with it; spelled exactly so, else alike."""
    paths = list(paths)
    name = _plain(written)
    matches = _ending_with(name, [(path, path) for path in paths])
    return matches or _ending_with(_plain(canonical(written)), [(canonical(path), path) for path in paths])


def paths_below(written: str, paths: Iterable[str]) -> list[str]:
    """Return the paths in folders of this name; spelled exactly so, else alike."""
    paths = list(paths)
    name = _plain(written)
    matches = [path for path in paths if path.startswith(f"{name}/") or f"/{name}/" in path]
    if matches:
        return matches
    alike = _plain(canonical(written))
    spelled = ((canonical(path), path) for path in paths)
    return [path for form, path in spelled if form.startswith(f"{alike}/") or f"/{alike}/" in form]


def own_spelling(name: str, names: Collection[str], *, is_there: bool) -> str:
    """Return the one of the names of a folder that a name means, or the name itself.

    In another case only if the system finds it there, as those of Windows and macOS do.
    """
    if name in names:
        return name
    form = canonical(name)
    alike = [other for other in names if canonical(other) == form]
    if not alike and is_there:
        alike = [other for other in names if canonical(other).casefold() == form.casefold()]
    return min(alike, default=name)


def _in_form(form: Literal["NFC", "NFD"], text: str) -> str:
    import unicodedata  # noqa: PLC0415 -- 1 MB that a search for plain names need not load

    return unicodedata.normalize(form, text)


def _plain(path: str) -> str:
    return path.strip("/").removeprefix("./")


def _ending_with(name: str, spelled: list[tuple[str, str]]) -> list[str]:
    whole = [path for form, path in spelled if form == name]
    return whole or [path for form, path in spelled if form.endswith(f"/{name}")]
