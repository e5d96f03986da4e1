"""Files in a folder that strangers may have filled: a repository can bring a `.fathom` with anything in it.

Whatever is opened, made, replaced, listed or removed in such a folder goes through `Folder` and `File`:

- No link is followed below `Folder.base`. Each step down is an `openat` with O_NOFOLLOW from the folder before it, so
  that a folder that is exchanged for a link at this moment is refused too: there is no time between look and use.
- A file that is read or locked is a regular file; a pipe or a device is never opened, so that nothing waits for it.
- Nothing is written in place that has another name elsewhere (a hard link): a new file takes its name.
- Removing takes away the name: a link, never what it leads to; a folder with all that lies in it.

`Folder.index_parts` lead to the index folder itself: when one of them is no folder, the user gets an error.
`Folder.own` are folders that only we make: anything else in their place is removed when they are made.

One risk remains: on Windows, where there is no `openat`, each part of a path is checked before its use, and somebody
who may write into the folder at this moment can win a race. SQLite and tantivy open by path everywhere; see
`sqlite.py` and `lexical/lexical_view.py` for what they check.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from codefathom.errors import IndexingError, SourceError
from codefathom.system.real_paths import HAS_OPENAT, NOT_THROUGH_LINKS, TO_ENTER, TO_LIST

_HAS_OPENAT = HAS_OPENAT and {os.unlink, os.mkdir, os.rmdir, os.rename} <= os.supports_dir_fd
# Without waiting for the other end of a pipe that took the file's place.
_PLAIN = NOT_THROUGH_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW = ".new"  # a file that is being written, until it takes its name
_SET_ASIDE = ".broken"  # ending of a bad file that was set aside, so that a person can examine it
_REPARSE_POINT = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT: links and junctions of Windows


class RefusedError(IndexingError):
    """The index folder itself, or a folder above it in the project, is a link or no folder at all."""


class UnsafeError(OSError):
    """A link, pipe, device or folder has the place of a file; `strerror` says so."""


class Folder(NamedTuple):
    """A folder by its path. Nothing is opened or kept open: each call begins at `base` again."""

    base: str  # chosen by the user or the operator; links in it are followed
    index_parts: tuple[str, ...] = ()  # below it; a link is an error
    own: tuple[str, ...] = ()  # below that; a link is removed when the folder is made
    project: str = ""  # a folder that somebody else has made: neither it nor one above it is made, only below it

    @property
    def path(self) -> str:
        """The whole path, for messages and for libraries that open by path."""
        return os.path.join(self.base, *self.index_parts, *self.own)

    def below(self, name: str) -> Folder:
        """Return a folder in this one that only fathom makes."""
        return self._replace(own=(*self.own, _checked(name)))

    def file(self, name: str) -> File:
        """Return a file in this folder."""
        return File(self, _checked(name))

    def make(self, *, private: bool = False) -> None:
        """Make the folder and those above it, where missing. Raises RefusedError, OSError.

        Raises SourceError where the folder of the project is gone. With `private`, nobody else may enter a made base.
        """
        if self.base == self.project:
            self.refuse_gone()
        else:
            os.makedirs(self.base, mode=0o700 if private else 0o777, exist_ok=True)
        for folder, name in self._steps():
            with _entered(folder) as inside:
                kind = inside.kind(name)
                if kind and kind != "folder":
                    if not folder.own and len(folder.index_parts) < len(self.index_parts):
                        raise _refused(os.path.join(folder.path, name), kind)
                    inside.clear(name)
                if kind != "folder":
                    if os.path.join(self.project, "").startswith(os.path.join(folder.path, name, "")):
                        self.refuse_gone()
                    inside.make_folder(name)

    def refuse_gone(self) -> None:
        """Raise SourceError where the folder of the project is not there."""
        if self.project and not os.path.isdir(self.project):
            raise SourceError(f"the folder {self.project!r} is gone", hint="start again when it is back")

    def exists(self) -> bool:
        """Return True if there is a folder, reached without a link. Raises RefusedError."""
        try:
            with _entered(self):
                return True
        except OSError:
            return False

    def names(self) -> list[str]:
        """Return the names of all entries, in no order; none where there is no such folder. Raises RefusedError."""
        try:
            with _entered(self) as inside:
                return [entry.name for entry in inside.entries()]
        except OSError:
            return []

    def remove(self, name: str) -> None:
        """Remove an entry: a folder with all that lies in it, of a link the link. Nothing there is no error.

        Raises RefusedError, OSError.
        """
        with suppress(FileNotFoundError), _entered(self) as inside:
            inside.clear(_checked(name))

    def rename(self, old: str, new: str) -> None:
        """Give an entry another name; a file of that name is replaced. Raises RefusedError, OSError."""
        with _entered(self) as inside:
            inside.rename(_checked(old), _checked(new))

    def nameless(self) -> BinaryIO:
        """Make a file without a name, to write and read, which is gone when it is closed.

        Raises RefusedError, OSError; UnsafeError on Windows, which cannot take the name from an open file.
        """
        if not _HAS_OPENAT:
            raise UnsafeError(errno.ENOTSUP, "an open file keeps its name here", self.path)
        with _entered(self) as inside:
            inside.clear(_NEW)
            descriptor = inside.make_file(_NEW, 0o600)
            inside.clear(_NEW)
            return os.fdopen(descriptor, "r+b", buffering=0)

    def has_only_files(self) -> bool:
        """Return True if all entries are regular files, so that a library that opens by path stays in this folder."""
        try:
            with _entered(self) as inside:
                return all(entry.is_file(follow_symlinks=False) for entry in inside.entries())
        except OSError:
            return False

    def n_bytes(self) -> int:
        """Return the size of all files in it and below, however deep, without following a link."""
        total, waiting = 0, [self.path] if self.exists() else []
        while waiting:
            with suppress(OSError), os.scandir(waiting.pop()) as entries:  # by path: sizes harm nobody
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        with suppress(OSError):  # a file of a view that was replaced in this moment
                            total += entry.stat(follow_symlinks=False).st_size
        return total

    def _steps(self) -> Iterator[tuple[Folder, str]]:
        """Yield each part below the base with the folder that it lies in."""
        folder = Folder(self.base)
        for name in self.index_parts:
            yield folder, name
            folder = folder._replace(index_parts=(*folder.index_parts, name))
        for name in self.own:
            yield folder, name
            folder = folder.below(name)


class File(NamedTuple):
    """A place for a file, by folder and name. Any entry may be there, or none."""

    folder: Folder
    name: str

    @property
    def path(self) -> str:
        """The whole path, for messages and for libraries that open by path."""
        return os.path.join(self.folder.path, self.name)

    def with_ending(self, ending: str) -> File:
        """Return the file beside this one whose name has this ending."""
        return self.folder.file(self.name + ending)

    def status(self) -> os.stat_result | None:
        """Return the status of the entry, of a link not its target; None without entry. Raises RefusedError."""
        try:
            with _entered(self.folder) as inside:
                return inside.status(self.name)
        except OSError:
            return None

    def kind(self) -> str:
        """Return the kind of the entry: "file", "folder", "link", "pipe", …; "" when there is none."""
        status = self.status()
        return "" if status is None else kind_of(status)

    def is_whole(self) -> bool:
        """Return True if it is a regular file without another name, which may be written in place."""
        status = self.status()
        return status is not None and kind_of(status) == "file" and status.st_nlink == 1

    def stamp(self) -> object:
        """Return a value that changes with the file; None for all but a regular file."""
        status = self.status()
        if status is None or kind_of(status) != "file":
            return None
        return status.st_mtime_ns, status.st_ino, status.st_size

    def open(self) -> BinaryIO:
        """Open to read. Raises RefusedError, and OSError when it is missing or no regular file."""
        with _entered(self.folder) as inside:
            return os.fdopen(inside.open_plain(self.name, os.O_RDONLY), "rb")

    def read(self, most: int = -1) -> bytes:
        """Return the content, at most so many bytes of it. Raises as `open` does."""
        with self.open() as file:
            return file.read(most)

    def replace(
        self, parts: Iterable[bytes | memoryview], *, by_many: bool = False, private: bool = False, lasts: bool = True
    ) -> None:
        """Write a new file that takes the name when it is whole and on the disk. Raises RefusedError, OSError.

        With one writer at a time, a half written file is removed by the next writer. With `by_many`, each writer has a
        file of its own, which stays when the writer is killed. With `private`, nobody else may read it. Without
        `lasts`, no disk is waited for: for a file that has a checksum, and may be lost in a power cut.
        """
        new = f"{self.name}.{os.urandom(4).hex()}{_NEW}" if by_many else self.name + _NEW
        with _entered(self.folder) as inside:
            inside.clear(new)
            try:
                with os.fdopen(inside.make_file(new, 0o600 if private else 0o666), "wb") as file:
                    file.writelines(parts)
                    file.flush()
                    if lasts:
                        os.fsync(file.fileno())
                if inside.kind(self.name) == "folder":
                    inside.clear(self.name)
                inside.rename(new, self.name)
            except BaseException:
                with suppress(OSError):  # an unfinished file takes room that may be short
                    inside.clear(new)
                raise

    def make(self, content: bytes = b"", *, private: bool = False) -> bool:
        """Make a file; return False when there is an entry of this name already. Raises RefusedError, OSError.

        With `private`, nobody else may read it.
        """
        with _entered(self.folder) as inside:
            try:
                descriptor = inside.make_file(self.name, 0o600 if private else 0o666)
            except FileExistsError:
                return False
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return True

    def take(self, source: File) -> None:
        """Become another file: a second name of it where the disk can do that, else a copy.

        For files that nobody changes in place. Raises UnsafeError when it is no regular file, RefusedError, OSError.
        """
        with source.open() as opened, _entered(self.folder) as inside:
            inside.clear(self.name)
            with suppress(OSError, NotImplementedError), _entered(source.folder) as there:
                there.link(source.name, inside, self.name)
                if os.path.samestat(os.fstat(opened.fileno()), os.stat(self.path, follow_symlinks=False)):
                    return
            inside.clear(self.name)
            self.replace(iter(lambda: opened.read(_COPIED_AT_ONCE), b""))

    def clone(self, source: File) -> None:
        """Become a copy of another file, which shares its room until one of them changes, where the disk can do that.

        Btrfs, XFS and bcachefs can. Raises UnsafeError when it is no regular file, RefusedError, OSError.
        """
        with source.open() as opened, os.fdopen(self.descriptor(), "r+b") as new:
            new.truncate()
            left = os.fstat(opened.fileno()).st_size if hasattr(os, "copy_file_range") else 0
            with suppress(OSError):  # two disks, or one that cannot
                while left and (n_bytes := os.copy_file_range(opened.fileno(), new.fileno(), left)):
                    left -= n_bytes
            opened.seek(new.seek(0, os.SEEK_END))
            new.writelines(iter(lambda: opened.read(_COPIED_AT_ONCE), b""))

    def descriptor(self) -> int:
        """Open to read and write in place; an entry that is no file, or has another name, is replaced by an empty file.

        Raises RefusedError, OSError.
        """
        with _entered(self.folder) as inside:
            for _ in range(_ATTEMPTS):
                status = inside.status(self.name)
                if status is not None and (kind_of(status) != "file" or status.st_nlink > 1):
                    inside.clear(self.name)
                try:
                    if inside.status(self.name) is None:
                        return inside.make_file(self.name)
                    return inside.open_plain(self.name, os.O_RDWR)
                except (FileExistsError, FileNotFoundError, UnsafeError):  # another process has made or removed it
                    continue
        raise UnsafeError(errno.EBUSY, "another process replaces it again and again", self.path)

    def remove(self) -> None:
        """Remove the entry, whatever it is; of a link the link. Nothing there is no error. Raises OSError."""
        self.folder.remove(self.name)

    def set_aside(self) -> None:
        """Keep a bad file or folder under another name, the last one only; a link is removed. Raises OSError."""
        with suppress(FileNotFoundError), _entered(self.folder) as inside:
            if inside.kind(self.name) in {"file", "folder"}:
                inside.clear(self.name + _SET_ASIDE)
                inside.rename(self.name, self.name + _SET_ASIDE)
            else:
                inside.clear(self.name)

    def forget_aside(self) -> None:
        """Remove the file that `set_aside` has renamed. Raises OSError."""
        self.with_ending(_SET_ASIDE).remove()


_ATTEMPTS = 100
_NOT_EMPTY = {errno.ENOTEMPTY, errno.EEXIST}  # POSIX leaves the choice
_COPIED_AT_ONCE = 1 << 20  # bytes


def folder_at(place: Folder | str) -> Folder:
    """Return the folder of a path that the user has chosen; a Folder stays as it is."""
    return place if isinstance(place, Folder) else Folder(place)


def file_at(place: File | str) -> File:
    """Return the file of a path that a user has chosen; a File stays. Raises OSError for the root of a disk."""
    if isinstance(place, File):
        return place
    folder, name = os.path.split(place)
    if not name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place)
    return Folder(folder or ".").file(name)


def index_folder(path: str, root: str) -> Folder:
    """Return the folder of an index. Inside the project no part of the whole path may be a link, else not the last.

    The folder of the project is never made: a run that made it again would find an empty project.
    """
    base = os.path.dirname(path)
    if path.startswith(os.path.join(root, "")):
        base = os.path.abspath(os.sep) if _HAS_OPENAT else root
    return Folder(base, tuple(os.path.normpath(os.path.relpath(path, base)).split(os.sep)), project=root)


def kind_of(status: os.stat_result) -> str:
    """Return the kind of an entry, in a word for people."""
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_file_attributes", 0) & _REPARSE_POINT:
        return "link"
    return next((word for is_it, word in _KINDS if is_it(status.st_mode)), "special file")


_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


class _Inside(NamedTuple):
    """A folder that was reached: by a descriptor, or on Windows by a path that was looked at."""

    descriptor: int | None
    prefix: str

    def at(self, name: str) -> str:
        return self.prefix + name

    def status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self.at(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def kind(self, name: str) -> str:
        status = self.status(name)
        return "" if status is None else kind_of(status)

    def open_plain(self, name: str, flags: int) -> int:
        """Open a regular file. Raises FileNotFoundError, UnsafeError."""
        before = self.kind(name)  # not opened to be looked at: opening a device may do something
        if before in {"", "file"}:
            descriptor = os.open(self.at(name), flags | _PLAIN, dir_fd=self.descriptor)
            before = kind_of(os.fstat(descriptor))
            if before == "file":
                return descriptor
            os.close(descriptor)
        raise UnsafeError(errno.ELOOP, f"it is a {before}, not a file", self.at(name))

    def make_file(self, name: str, mode: int = 0o666) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _PLAIN
        return os.open(self.at(name), flags, mode, dir_fd=self.descriptor)

    def make_folder(self, name: str) -> None:
        with suppress(FileExistsError):  # another process was faster; `_entered` checks the entry
            os.mkdir(self.at(name), dir_fd=self.descriptor)

    def rename(self, old: str, new: str) -> None:
        os.replace(self.at(old), self.at(new), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def link(self, name: str, other: _Inside, new: str) -> None:
        os.link(
            self.at(name),
            other.at(new),
            src_dir_fd=self.descriptor,
            dst_dir_fd=other.descriptor,
            follow_symlinks=False,
        )

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """Yield the entries of the folder."""
        if self.descriptor is None:
            with os.scandir(self.prefix) as entries:
                yield from entries
            return
        descriptor = os.open(".", TO_LIST, dir_fd=self.descriptor)
        try:
            with os.scandir(descriptor) as entries:
                yield from entries
        finally:
            os.close(descriptor)

    def clear(self, name: str) -> None:
        """Remove an entry, whatever it is. Nothing there is no error."""
        kind = self.kind(name)
        if kind == "folder":
            self._clear_folder(name)
        elif kind:
            with suppress(FileNotFoundError):
                os.unlink(self.at(name), dir_fd=self.descriptor)

    def _clear_folder(self, name: str) -> None:
        if self.descriptor is None:
            import shutil  # noqa: PLC0415 -- a search must not pay for it

            shutil.rmtree(self.at(name))
            return
        # Folders inside come up beside it before they are emptied: whatever the depth, two are open at a time.
        waiting, token, n_left = [name], os.urandom(8).hex(), _ATTEMPTS
        while waiting:
            folder = waiting[-1]
            below = self._emptied(folder, f"removed-{token}-{len(waiting)}")
            if below:
                waiting += below
                continue
            try:
                os.rmdir(folder, dir_fd=self.descriptor)
            except FileNotFoundError:
                pass
            except OSError as error:
                # tantivy looks at an index that was opened from a thread of its own, and makes its lock file for that:
                # also when the index was closed a moment ago.
                n_left -= 1
                if error.errno not in _NOT_EMPTY or n_left <= 0:
                    raise
                continue
            waiting.pop()

    def _emptied(self, name: str, stem: str) -> list[str]:
        """Remove the files of a folder, and move its folders here; return how these are called now."""
        moved: list[str] = []
        try:
            descriptor = os.open(name, TO_LIST | NOT_THROUGH_LINKS, dir_fd=self.descriptor)
        except FileNotFoundError:
            return moved
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        moved.append(f"{stem}-{len(moved)}")
                        os.rename(entry.name, moved[-1], src_dir_fd=descriptor, dst_dir_fd=self.descriptor)
                    else:
                        with suppress(FileNotFoundError):
                            os.unlink(entry.name, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        return moved


@contextmanager
def _entered(folder: Folder) -> Iterator[_Inside]:
    """Reach a folder without following a link below its base. Raises RefusedError, OSError."""
    if not _HAS_OPENAT:
        yield _looked_at(folder)
        return
    descriptor = os.open(folder.base, TO_ENTER)
    try:
        for number, name in enumerate((*folder.index_parts, *folder.own)):
            try:
                inner = os.open(name, TO_ENTER | NOT_THROUGH_LINKS, dir_fd=descriptor)
            except NotADirectoryError:
                if number < len(folder.index_parts):
                    kind = _Inside(descriptor, "").kind(name)
                    raise _refused(os.path.join(folder.base, *folder.index_parts[: number + 1]), kind) from None
                raise
            os.close(descriptor)
            descriptor = inner
        yield _Inside(descriptor, "")
    finally:
        os.close(descriptor)


def _looked_at(folder: Folder) -> _Inside:
    """Reach a folder where there is no `openat`: each part is looked at, then used by its path."""
    path = folder.base
    for number, name in enumerate((*folder.index_parts, *folder.own)):
        path = os.path.join(path, name)
        kind = kind_of(os.lstat(path))
        if kind != "folder":
            if number < len(folder.index_parts):
                raise _refused(path, kind)
            raise UnsafeError(errno.ENOTDIR, f"it is a {kind}, not a folder", path)
    return _Inside(None, os.path.join(path, ""))


def _refused(path: str, kind: str) -> RefusedError:
    return RefusedError(
        f"the index is not read or written at {path!r}: it is a {kind or 'special file'}, not a folder",
        hint=f"remove this {kind or 'file'} (it may have come with the project), "
        "or set FATHOM_INDEX_DIR to a folder for indexes",
    )


def _checked(name: str) -> str:
    if not name or name in {".", ".."} or "\0" in name or "/" in name or os.sep in name:
        raise ValueError(f"{name!r} is not a valid name in a folder")
    return name
