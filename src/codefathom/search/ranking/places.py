"""The path of a file as the ranking sees it: its words, its depth, and facts as the weights were learned with. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codefathom.facts.paths import (
    DATA,
    LEGACY,
    VERSION,
    is_declaration,
    is_header,
    is_interface_of_module,
    ranks_as_prose,
    ranks_as_test,
    stands_for_folder,
)
from codefathom.stores.lexical.terms import parts

_ABOUT_DATA = ("translation", "locale", "language", "snapshot")  # words that ask for what a folder of data holds


class PathFacts(NamedTuple):
    """Facts that a path tells."""

    stem: tuple[str, ...]  # words of the file's name without its endings; of its folder where it stands for that
    folder: tuple[str, ...]  # words of the name of its folder
    flat_stem: str  # letters and digits of the stem, lower-case
    depth: int
    is_test: bool  # tests and examples
    is_prose: bool
    is_declaration: bool
    is_interface: bool  # of a module of Terraform
    is_header: bool
    legacy: tuple[str, ...]  # words of the name of a folder of code that a living copy replaces
    version: int  # of the innermost folder such as "v2"; 0 outside of one
    unversioned: str  # the path without that folder
    data: tuple[str, ...]  # words of the folder of translations or recorded results that a file of data lies in

    @property
    def is_aside(self) -> bool:
        """True for tests, examples and code for older versions."""
        return self.is_test or bool(self.legacy)


@lru_cache(maxsize=16_384)
def place_of(path: str) -> PathFacts:
    """Return the facts that a path tells."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    inside = folder.rpartition("/")[2]
    if inside and stands_for_folder(name):
        stem = inside
    legacy = re.search(LEGACY, path)
    *_, version = None, *re.finditer(VERSION, path)
    data = re.search(DATA, path)
    return PathFacts(
        tuple(parts(stem)),
        tuple(parts(inside)),
        re.sub(r"[_-]", "", stem.lower()),
        path.count("/"),
        ranks_as_test(path),
        ranks_as_prose(path),
        is_declaration(path),
        is_interface_of_module(path),
        is_header(path),
        tuple(parts(legacy[1])) if legacy else (),
        int(version[1]) if version else 0,
        (path[: version.start()] + path[version.end() :]).lstrip("/") if version else path,
        _words_of_data(data[1] or data[2] or data[3], data[4]) if data else (),
    )


def _words_of_data(folder: str | None, ending: str) -> tuple[str, ...]:
    """Return the words that ask for data of this folder, or of this ending."""
    return (folder.strip("_").lower(), *_ABOUT_DATA) if folder else (ending.lower(),)
