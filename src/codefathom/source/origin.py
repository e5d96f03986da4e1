"""The origin of a document: reads its text, and compares it with the version that was indexed.

An origin is a file below the root (`Tree`) or in a revision of git (`BlobOrigin`), and beside them a text that is on
no disk, which the index itself keeps (`KeptTexts`). Others need the two methods of `Origin`.
"""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, Protocol, TypeAlias

from codefathom.source.changes import FileStat, differs, is_unsure
from codefathom.source.languages import is_document
from codefathom.source.scan import FileTree, ScanRules
from codefathom.source.size_limits import MAX_DOCUMENT_BYTES
from codefathom.text.kept_names import is_kept_text
from codefathom.types import USUAL_ENCODING

# same: the indexed version; changed: another one; gone: nothing can be read there.
State: TypeAlias = Literal["same", "changed", "gone"]

_READ_ONLY = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a named pipe would wait for a writer
_FOLDER = getattr(os, "O_DIRECTORY", 0)


class IndexedDocument(Protocol):
    """A document as an index remembers it, such as `StoredDocument` and `Entry`."""

    @property
    def path(self) -> str:
        """Relative to the root, POSIX."""
        ...

    @property
    def size(self) -> int:
        """In bytes."""
        ...

    @property
    def mtime_ns(self) -> int:
        """Time stamp of the origin."""
        ...

    @property
    def ctime_ns(self) -> int:
        """Time at which the system saw the last change of the file; 0 where it is not known."""
        ...

    @property
    def inode(self) -> int:
        """Number of the file on its disk."""
        ...

    @property
    def fingerprint(self) -> str:
        """Versioned hash of the bytes, see `documents.fingerprint`."""
        ...


class Stamp(NamedTuple):
    """Size and time stamp of a document, known without reading it, with the names that `FileStat` gives them."""

    size: int  # bytes
    mtime_ns: int | None  # None for an origin without time stamps: then only the bytes can be compared
    ctime_ns: int = 0
    inode: int = 0


class Origin(Protocol):
    """A place that documents are read from."""

    def stamp(self, path: str) -> Stamp | None:
        """Return size and time stamp, without reading; None for a document that is gone, or must not be read."""
        ...

    def content(self, path: str) -> bytes | None:
        """Return the bytes; None for a document that is gone, too large, or must not be read."""
        ...


class Tree:
    """The files below a folder. A link is followed inside the folder and never out of it."""

    def __init__(self, root: str, max_bytes: int, max_document_bytes: int = MAX_DOCUMENT_BYTES) -> None:
        """`max_document_bytes` is the limit of files whose text is taken out of them."""
        self._root = os.path.realpath(root)
        self._top = os.path.join(self._root, "")
        self._max_bytes = max_bytes
        self._max_document_bytes = max_document_bytes

    def stamp(self, path: str) -> Stamp | None:
        """Return size and time stamp of a regular file; None for anything else, and for a path that leads out."""
        if not is_inside(path):
            return None
        try:
            status = os.lstat(self._top + path)
            if stat.S_ISLNK(status.st_mode) and self._real(path) is not None:
                status = os.stat(os.path.join(self._root, path))
        except (OSError, ValueError):  # ValueError: a NUL byte
            return None
        return Stamp(*FileStat.of(path, status)[1:]) if stat.S_ISREG(status.st_mode) else None

    def content(self, path: str) -> bytes | None:
        """Return the bytes of a regular file that is no larger than the limit; never waits."""
        parts = self._real(path)
        if parts is None:
            return None
        most = self._max_document_bytes if is_document(path) else self._max_bytes
        try:
            with open(open_below(self._root, parts), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > most:
                    return None
                data = file.read(most + 1)  # it may grow in this moment
        except OSError:
            return None
        return data if len(data) <= most else None

    def _real(self, path: str) -> list[str] | None:
        """Return the folders and the name that a path leads to, links followed; None when it leads out."""
        if not is_inside(path):
            return None
        real = os.path.realpath(os.path.join(self._root, path))
        return real[len(self._top) :].split(os.sep) if real.startswith(self._top) else None


class BlobOrigin:
    """The files of a revision, which nobody can change."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree

    def stamp(self, path: str) -> Stamp | None:
        """Return the size of a file, and a stamp that is made of its content."""
        file = self._tree.stat(path)
        return None if file is None else Stamp(file.size, file.mtime_ns)

    def content(self, path: str) -> bytes | None:
        """Return the bytes of a file."""
        try:
            file = self._tree.open(path)
        except OSError:
            return None
        if file is None:
            return None
        with file:
            return file.read()


def tree_of(root: str | FileTree, rules: ScanRules) -> Origin:
    """Return the files below a folder, with the limits on their size that its scan has, or those of another tree."""
    if not isinstance(root, str):
        return BlobOrigin(root)
    return Tree(root, rules.max_bytes, rules.max_document_bytes)


class TextKeeper(Protocol):
    """An index that keeps texts which are on no disk."""

    def document(self, path: str) -> IndexedDocument | None:
        """Return one document, None when it is not there."""
        ...

    def text(self, path: str) -> str:
        """Return the text of a document."""
        ...


class KeptTexts:
    """The documents of a tree, and beside them the texts that an index keeps, which are what they are there."""

    def __init__(self, tree: Origin, keeper: TextKeeper) -> None:
        self._tree = tree
        self._keeper = keeper

    def stamp(self, path: str) -> Stamp | None:
        """Return size and time stamp; of a kept text the time at which it was given."""
        if not is_kept_text(path):
            return self._tree.stamp(path)
        document = self._keeper.document(path)
        return None if document is None else Stamp(document.size, document.mtime_ns)

    def content(self, path: str) -> bytes | None:
        """Return the bytes of a document."""
        if not is_kept_text(path):
            return self._tree.content(path)
        return None if self._keeper.document(path) is None else bytes_of_kept(self._keeper.text(path))


def bytes_of_kept(text: str) -> bytes:
    """Return a kept text as bytes that say that they are UTF-8, whatever encoding the text names itself."""
    return BOM_UTF8 + text.encode()


def origin_of(root: str | FileTree, rules: ScanRules, keeper: TextKeeper) -> Origin:
    """Return the place of all documents of an index: those of `tree_of`, and the texts that it keeps."""
    return KeptTexts(tree_of(root, rules), keeper)


class Original:
    """One document at its origin. Nothing is read before it is needed, and that once."""

    def __init__(
        self, document: IndexedDocument, origin: Origin, indexed_at_ns: int = 0, assumed: str = USUAL_ENCODING
    ) -> None:
        """A file stamped later than `indexed_at_ns` is compared by its bytes (see `changes.compare`); 0: none is.

        `assumed` is the encoding of files that do not tell theirs, see `Recipe.assumed_encoding`.
        """
        self._assumed = assumed
        self._document = document
        self._origin = origin
        self._indexed_at_ns = indexed_at_ns

    @cached_property
    def state(self) -> State:
        """Compare size and time stamp with the indexed version; where they differ, compare the bytes."""
        document = self._document
        stamp = self._origin.stamp(document.path)
        if stamp is None:
            return "gone"
        is_sure = not (self._indexed_at_ns and is_unsure(document.mtime_ns, self._indexed_at_ns))
        if is_sure and not differs(document, stamp):
            return "same"
        return self.state_by_bytes

    @cached_property
    def state_by_bytes(self) -> State:
        """Compare the bytes with the indexed version, whatever size and time stamp are."""
        from codefathom.source.documents import fingerprint

        if self.data is None:
            return "gone" if self._origin.stamp(self._document.path) is None else "changed"
        return "same" if fingerprint(self.data) == self._document.fingerprint else "changed"

    @cached_property
    def data(self) -> bytes | None:
        """The bytes as they are now; None where nothing can be read."""
        return self._origin.content(self._document.path)

    @cached_property
    def text(self) -> str | None:
        """The decoded text as it is now; None where nothing can be read."""
        from codefathom.source.documents import text_of

        return None if self.data is None else text_of(self._document.path, self.data, self._assumed)

    def lines(self, start_line: int, end_line: int) -> str | None:
        """Return some lines as they are now, as `Catalog.lines` does; None where nothing can be read."""
        if self.text is None:
            return None
        lines = self.text.split("\n")
        text = "\n".join(lines[max(start_line - 1, 0) : end_line])
        return text + "\n" if 0 < end_line < len(lines) else text


class Originals:
    """The originals that one question meets: ten hits of one file look at it once."""

    def __init__(self, origin: Origin, indexed_at_ns: int = 0, assumed: str = USUAL_ENCODING) -> None:
        self._assumed = assumed
        self._origin = origin
        self._indexed_at_ns = indexed_at_ns
        self._originals: dict[str, Original] = {}

    def of(self, document: IndexedDocument) -> Original:
        """Return the original of a document."""
        original = self._originals.get(document.path)
        if original is None:
            original = Original(document, self._origin, self._indexed_at_ns, self._assumed)
            self._originals[document.path] = original
        return original

    def afresh(self, document: IndexedDocument) -> Original:
        """Return the original of a document as it is in this moment, whatever was read of it before."""
        return Original(document, self._origin, self._indexed_at_ns, self._assumed)


@lru_cache(maxsize=10_000)  # each search asks it of the same few files
def is_inside(path: str) -> bool:
    """Return True if a path has the form of paths in the index: relative, POSIX, without `..`."""
    if not path or path.startswith("/") or "\0" in path:
        return False
    if os.sep != "/" and (os.sep in path or ":" in path):
        return False
    return not {"", ".", ".."} & set(path.split("/"))


def open_below(root: str, parts: Sequence[str]) -> int:
    """Open a file below a folder, refusing links: a part may have become a link since the path was resolved.

    Never waits. Raises OSError.
    """
    if os.open not in os.supports_dir_fd:
        return os.open(os.path.join(root, *parts), _READ_ONLY | _NO_WAIT)
    folder = os.open(root, _READ_ONLY | _FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _READ_ONLY | _FOLDER | _NO_LINK, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _READ_ONLY | _NO_LINK | _NO_WAIT, dir_fd=folder)
    finally:
        os.close(folder)
