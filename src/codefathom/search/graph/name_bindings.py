"""Imports of a file → the names that they give to it. Pure; knows the customs of each language, not the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codefathom.search.graph.imports import names_of_group
from codefathom.search.graph.resolve import family
from codefathom.types import Reference

EVERY = "*"  # the name of all names of a module, or of the module itself

# In these languages the last part of an import is the name by which the file uses it.
_BY_LAST_PART = frozenset({"python", "java", "csharp", "php", "rust", "elixir", "swift", "julia", "haskell", "ocaml"})
_VERSION = re.compile(r"v\d+")


class BoundName(NamedTuple):
    """A name in a file, and what it is where it comes from."""

    local: str  # EVERY: all names of the module
    original: str  # EVERY: the module itself


def bindings_of(item: Reference, language: str) -> Iterator[BoundName]:
    """Yield the names that an import gives to its file; none where the language does not tell."""
    group = family(language)
    if group == "javascript":
        yield from _listed(item.qualifier)
    elif group == "go":
        yield from _of_go(item)
    elif group in _BY_LAST_PART:
        yield from _by_last_part(item)


def _listed(names: str) -> Iterator[BoundName]:
    """Yield the names of a list such as `a, b as c, * as ns`."""
    for name in filter(None, names.split(", ")):
        original, _, local = name.partition(" as ")
        yield BoundName(local or original, original)


def _of_go(item: Reference) -> Iterator[BoundName]:
    """Yield the name of a package: its own last folder without a version, unless the import gives another."""
    if item.qualifier == ".":
        yield BoundName(EVERY, EVERY)
    elif item.qualifier != "_":
        parts = [part for part in item.name.split("/") if part and not _VERSION.fullmatch(part)]
        last = re.sub(r"\.v\d+$|\.go$", "", parts[-1]) if parts else ""
        names = (item.qualifier,) if item.qualifier else dict.fromkeys((last, last.removeprefix("go-")))
        yield from (BoundName(name, EVERY) for name in names if name)


def _by_last_part(item: Reference) -> Iterator[BoundName]:
    if item.qualifier == "*":
        yield BoundName(EVERY, EVERY)
        return
    for name in _with_aliases(item.name):
        written, _, alias = name.partition(" as ")
        last = re.split(r"[.\\]|::", written.strip().rstrip(";"))[-1].strip()
        if last in ("*", "_", "given", ""):
            yield BoundName(EVERY, EVERY)
        elif item.qualifier and item.qualifier == written:  # `import a.b`, used as a.b
            yield BoundName(written, EVERY)
        else:
            yield BoundName(alias.strip() or item.qualifier or last, last)


def _with_aliases(name: str) -> list[str]:
    """Return the names of `a::{b, c as d}` with their aliases."""
    if "{" not in name:
        return [re.sub(r"\s*=>\s*", " as ", name)]
    return [f"{one} as {alias}" if alias else one for one, alias in names_of_group(name)]
