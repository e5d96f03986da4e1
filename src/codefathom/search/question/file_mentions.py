"""The files that a text names, as paths, permanent links, file names, modules or bare words. Pure.

A text is read once for what it writes (`written_files`); the paths of the index decide what that means (`named_files`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codefathom.facts.languages import FILE_ENDINGS, MEMBER_ENDINGS
from codefathom.facts.paths import PROGRAM_FILES, stands_for_folder
from codefathom.search.question.frames import same_place
from codefathom.search.question.issue import Issue
from codefathom.text.file_stems import PathsByStem, flat_stem
from codefathom.text.path_spelling import canonical
from codefathom.text.written_place import place_of
from codefathom.types.symbols import Reference

MAX_WRITTEN = 300  # names that are looked up; a list of thousands of files names none of them
MAX_NAMED = 40  # files that a text can name
MAX_BARE = 12  # ... by words that are no file names
_MAX_COMPARED = 30_000  # paths that are compared with the names of one text
_MAX_MEANT = 10  # files that one written name may mean
_MAX_MEANT_BARE = 3
_SHORTEST_BARE = 4  # characters
_MAX_WORD = 1_000  # characters of a path; longer runs are data
_MOST_PARTS = 6  # of a qualified name
# The value of a name by the place where it stands: code shows what somebody ran, and only seldom where the fault is.
_IN_TITLE, _IN_PROSE, _IN_CODE = 1.0, 0.8, 0.3
_OF_MODULE = 0.8  # factor: `a.b` may be a value and its member
_OF_OWNER = 0.5  # factor: of `pricing.total` only the front names a file, in one word

_RUN = re.compile(r"[\w./\\@+~:$-]+")
_SEPARATOR = re.compile(r"::|[./\\]")
_MARKS = frozenset("./\\:")
_OWN = ("self.", "this.", "cls.")  # a member of the value at hand, and no module
_ROOTS = frozenset(("crate", "self", "super"))


class WrittenFile(NamedTuple):
    """A file or module as a text writes it."""

    parts: tuple[str, ...]  # of the path or the qualified name
    value: float  # by the place in the text
    is_module: bool = False


def written_files(issue: Issue) -> list[WrittenFile]:
    """Return the words that may name a file, each once, in the order of title, prose and code."""
    result: dict[tuple[str, ...], WrittenFile] = {}
    for text, value in ((issue.title, _IN_TITLE), (issue.prose, _IN_PROSE), (issue.code, _IN_CODE)):
        for parts, is_module in _written(text):
            if len(result) >= MAX_WRITTEN:
                return list(result.values())
            result.setdefault(parts, WrittenFile(parts, value, is_module))
    return list(result.values())


def is_file_name(word: str) -> bool:
    """Return True if a word with a dot is named like a file, and not like a member: `x.py`, but not `response.json`."""
    ending = word.rpartition(".")[2].lower()
    return "." in word and ending in FILE_ENDINGS and ending not in MEMBER_ENDINGS


def named_files(written: Sequence[WrittenFile], paths: PathsByStem) -> dict[str, float]:
    """Return the paths of an index that written names mean, each with its value: less where several may be meant."""
    result: dict[str, float] = {}
    n_compared = 0
    for one in written:
        meant = _modules(one, paths) if one.is_module else _files(one, paths)
        for path in meant.paths if len(meant.paths) <= _MAX_MEANT else ():
            result[path] = max(result.get(path, 0.0), one.value * meant.factor / len(meant.paths) ** 0.5)
        n_compared += meant.n_compared
        if n_compared > _MAX_COMPARED:
            break
    best = sorted(result.items(), key=lambda item: (-item[1], item[0]))
    return dict(best[:MAX_NAMED])


def imported_files(imports: Sequence[Reference], paths: PathsByStem) -> list[str]:
    """Return the files that the imports of a document name clearly."""
    names = " ".join(name for item in imports[:MAX_WRITTEN] for name in _imported(item))
    meant = named_files(written_files(Issue(names, "", "")), paths)
    return [path for path, value in meant.items() if value >= _OF_MODULE]


def _imported(item: Reference) -> Iterator[str]:
    """Yield the name of an import, and that of each name which it gives to its file: it may be a module, too."""
    name = item.name.strip("\"'`<> ")
    yield name
    yield from (f"{name}.{part.split()[0]}" for part in item.qualifier.split(",") if part.strip())


def bare_files(runs: frozenset[str], paths: PathsByStem) -> list[str]:
    """Return the paths whose stems are words of a question, where few files have that name, the longest names first."""
    stems = sorted((run for run in runs if len(run) >= _SHORTEST_BARE), key=lambda stem: (-len(stem), stem))
    rare = [meant for meant in (paths.get(stem, ()) for stem in stems) if len(meant) <= _MAX_MEANT_BARE]
    return list(dict.fromkeys(path for meant in rare for path in meant))[:MAX_BARE]


class _Meant(NamedTuple):
    paths: Sequence[str]
    factor: float
    n_compared: int


def _written(text: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the parts of each word that may name a file, and True for those of a module."""
    for match in _RUN.finditer(text):
        word = match.group()
        if word in PROGRAM_FILES:
            yield (word,), False
        if _MARKS.isdisjoint(word) or word.startswith(_OWN) or len(word) > _MAX_WORD:
            continue
        word = place_of(word.rstrip(".,:-\\/")).path.replace("\\", "/")
        is_call = text[match.end() : match.end() + 1] == "("
        ending = word.rpartition(".")[2].lower()
        if ending in FILE_ENDINGS and not is_call:
            yield tuple(part for part in word.split("/") if part not in ("", ".", "..")), False
        if ending not in FILE_ENDINGS or is_call or ending in MEMBER_ENDINGS:
            parts = tuple(part for part in _SEPARATOR.split(word) if part)[-_MOST_PARTS:]
            if len(parts) > 1 and all(map(str.isidentifier, parts[-2:])):
                yield parts, True


def _files(one: WrittenFile, paths: PathsByStem) -> _Meant:
    """Return the files of a written name that share most folders with it."""
    possible = paths.get(flat_stem(one.parts[-1]), ())
    written = canonical("/".join(one.parts))
    same = [(same_place(written, canonical(path)), path) for path in possible]
    most = max((n for n, _ in same), default=0)
    return _Meant([path for n, path in same if n == most] if most else (), 1.0, len(possible))


def _modules(one: WrittenFile, paths: PathsByStem) -> _Meant:
    """Return the files of the longest front of a qualified name that is a module; its first part is often no folder."""
    parts = one.parts[1:] if one.parts[0] in _ROOTS else one.parts
    n_compared = 0
    for end in range(len(parts), 0, -1):
        possible = paths.get(flat_stem(parts[end - 1]), ())
        n_compared += len(possible)
        for start in (0, 1) if end > 2 else (0,):
            module = "/" + "/".join(parts[start:end])
            meant = [path for path in possible if _is_module(path, module)]
            if end == 1 and (len(parts[0]) < _SHORTEST_BARE or len(meant) > _MAX_MEANT_BARE):
                meant = []
            if meant:
                return _Meant(meant, _OF_MODULE if end > 1 else _OF_OWNER, n_compared)
    return _Meant((), 0.0, n_compared)


def _is_module(path: str, module: str) -> bool:
    bare = f"/{path.rpartition('.')[0]}"
    return bare.endswith(module) or (stands_for_folder(path) and bare.rpartition("/")[0].endswith(module))
