"""The origin of a document: reads its text, and compares it with the version that was indexed.

An origin is a file below the root (`Tree`) or in a revision of git (`BlobOrigin`), and beside them a text that is on
no disk, which the index itself keeps (`KeptTexts`). Others need the two methods of `Origin`. `FolderFiles` opens the
files below a root, for all who read them.
"""

from __future__ import annotations

import errno
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property, lru_cache
from typing import BinaryIO, Literal, NamedTuple, Protocol, TypeAlias

from codefathom.facts.languages import is_document
from codefathom.source.changes import FileStat, Scan, differs, is_unsure
from codefathom.source.scan import FileTree, ScanRules, scan
from codefathom.source.size_limits import MAX_DOCUMENT_BYTES
from codefathom.system.real_paths import HAS_OPENAT, TO_ENTER, FolderChain, open_below, regular_file, status_below
from codefathom.text.kept_names import is_kept_text
from codefathom.types.choices import USUAL_ENCODING

# same: the indexed version; changed: another one; gone: nothing can be read there.
State: TypeAlias = Literal["same", "changed", "gone"]


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


class FolderFiles:
    """The files below the real path of a folder. Links are not followed, or with `follows` inside the folder only."""

    def __init__(self, root: str, *, follows: bool = False, chain: FolderChain | None = None) -> None:
        """With a chain, which the caller closes, folders stay open from one file to the next."""
        self.root = root
        self._top = os.path.join(root, "")
        self._follows = follows
        self._chain = chain

    def scan(self, rules: ScanRules) -> Scan:
        """List the files that count."""
        return scan(self.root, rules)

    def open(self, path: str) -> BinaryIO | None:
        """Open a file; None for what is no regular file. Never waits.

        Raises OSError, also for a path that leads out.
        """
        real = self._real(path)
        return regular_file(open_below(self.root, real.split("/")) if self._chain is None else self._chain.open(real))

    def status(self, path: str) -> os.stat_result:
        """Return the status of a file. Raises OSError, also for a path that leads out."""
        real = self._real(path)
        return status_below(self.root, real.split("/")) if self._chain is None else self._chain.status(real)

    def stat(self, path: str) -> FileStat | None:
        """Return size and stamp of a file, without reading it; None for what is no regular file."""
        try:
            status = self.status(path)
        except OSError:
            return None
        return FileStat.of(path, status) if stat.S_ISREG(status.st_mode) else None

    def _real(self, path: str) -> str:
        """Return the path that has no link in it, as far as links are followed."""
        if not is_inside(path):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        if not self._follows:
            return path
        real = os.path.realpath(self._top + path)
        if not real.startswith(self._top):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        return real[len(self._top) :].replace(os.sep, "/")


@contextmanager
def opened_folders(tree: str | FileTree) -> Iterator[str | FileTree]:
    """Give the files of a folder, whose folders stay open from one file to the next; another tree stays as it is."""
    if isinstance(tree, str) and HAS_OPENAT:
        with closing(FolderChain(tree, TO_ENTER)) as chain:
            yield FolderFiles(tree, chain=chain)
    else:
        yield tree


class Tree:
    """The files below a folder, within limits of size. Of a real path, links are not followed."""

    def __init__(self, root: str | FolderFiles, max_bytes: int, max_document_bytes: int = MAX_DOCUMENT_BYTES) -> None:
        """`max_document_bytes` is the limit of files whose text is taken out of them."""
        self._files = FolderFiles(root) if isinstance(root, str) else root
        self._max_bytes = max_bytes
        self._max_document_bytes = max_document_bytes

    def stamp(self, path: str) -> Stamp | None:
        """Return size and time stamp of a regular file; None for anything else, and for a path that leads out."""
        file = self._files.stat(path)
        return None if file is None else Stamp(*file[1:])

    def content(self, path: str) -> bytes | None:
        """Return the bytes of a regular file that is no larger than the limit; never waits."""
        most = self._max_document_bytes if is_document(path) else self._max_bytes
        try:
            file = self._files.open(path)
            if file is None:
                return None
            with file:
                if os.fstat(file.fileno()).st_size > most:
                    return None
                data = file.read(most + 1)  # it may grow in this moment
        except OSError:
            return None
        return data if len(data) <= most else None


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
    if not isinstance(root, str | FolderFiles):
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
