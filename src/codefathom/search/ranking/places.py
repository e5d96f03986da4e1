"""Facts that the path of a file tells: its words, its depth, and if it is a test or prose. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codefathom.source.languages import CODE, language_of
from codefathom.stores.lexical.terms import parts

_TEST = re.compile(
    r"^t/|(?:^|/)(?:tests?|__tests__|specs?|testing|testdata|fixtures?|examples?|samples?|demos?|benchmarks?|docs?_src)/"
    r"|(?:^|/)test_[^/]*$|[_.-](?:test|tests|spec)\.[^/]*$|(?:^|/)[^/]*(?:Test|Tests|Spec|Suite)\.[a-z]+$"
)
# Code for older versions, and one file made of all the others.
_LEGACY = re.compile(r"(?:^|/)(_?compat|legacy|deprecated|obsolete|old|attic|single_include|amalgamated)/")
_VERSION = re.compile(r"(?:^|/)v(\d{1,3})(?=/)")
# Files with tests in them, by the customs of many languages; no examples, data or code that tests share.
_TEST_FILE = re.compile(
    r"(?:^|/)test_[^/]*\.[a-z]+$|[_.-](?:test|spec|tests(?!\.py))\.[^./]+$|(?:^|/)tests?\.py$"
    r"|(?:^|/)[^/]*[a-z0-9](?:Test|Tests|Spec|Suite|TestCase)\.[a-z]+$"
    r"|(?:^|/)(?:__tests__|tests?|specs?|t)/(?:.*/)?(?!(?:mod|index|helpers?|utils?|setup)\.)[^/]+(?<!\.py)$"
)
_TESTED = CODE - {"sql"}
_DATA_FOLDER = re.compile(r"(?:^|/)(?:fixtures?|testdata|data|snapshots|__snapshots__|__fixtures__|support|samples?)/")
_DECLARATION = re.compile(r"\.d\.[cm]?ts$|\.pyi$")
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx)$")
# Translations lie in such a folder, and others by their ending.
_ABOUT_DATA = ("translation", "locale", "language", "snapshot")  # words that ask for what such a folder holds
_DATA = re.compile(
    r"(?:^|/)(locales?|i18n|l10n|translations?|langs?|languages|golden|snapshots|__snapshots__|cassettes)/"
    r"(?:.*/)?[^/]*\.(?:json|ya?ml|toml|properties|php|js|ts|xml|strings|ini|snap|txt|csv)$"
    r"|\.(csv|tsv|pot?|xliff|xlf|resx|snap|geojson|ndjson|jsonl|svg)$",
    re.IGNORECASE,
)
# A file of this name stands for its folder.
_BARRELS = frozenset(("mod", "__init__", "index", "init"))
_PROSE = re.compile(
    r"\.(?:md|mdx|rst|txt|adoc|markdown|pdf|docx)$"
    r"|(?:^|/)(?:changes|change_?log|doxyfile|history|news|authors|contributors|release[_-]?notes)$"
    r"|(?:^|/)(?:(?:api|java|ya?r?)?docs?|apidocs?|documentation)/(?:.*/)?[^/]*\.html?$"
    r"|(?:^|/)(?:changelog\.d|changelogs|\.changes(?:et)?|newsfragments)/",
    re.IGNORECASE,
)


class PathFacts(NamedTuple):
    """Facts that a path tells."""

    stem: tuple[str, ...]  # words of the file's name without its endings; of its folder where it stands for that
    folder: tuple[str, ...]  # words of the name of its folder
    flat_stem: str  # letters and digits of the stem, lower-case
    depth: int
    is_test: bool  # tests and examples
    is_prose: bool
    is_declaration: bool
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
    if stem in _BARRELS and inside:
        stem = inside
    legacy = _LEGACY.search(path)
    *_, version = None, *_VERSION.finditer(path)
    data = _DATA.search(path)
    return PathFacts(
        tuple(parts(stem)),
        tuple(parts(inside)),
        re.sub(r"[_-]", "", stem.lower()),
        path.count("/"),
        bool(_TEST.search(path)),
        bool(_PROSE.search(path)),
        bool(_DECLARATION.search(path)),
        bool(_HEADER.search(path)),
        tuple(parts(legacy[1])) if legacy else (),
        int(version[1]) if version else 0,
        (path[: version.start()] + path[version.end() :]).lstrip("/") if version else path,
        _words_of_data(data[1], data[2]) if data else (),
    )


def _words_of_data(folder: str | None, ending: str) -> tuple[str, ...]:
    """Return the words that ask for data of this folder, or of this ending."""
    return (folder.strip("_").lower(), *_ABOUT_DATA) if folder else (ending.lower(),)


@lru_cache(maxsize=16_384)
def is_test_file(path: str) -> bool:
    """Return True if a path is that of a file of code with tests in it."""
    return bool(_TEST_FILE.search(path)) and not _DATA_FOLDER.search(path) and language_of(path) in _TESTED
