"""The files of one commit: listed with `git ls-tree`, read with `git cat-file --batch`. Nothing is checked out.

A partial clone lacks objects. git would fetch each when it is asked for it, and older versions have no switch for that;
so the missing ones are found with `git rev-list --missing=print`, which fetches nothing, and are never asked for.
"""

from __future__ import annotations

import atexit
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from codefathom.errors import SourceError
from codefathom.facts.reasons import SUBMODULE, UNSAFE_PATH, Note
from codefathom.source import ignore
from codefathom.source.changes import FileStat, Scan
from codefathom.source.ignore import Layer, Layers
from codefathom.source.origin import is_inside
from codefathom.source.revisions.git_program import answer, end_git, start_git
from codefathom.source.scan import AbsentError, ScanRules, Walk, patterns_in, user_layer, with_rules
from codefathom.source.size_limits import MAX_IGNORE_FILE_BYTES
from codefathom.types import Skipped

if TYPE_CHECKING:
    import subprocess

_SUBMODULE = 0o160000
_STAMP_DIGITS = 15  # of a hash: 60 bits, which as a time stamp is always a past one
# Trees can name each other so that a small repository lists more files than a disk can hold.
_MOST_LISTED_BYTES = 500_000_000
_MOST_LISTED_S = 120.0
_COPIES_SHARE, _MOST_COPIES = 10, 20  # so many copies of each content may be in a tenth of the number of files
_PIECE = 1 << 20
_PROMISES = r"^(extensions\.partialclone|remote\..*\.promisor|remote\..*\.partialclonefilter)$"


class Blob(NamedTuple):
    """A file of a commit."""

    mode: int
    id: str
    size: int  # bytes; 0 for an absent one
    is_absent: bool = False  # a partial clone has not fetched it

    @property
    def stamp(self) -> int:
        """A number made of the content, in the place of a time stamp."""
        return int(self.id[:_STAMP_DIGITS], 16)


@dataclass(frozen=True, slots=True)
class GitTree:
    """The files of a commit that lie below a folder. A process that gets it reads the same files."""

    folder: str  # in the repository
    commit: str
    prefix: str  # folder in the commit: "" or ends with "/"

    def scan(self, rules: ScanRules) -> Scan:
        """List the files that count by the same rules as in a folder. Links and submodules are not followed."""
        check_n_files(self.folder, self.commit, rules.most_revision_files)
        if (self.folder, self.commit) in _incomplete:  # what was absent may have come since
            _incomplete.clear()
            _listing.cache_clear()
        listing = _listing(self.folder, self.commit)
        walk = _CommitWalk(self, listing, rules)
        walk.run()
        walk.skipped += [Skipped(path, Note(UNSAFE_PATH)) for path in listing.unsafe]
        return walk.outcome()

    def open(self, path: str) -> BinaryIO | None:
        """Open a file; None for what is no regular file. Raises OSError for one that is not in the object store."""
        blob = self._blob(path)
        if blob is not None and blob.is_absent:
            raise AbsentError(path)
        return None if blob is None else BytesIO(_objects(self.folder).content(blob))

    def stat(self, path: str) -> FileStat | None:
        """Return size and stamp of a file; None for what is no regular file."""
        blob = self._blob(path)
        return None if blob is None else FileStat(path, blob.size, blob.stamp)

    def content_id(self, path: str) -> str:
        """Return the hash that git gives the content of a file, "" for what is no regular file."""
        blob = self._blob(path)
        return "" if blob is None else blob.id

    def _blob(self, path: str) -> Blob | None:
        blob = _listing(self.folder, self.commit).blobs.get(self.prefix + path)
        return blob if blob is not None and stat.S_ISREG(blob.mode) else None


class _Listing(NamedTuple):
    blobs: dict[str, Blob]  # by path
    folders: dict[str, dict[str, Blob | None]]  # path, "" or with "/" at its end: names, None for a folder
    unsafe: list[str]  # paths


_incomplete: set[tuple[str, str]] = set()  # folders and commits whose kept listing has absent files


@lru_cache(maxsize=16)
def check_n_files(folder: str, commit: str, most: int, *, with_folders: bool = False) -> None:
    """Raise SourceError for a commit of more files. Names alone are listed for that, which is soon done."""
    contents: set[bytes] = set()
    for n_files, line in enumerate(_lines(folder, commit, *(["-t"] if with_folders else [])), 1):
        contents.add(line.partition(b"\t")[0])
        n_copies = n_files // len(contents)
        if n_files > most or (n_files > most / _COPIES_SHARE and n_copies > _MOST_COPIES):
            copies = f", with only {len(contents):,} different contents" if n_copies > _MOST_COPIES else ""
            raise SourceError(
                f"the commit {commit} lists more than {n_files - 1:,} files{copies}",
                hint=f"raise source.revision_files, which is {most:,}, or index a checkout of a part of it",
            )


@lru_cache(maxsize=4)
def _listing(folder: str, commit: str) -> _Listing:
    listing = _Listing({}, {"": {}}, [])
    absent = _absent(folder, commit) if is_partial(folder) else frozenset()
    if absent:
        _incomplete.add((folder, commit))
    listed = _sized(folder, commit, absent) if absent else _lines(folder, commit, "-l")
    for line in listed:
        head, _, name = line.partition(b"\t")
        mode, _, blob_id, size = head.split()
        path = name.decode("utf-8", "surrogateescape")
        if not is_inside(path) or not ignore.NEVER.isdisjoint(path.lower().split("/")):
            listing.unsafe.append(path.encode("utf-8", "backslashreplace").decode())
            continue
        blob = Blob(int(mode, 8), blob_id.decode(), int(size) if size.isdigit() else 0, blob_id in absent)
        listing.blobs[path] = blob
        _put(listing.folders, path, blob)
    return listing


def _put(folders: dict[str, dict[str, Blob | None]], path: str, blob: Blob | None) -> None:
    """Put a file into its folder, and that into the one above it."""
    entry = blob
    while True:
        parent, _, name = path.rpartition("/")
        key = f"{parent}/" if parent else ""
        is_new = key not in folders
        folders.setdefault(key, {}).setdefault(name, entry)
        if not is_new or not parent:
            return
        path, entry = parent, None


def is_partial(folder: str) -> bool:
    """Return True for a repository that may fetch objects when they are asked for."""
    with start_git(folder, "config", "--get-regexp", _PROMISES) as process, answer(process, folder):
        output, _ = process.communicate()
    return bool(output)


def _absent(folder: str, commit: str) -> frozenset[bytes]:
    """Return the objects of a commit that are not here. Raises SourceError."""
    words = ("rev-list", "--objects", "--no-object-names", "--missing=print", f"{commit}^{{tree}}")
    with start_git(folder, *words) as process, answer(process, folder):
        assert process.stdout is not None  # a pipe
        absent = frozenset(line[1:].strip() for line in process.stdout if line.startswith(b"?"))
    if process.returncode:
        raise _cannot_list(commit)
    return absent


def _sized(folder: str, commit: str, absent: frozenset[bytes]) -> Iterator[bytes]:
    """Yield the lines that `ls-tree -l` would give, without asking for the size of an absent object."""
    lines = list(_lines(folder, commit))
    heads = (line.partition(b"\t")[0].split() for line in lines)
    here = list(dict.fromkeys(blob_id for _, kind, blob_id in heads if kind == b"blob" and blob_id not in absent))
    with start_git(folder, "cat-file", "--batch-check=%(objectsize)") as process, answer(process, folder):
        output, _ = process.communicate(b"".join(b"%b\n" % blob_id for blob_id in here))
    sizes = dict(zip(here, output.splitlines(), strict=False))
    for line in lines:
        head, _, name = line.partition(b"\t")
        yield b"%b %b\t%b" % (head, sizes.get(head.split()[2], b"-"), name)


def _cannot_list(commit: str) -> SourceError:
    return SourceError(
        f"git cannot list the files of the commit {commit}: some of its objects are not in the repository",
        hint="in a partial or shallow clone, fetch them first, as with `git fetch --unshallow` or "
        "`git fetch --refetch --no-filter`",
    )


def _lines(folder: str, commit: str, *options: str) -> Iterator[bytes]:
    """Yield the lines of git for the files of a commit. Raises SourceError when it cannot list all."""
    with start_git(folder, "ls-tree", "-r", *options, "-z", "--full-tree", commit) as process:
        rest, n_bytes, until = b"", 0, time.monotonic() + _MOST_LISTED_S
        while piece := _piece(process, folder):
            n_bytes += len(piece)
            if n_bytes > _MOST_LISTED_BYTES or time.monotonic() > until:
                process.kill()
                limit = f"{_MOST_LISTED_BYTES:,} bytes of names" if n_bytes > _MOST_LISTED_BYTES else "120 s"
                raise SourceError(
                    f"the files of the commit {commit} are not all listed after {limit}",
                    hint="index a checkout of a part of it, or lower source.revision_files",
                )
            *lines, rest = (rest + piece).split(b"\0")
            yield from lines
    if process.returncode:
        raise _cannot_list(commit)


def _piece(process: subprocess.Popen[bytes], folder: str) -> bytes:
    assert process.stdout is not None  # a pipe
    with answer(process, folder):
        return process.stdout.read(_PIECE)


class _CommitWalk(Walk):
    """A walk over the files of a commit."""

    def __init__(self, tree: GitTree, listing: _Listing, rules: ScanRules) -> None:
        self._tree = tree
        self._listing = listing
        super().__init__("", rules._replace(follow_symlinks=False))

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return the entries of a folder of the commit."""
        names = self._listing.folders.get(self._tree.prefix + folder, {})
        return [_Entry(name, blob) for name, blob in names.items()]  # type: ignore[misc]  # which cannot be made

    def text(self, path: str) -> str:
        """Return the text of an ignore file of the commit."""
        return self._text(self._tree.prefix + path)

    def outer_layers(self, rules: ScanRules) -> Layers:
        """Return the rules of the user, and of the ignore files above the folder."""
        return with_rules(rules, self._layers(rules.user_exclude))

    def unfit(self, path: str, status: os.stat_result) -> str:
        """Return SUBMODULE for the commit of another repository, else the same as for a file on the disk."""
        return SUBMODULE if status.st_mode == _SUBMODULE else super().unfit(path, status)

    def _layers(self, user_exclude: str) -> Iterator[Layer]:
        parts = self._tree.prefix.split("/")[:-1]
        yield from user_layer(user_exclude, self._tree.prefix)
        for depth in range(len(parts)):
            above, below = (f"{part}/" for part in parts[:depth]), (f"{part}/" for part in parts[depth:])
            if patterns := patterns_in(self._text("".join(above) + ".gitignore")):
                yield Layer(ignore.GITIGNORE, patterns, above="".join(below))

    def _text(self, path: str) -> str:
        blob = self._listing.blobs.get(path)
        if blob is None or not stat.S_ISREG(blob.mode):
            return ""
        with suppress(OSError):
            content = _objects(self._tree.folder).content(blob)
            return content[:MAX_IGNORE_FILE_BYTES].decode("utf-8", "surrogateescape")
        return ""


class _Entry(NamedTuple):
    """An entry of a folder, as a walk asks for it."""

    name: str
    blob: Blob | None

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self.blob is None

    def is_symlink(self) -> bool:
        return self.blob is not None and stat.S_ISLNK(self.blob.mode)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        assert self.blob is not None  # a walk enters folders
        numbers = (self.blob.mode, 0, 0, 1, 0, 0, self.blob.size, 0, 0, 0)
        return os.stat_result(numbers, {"st_mtime_ns": self.blob.stamp})


class _Objects:
    """The objects of a repository, read by one process for as long as they are needed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._problem: SourceError | None = None  # the next object may make git wait as long as one before it

    def content(self, blob: Blob) -> bytes:
        """Return the bytes of an object. Raises OSError for one that is not there, SourceError when git hangs."""
        with self._lock:
            if self._problem is not None:
                raise self._problem
            try:
                return self._read(blob)
            except SourceError as error:
                self._problem = error
                self._end()
                raise
            except (OSError, ValueError) as error:
                self._end()
                raise OSError(f"the object {blob.id} cannot be read") from error

    def close(self) -> None:
        """End the process; a later read starts another one."""
        with self._lock:
            self._end()

    def _read(self, blob: Blob) -> bytes:
        if self._process is None:
            self._process = start_git(self._folder, "cat-file", "--batch")
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None  # pipes
        with answer(self._process, self._folder):
            requests.write(f"{blob.id}\n".encode())
            requests.flush()
            head = answers.readline().split()
            if len(head) != 3 or head[1] != b"blob" or int(head[2]) != blob.size:
                raise ValueError(head)
            content = answers.read(blob.size + 1)[:-1]
        if len(content) != blob.size:
            raise ValueError(head)
        return content

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_git(process)


class _OpenRepositories:
    """The repositories that were read last: a fleet has thousands, and each open one is a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_folder: dict[str, _Objects] = {}  # the one used last at the end
        atexit.register(self.close)

    def objects(self, folder: str) -> _Objects:
        """Return the objects of a repository; those that were not used for longest are closed."""
        with self._lock:
            objects = self._by_folder.pop(folder, None) or _Objects(folder)
            self._by_folder[folder] = objects
            oldest = list(self._by_folder)[:-_MOST_OPEN]
            closed = [self._by_folder.pop(name) for name in oldest]
        for other in closed:
            other.close()
        return objects

    def close(self) -> None:
        """End all processes."""
        for objects in list(self._by_folder.values()):
            objects.close()


_MOST_OPEN = 16
_objects = _OpenRepositories().objects
