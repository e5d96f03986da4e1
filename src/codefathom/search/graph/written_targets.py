"""What a name in a question may mean: a file, a module or a symbol of the index. Each search asks; no edge is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from codefathom.search.question.query import is_path
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.text.file_stems import flat_stem
from codefathom.text.path_spelling import paths_named
from codefathom.types.choices import TYPE_KINDS


def is_known(name: str, catalog: SearchCatalog) -> bool:
    """Return True if a symbol is defined here under this very name, or one file has this path or ends with it."""
    if is_path(name):
        return len(paths_named(name, _with_stem(name.replace("\\", "/").rpartition("/")[2], catalog))) == 1
    return any(kind != "section" for kind in _kinds_of(name, catalog))


def is_type(name: str, catalog: SearchCatalog) -> bool:
    """Return True if a class or another type with members has this very name."""
    return any(kind in TYPE_KINDS for kind in _kinds_of(name, catalog))


def is_module(name: str, catalog: SearchCatalog) -> bool:
    """Return True if a file is the module of this name."""
    return bool(files_of_module(name, catalog))


def files_of_module(name: str, catalog: SearchCatalog) -> list[str]:
    """Return the files of the index that are the module of this name."""
    return modules(name, _with_stem(dotted_name(name).rpartition(".")[2], catalog))


def modules(name: str, paths: Iterable[str]) -> list[str]:
    """Return the files of a module named as in code: `a.b` is `src/a/b.py`, `a/b/__init__.py`, `a/b.kt`."""
    parts = dotted_name(name).split(".")
    if len(parts) < 2 or "/" in name:  # one word alone does not identify a file
        return []
    end = "/" + "/".join(parts)
    return [path for path in paths if f"/{path.rpartition('.')[0]}".removesuffix("/__init__").endswith(end)]


def dotted_name(name: str) -> str:
    """Return a qualified name of any language with dots between its parts."""
    return re.sub(r"::|#|->|\\", ".", name.removesuffix("()")).strip(".")


def _kinds_of(name: str, catalog: SearchCatalog) -> Iterator[str]:
    """Yield the kinds of the symbols with this very name."""
    dotted = dotted_name(name)
    last = dotted.rpartition(".")[2]
    return (item.symbol.kind for item in catalog.symbols_named(dotted) if item.symbol.name == last)


def _with_stem(name: str, catalog: SearchCatalog) -> Sequence[str]:
    return catalog.paths_by_stem().get(flat_stem(name), ())
