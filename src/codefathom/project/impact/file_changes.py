"""The two versions of changed files: a diff and the index, two revisions, or a revision and the index.

Nothing of the repository is run: revisions are read from the object store, and compared here, not by `git diff`, which
would use filters and programs that the settings of a repository name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from codefathom.errors import SourceError, UsageError
from codefathom.index.plan import with_found_encoding
from codefathom.index.prepare import as_kept
from codefathom.project.opening import OpenedProject
from codefathom.source.changes import FileStat
from codefathom.source.documents import kind_of, read
from codefathom.source.masks import MASK
from codefathom.source.origin import Origin, Stamp, tree_of
from codefathom.source.revisions.git_tree import GitTree
from codefathom.source.revisions.revision import revision, revisions_of_range
from codefathom.source.revisions.staged_files import StagedFile, staged_files
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.stores.catalog.records import StoredDocument
from codefathom.text.kept_names import is_kept_text
from codefathom.text.unified_diff import FileDiff, other_side, read_diff
from codefathom.types import Document, Skipped

_MOST_CHANGES = 5_000
# Of both versions of all files, which are held and parsed: about three minutes. Few bytes can name the same large file
# again and again, or hold it thousands of times.
_MOST_CHARS = 100_000_000


class FileVersions(NamedTuple):
    """A file in two versions; None where it is not there."""

    before: Document | None
    after: Document | None

    @property
    def path(self) -> str:
        """The present path, of a removed file the last one."""
        document = self.after or self.before
        return document.path if document is not None else ""


class FileChanges(NamedTuple):
    """The files that differ, and those of which it cannot be told how."""

    changes: tuple[FileVersions, ...]
    unseen: tuple[str, ...] = ()  # one sentence each
    base: GitTree | None = None  # the commit from which they differ; None where there is no git


# ---- a diff


def of_diff(opened: OpenedProject, text: str) -> FileChanges:
    """Return the files of a diff, which may be applied already or not. Raises UsageError for what is no diff."""
    changes: list[FileVersions] = []
    unseen: list[str] = []
    n_chars = 0
    for file in read_diff(text):
        change = None if file.is_binary else _of_file(opened, file)
        if change is not None:
            n_chars = _with_chars_of(change, n_chars)
            changes.append(change)
        elif file.is_binary:
            unseen.append(f"{file.path!r} is binary: the reach of its change is not known")
        else:
            unseen.append(
                f"{file.path!r} has other lines in the index than on either side of the diff: its change is left out"
            )
    return FileChanges(tuple(changes), tuple(unseen), _base_of_diff(opened))


def _base_of_diff(opened: OpenedProject) -> GitTree | None:
    """Return the commit that is indexed, or that the indexed files come from."""
    if isinstance(opened.recipe.tree, GitTree):
        return opened.recipe.tree
    try:
        return revision(opened.recipe.root, "HEAD").tree()
    except SourceError:
        return None


def _of_file(opened: OpenedProject, file: FileDiff) -> FileVersions | None:
    """Return both versions of a file: the index has one of them, and the diff makes the other one of it."""
    old, new = _indexed(opened, file.old_path), _indexed(opened, file.new_path)
    if new is not None:
        text = other_side(_unmasked(new, file, "+"), file, backwards=True)
        if text is not None:
            return FileVersions(_version(opened, file.old_path, text), new)
    if old is not None:
        text = other_side(_unmasked(old, file, "-"), file)
        if text is not None:
            return FileVersions(old, _version(opened, file.new_path, text))
    if (old is None and not file.old_path) or (new is None and not file.new_path):
        added = "\n".join(line for hunk in file.hunks for line in hunk.side("+" if file.new_path else "-"))
        version = _version(opened, file.path, f"{added}\n" if added else "")
        return FileVersions(None, version) if file.new_path else FileVersions(version, None)
    return None


def _indexed(opened: OpenedProject, path: str) -> Document | None:
    stored = opened.catalog.document(path) if path else None
    if stored is None:
        return None
    return Document(path, stored.language, opened.catalog.text(path), stored.fingerprint, stored.size)


def _unmasked(document: Document, file: FileDiff, mark: str) -> str:
    """Return the indexed text with the lines of the diff where a secret has a mask in the index."""
    if MASK not in document.text:
        return document.text
    lines = document.text.split("\n")
    for hunk in file.hunks:
        side = hunk.side(mark)
        start = (hunk.new_start if mark == "+" else hunk.old_start) - bool(side)
        for place, line in enumerate(side, start=start):
            if place < len(lines) and MASK in lines[place]:
                lines[place] = line
    return "\n".join(lines)


def _version(opened: OpenedProject, path: str, text: str) -> Document | None:
    if not path:
        return None
    stored = opened.catalog.document(path)
    language = stored.language if stored is not None else kind_of(path, text)
    return as_kept(Document(path, language, text, "", len(text)), opened.recipe)


# ---- revisions


def of_range(opened: OpenedProject, written: str) -> FileChanges:
    """Return the files that differ between `A..B` or `A...B`; of `A` alone, between it and the indexed files.

    Raises UsageError for what cannot be a revision, SourceError where there is none of this name.
    """
    root = opened.recipe.root
    chosen = revisions_of_range(root, written)
    base = chosen.old.tree()
    before = _Side(opened, base)
    if chosen.new is None:
        return _against_index(opened, before)._replace(base=base)
    return _between(before, _Side(opened, chosen.new.tree()))._replace(base=base)


class _Side:
    """The files of a revision, by the rules of the project."""

    def __init__(self, opened: OpenedProject, tree: GitTree) -> None:
        self._opened = opened
        self._recipe = with_found_encoding(opened.recipe, opened.catalog)
        self._tree = tree
        self.files: Mapping[str, FileStat] = {file.path: file for file in tree.scan(self._recipe.rules).files}

    def unchanged(self, stored: Mapping[str, StoredDocument]) -> set[str]:
        """Return the files of the revision that are as the index has them, or has left them out, without reading any.

        Size and time stamp tell, as for every search: those of the index, and those that git has noted.
        """
        place = tree_of(self._recipe.tree, self._recipe.rules)
        staged = staged_files(self._recipe.root) if self._recipe.revision is None else {}
        return {path for path, blob in self.files.items() if self._is_same(blob, stored.get(path), place, staged)}

    def _is_same(
        self, blob: FileStat, stored: StoredDocument | None, place: Origin, staged: Mapping[str, StagedFile]
    ) -> bool:
        stamp = Stamp(stored.size, stored.mtime_ns) if stored is not None else place.stamp(blob.path)
        if stamp is not None and stamp[:2] == (
            blob.size,
            blob.mtime_ns,
        ):  # the index is that of a revision, whose stamps are those of blobs
            return True
        file = staged.get(self._tree.prefix + blob.path)
        return file is not None and stamp is not None and file.is_blob(blob, stamp)

    def document(self, path: str) -> Document | None:
        """Return a file as it is indexed; None where there is none, or where none would be indexed."""
        file = self.files.get(path)
        if file is None or file.size > MAX_WHOLE_FILE_BYTES:
            return None
        include = self._recipe.rules.include_generated
        document = read(self._tree, file, include_generated=include, assumed=self._recipe.assumed_encoding)
        return None if isinstance(document, Skipped) else as_kept(document, self._recipe)


def _between(before: _Side, after: _Side) -> FileChanges:
    paths = [path for path in sorted({*before.files, *after.files}) if before.files.get(path) != after.files.get(path)]
    _refuse_too_many(len(paths))
    return _with_renames(FileVersions(before.document(path), after.document(path)) for path in paths)


def _against_index(opened: OpenedProject, before: _Side) -> FileChanges:
    stored = {item.path: item for item in opened.catalog.documents() if not is_kept_text(item.path)}
    changes: list[FileVersions] = []
    unchanged = before.unchanged(stored)
    for path in sorted({*before.files, *stored} - unchanged):
        old, now = before.document(path), stored.get(path)
        if (old and old.fingerprint) != (now and now.fingerprint):
            changes.append(FileVersions(old, _indexed(opened, path)))
            _refuse_too_many(len(changes))
    return _with_renames(iter(changes))


def _with_renames(changes: Iterator[FileVersions]) -> FileChanges:
    """Return the changes, a removed and an added file of the same text as one that has another path now."""
    kept: list[FileVersions] = []
    removed: dict[str, FileVersions] = {}
    n_chars = 0
    for change in changes:
        n_chars = _with_chars_of(change, n_chars)
        if change.before is not None and change.after is None and change.before.text:
            removed[change.before.text] = change
        else:
            kept.append(change)
    for place, change in enumerate(kept):
        if change.before is None and change.after is not None and change.after.text in removed:
            kept[place] = FileVersions(removed.pop(change.after.text).before, change.after)
    kept += removed.values()
    real = (item for item in kept if item.before is not None or item.after is not None)
    return FileChanges(tuple(sorted(real, key=lambda item: item.path)))


def _with_chars_of(change: FileVersions, n_chars: int) -> int:
    """Return the characters so far with those of one more change. Raises UsageError for too many."""
    n_chars += sum(len(document.text) for document in change if document is not None)
    if n_chars > _MOST_CHARS:
        raise UsageError(
            f"the changed files have more than {_MOST_CHARS:,} characters together, before and after the change",
            hint="give it in parts, such as one folder or one commit at a time",
        )
    return n_chars


def _refuse_too_many(n_files: int) -> None:
    if n_files > _MOST_CHANGES:
        raise UsageError(f"more than {_MOST_CHANGES} files differ", hint="name revisions that are nearer to each other")
