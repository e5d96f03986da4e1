"""Sources of a fleet → the repositories that are there now: folders of clones, single folders, addresses, lists of all.

Nothing of a repository is run, and no link is followed to find one. What a folder is called is data of strangers: its
name is cleaned before it becomes the first part of paths.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import blake2b, sha1
from itertools import count
from typing import NamedTuple

from codefathom.clones.git_address import checked_url, is_address
from codefathom.config.configuration import is_bare_repository
from codefathom.errors import SourceError, UsageError
from codefathom.fleet.host_sources import host_source, is_host_source
from codefathom.fleet.manifest import ListedFile
from codefathom.project.repository_sight import BRANCH_MARK
from codefathom.source.changes import FileStat
from codefathom.source.origin import FolderFiles
from codefathom.source.revisions.git_program import output_of_git
from codefathom.source.revisions.git_tree import GitTree
from codefathom.source.revisions.revision import is_commit, revision
from codefathom.source.scan import FileTree, ScanRules
from codefathom.stores.folder import Folder
from codefathom.types import Failure

_NOT_IN_A_NAME = re.compile(r"[^\w.-]+", re.ASCII)
_MOST_NAME = 100  # characters
_DEEPEST = 3  # folders below a source in which clones are looked for: group/owner/name
_MOST_LIST_BYTES = 10_000_000
_PIECE = 1 << 20
MOST_BRANCHES = 20  # of a repository, beside the default one
_MOST_BRANCH = 200  # characters
_MOST_REFS = 10_000  # that are looked at
_HEADS, _FETCHED = "refs/heads/", "refs/remotes/origin/"


class RepositoryPlace(NamedTuple):
    """A folder with a repository."""

    path: str  # a real path
    source: str
    name: str = ""  # of a clone: that of its repository elsewhere, such as group/name; "": that of the folder
    problem: str = ""  # why a clone could not be brought up to date
    remedy: str = ""
    active_s: int = 0  # when its host says that it was last active; 0: it says nothing


class UnreadSource(NamedTuple):
    """A source that cannot be read; what came from it before stays."""

    source: str
    problem: str
    remedy: str = "put it back, or take it out with `fathom fleet remove NAME SOURCE`"


class RemotePlaces(NamedTuple):
    """The repositories of sources on other machines, as clones on this one."""

    by_source: Mapping[str, Sequence[RepositoryPlace | UnreadSource]]
    notes: tuple[str, ...] = ()  # what is left out
    failures: tuple[Failure, ...] = ()  # of hosts that do not say who may read what, by source


def checked_source(source: str, schemes: Sequence[str]) -> str:
    """Return a source as the manifest keeps it: an address, or an absolute path. Raises UsageError."""
    if is_host_source(source):
        return host_source(source, schemes).source
    if is_elsewhere(source):
        return checked_url(source, schemes)
    path = os.path.abspath(source)
    if not source or not (os.path.isdir(path) or os.path.isfile(path)):
        raise UsageError(
            f"{source[:200]!r} is not there",
            hint="give a folder of clones, a folder, an address of git, or a file that names one of these on each line",
        )
    return path


def is_elsewhere(source: str) -> bool:
    """Return True for a source on another machine."""
    return is_host_source(source) or (is_address(source) and not os.path.lexists(source))


def sources_elsewhere(sources: Sequence[str]) -> list[str]:
    """Return the sources on other machines, also those that lists name, each once."""
    words: dict[str, None] = {}
    for source in sources:
        with suppress(OSError, UsageError):  # a list that cannot be read is told by `places_of`
            words |= dict.fromkeys(filter(is_elsewhere, _lines(source) if os.path.isfile(source) else [source]))
    return list(words)


def places_of(
    sources: Sequence[str], elsewhere: Mapping[str, Sequence[RepositoryPlace | UnreadSource]]
) -> Iterator[RepositoryPlace | UnreadSource]:
    """Yield the folders of the repositories of sources, each once, and the sources that cannot be read.

    `elsewhere` has the clones for each of `sources_elsewhere`.
    """
    seen: set[str] = set()
    for source in sources:
        try:
            for place in _places_of(source, elsewhere):
                if isinstance(place, UnreadSource):
                    yield place._replace(source=source)
                elif place.path not in seen:
                    seen.add(place.path)
                    yield place._replace(source=source)
        except (OSError, UsageError) as error:
            yield UnreadSource(source, str(getattr(error, "strerror", None) or error))


def _places_of(
    source: str, elsewhere: Mapping[str, Sequence[RepositoryPlace | UnreadSource]]
) -> Iterator[RepositoryPlace | UnreadSource]:
    if source in elsewhere:
        yield from elsewhere[source]
    elif os.path.isfile(source):
        for line in _lines(source):
            if line in elsewhere:
                yield from elsewhere[line]
            else:
                path = checked_source(os.path.join(os.path.dirname(source), line), ())
                yield from (RepositoryPlace(folder, source) for folder in _folders_of(path))
    else:
        yield from (RepositoryPlace(folder, source) for folder in _folders_of(source))


def _folders_of(source: str) -> Iterator[str]:
    top = os.path.realpath(source)
    if is_repository(top):
        yield top
        return
    clones = list(_clones_below(top, _DEEPEST))
    yield from clones or [top]


def _lines(path: str) -> list[str]:
    """Return what a list names: a folder on each line, but for empty ones and those that begin with #."""
    content = Folder(os.path.dirname(path)).file(os.path.basename(path)).read(_MOST_LIST_BYTES)
    lines = (line.strip() for line in content.decode("utf-8", "surrogateescape").splitlines())
    listed = [line for line in lines if line and not line.startswith("#")]
    if any(os.path.isfile(os.path.join(os.path.dirname(path), line)) for line in listed):
        raise UsageError(f"{path!r} names a file", hint="name folders in it; a list cannot name another list")
    return listed


def is_repository(folder: str) -> bool:
    """Return True for a clone of git, with or without a work tree."""
    return os.path.lexists(os.path.join(folder, ".git")) or is_bare_repository(folder)


def _clones_below(folder: str, depth: int) -> Iterator[str]:
    with os.scandir(folder) as listing:
        names = sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))
    for name in names:
        path = os.path.join(folder, name)
        if is_repository(path):
            yield path
        elif depth > 1 and not name.startswith("."):
            yield from _clones_below(path, depth - 1)


def branches_of(place: str, patterns: Sequence[str]) -> dict[str, str]:
    """Return what git calls the branches of a clone whose names fit one of the patterns, by name. Raises SourceError.

    The branches of the clone itself go before those that it has fetched.
    """
    if not patterns or not is_repository(place):
        return {}
    words = ("for-each-ref", "--format=%(refname)", f"--count={_MOST_REFS}", _FETCHED, _HEADS)
    refs = sorted(output_of_git(place, *words).splitlines(), reverse=True)  # so that its own come last
    named = {name: ref for ref in refs if is_branch_read(name := _branch_of(ref), patterns)}
    return dict(sorted(named.items()))


def is_branch_read(name: str, patterns: Sequence[str]) -> bool:
    """Return True for the name of a branch that fits one of the patterns."""
    is_name = name not in ("", "HEAD") and name.isprintable() and len(name) <= _MOST_BRANCH
    return is_name and any(fnmatchcase(name, pattern) for pattern in patterns)


def _branch_of(ref: str) -> str:
    """Return the name of a branch, "" for what git calls by another kind of name."""
    return next((ref.removeprefix(kind) for kind in (_HEADS, _FETCHED) if ref.startswith(kind)), "")


def branch_name(repository: str, branch: str, taken: set[str]) -> str:
    """Return the name of a branch of a repository in paths, such as shop@release-2, that no other one has."""
    clean = f"{repository}{BRANCH_MARK}{_cleaned(branch) or 'branch'}"
    return next(name for number in count(1) if (name := clean + (f"-{number}" if number > 1 else "")) not in taken)


def name_of(place: str, taken: set[str]) -> str:
    """Return a name for a repository that no other one has: that of its folder, else with the folder above it."""
    clean, longer = _names_for(place)
    for name in (clean, longer):
        if name not in taken:
            return name
    return next(name for number in count(2) if (name := f"{longer}-{number}") not in taken)


def is_name_for(name: str, place: str) -> bool:
    """Return True for a name that `name_of` may have given."""
    clean, longer = _names_for(place)
    return name in (clean, longer) or re.fullmatch(rf"{re.escape(longer)}-\d+", name) is not None


def _names_for(place: str) -> tuple[str, str]:
    above, own = os.path.split(place.removesuffix("/.git"))
    clean = _cleaned(own.removesuffix(".git")) or "repository"
    return clean, f"{_cleaned(os.path.basename(above))}-{clean}".strip("-")


def _cleaned(name: str) -> str:
    return _NOT_IN_A_NAME.sub("-", name).strip(".-")[:_MOST_NAME]


class RepositoryVersion(NamedTuple):
    """The files of a repository, or of one of its branches, as they are now."""

    state: str  # equal for two listings of the same files by the same rules
    tree: FileTree
    branch: str = ""  # "": none is checked out


def version_of(place: str, rules: ScanRules, ref: str = "HEAD") -> RepositoryVersion:
    """Return the files of a repository: of a clone those of HEAD, or of a name of `branches_of`. Raises SourceError."""
    if is_repository(place):
        head = _head_of(place, ref)
        state = state_of(head.commit, rules)
        return RepositoryVersion(state, GitTree(place, head.commit, ""), _branch_of(head.target))
    if not os.path.isdir(place):
        raise SourceError(f"the folder {place!r} is gone", hint="put it back, or take its source out of the fleet")
    files = FolderFiles(place)
    digest = blake2b(repr(files.scan(rules).files).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return RepositoryVersion(state_of(digest, rules), files)


def state_of(name: str, rules: ScanRules) -> str:
    """Return the state of a commit, or of files with a digest, as `version_of` gives it."""
    by_rules = blake2b(repr(rules).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{name} {by_rules}"


class _Head(NamedTuple):
    commit: str
    target: str  # full name of a branch; else no such name


def _head_of(place: str, ref: str) -> _Head:
    """Return the commit of a name by one process of git: a run asks for that of each of thousands of clones."""
    with suppress(SourceError):
        commit, target, *_ = output_of_git(place, "rev-parse", f"{ref}^{{commit}}", "--symbolic-full-name", ref).split()
        if is_commit(commit):
            return _Head(commit, target)
    named = revision(place, ref)  # says what is wrong
    return _Head(named.tree().commit, named.target)


def newest_commit_s(tree: FileTree) -> int:
    """Return when the commit of a tree was made, in seconds; 0 for other files, and for a time before 1970."""
    if not isinstance(tree, GitTree):
        return 0
    words = ("rev-list", "--max-count=1", "--no-commit-header", "--format=%ct", "--end-of-options", tree.commit)
    seconds = output_of_git(tree.folder, *words).strip()
    return int(seconds) if seconds.isdecimal() else 0


def tree_of(place: str, state: str) -> FileTree:
    """Return the files of a repository in a state that `version_of` has given; of a folder those of now."""
    name = state.split(" ", maxsplit=1)[0]
    return GitTree(place, name, "") if is_commit(name) else FolderFiles(place)


def listed_files(tree: FileTree, rules: ScanRules, before: dict[str, ListedFile]) -> list[ListedFile]:
    """Return the files that count, with hashes of their contents; those that are as before are not read."""
    files = tree.scan(rules).files
    if isinstance(tree, GitTree):
        return [ListedFile(file, bytes.fromhex(tree.content_id(file.path))) for file in files]
    listed = []
    for file in files:
        last = before.get(file.path)
        content = last.content if last is not None and last.file == file else _content_of(tree, file)
        if content:
            listed.append(ListedFile(file, content))
    return listed


def _content_of(tree: FileTree, file: FileStat) -> bytes:
    """Return the hash that git gives the bytes of a file; nothing for one that cannot be read."""
    try:
        stream = tree.open(file.path)
        if stream is None:
            return b""
        digest = sha1(b"blob %d\0" % file.size, usedforsecurity=False)
        with stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
    except OSError:
        return b""
    return digest.digest()
