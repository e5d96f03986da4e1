"""An index as files: exports for other programs, backups, and snapshots for other checkouts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codefathom.errors import IndexingError
from codefathom.project.current_index import CurrentIndex, not_remembered
from codefathom.project.damage import lines_of, reading
from codefathom.stores.lock import writer_lock

if TYPE_CHECKING:
    from codefathom.types.index_copies import Backup, Snapshot

_RESTORED_FROM_ELSEWHERE = (
    "this backup was not made by you for this folder; the next run compares it with the files of the project"
)
_NOT_TAKEN = "{n} documents of the export were left out: no file of this project has exactly their text"


class SavedIndex:
    """The files that one index is written to and read from. See `Engine`."""

    current: CurrentIndex

    def export(self, kind: str) -> Iterator[str]:
        """Yield all documents as lines of text; see `exchange` for the kinds."""
        from codefathom.answer.tokens import counter
        from codefathom.project.exchange import export

        self.current.refresh()
        opened = self.current.believed()
        count = counter(self.current.settings.context.tokenizer_path)
        purposes = opened.purposes([document.path for document in opened.catalog.documents()])
        return lines_of(opened, export(opened.catalog, opened.recipe.tree, kind, count, purposes))

    def export_faiss(self, folder: str) -> int:
        """Write `file_index.faiss`, `function_index.faiss` and `metadata.json`, and return their number of rows.

        Raises SettingsError without FAISS, SourceError when the folder cannot be written.
        """
        from codefathom.project.stores.faiss_files import write_faiss_files

        self.current.refuse_fleet("is not written to one file")
        self.current.refresh()
        opened = self.current.believed()
        with reading(opened, whole=True):
            return write_faiss_files(opened, folder)

    def import_index(self, lines: Iterator[str], kind: str) -> int:
        """Take over those documents of an export that stand in the tree as they are, and return their number.

        Nothing else of an export is believed: it may come from anywhere.
        """
        from codefathom.index.by_path import take_over
        from codefathom.project.exchange import read_export

        self.current.refuse_fleet("takes no index from elsewhere")
        texts = read_export(lines, self.current.opened.recipe.tree, kind)
        wait_s = self.current.settings.index.wait_s
        if not self.current.opened.is_known:
            self.current.report_of(self.current.run(full=False, retry=False, wait_s=wait_s))
        with self.current.writing(wait_s) as stages:
            n_taken = take_over(stages, texts)
        if n_taken < len(texts):
            self.current.on_wait(_NOT_TAKEN.format(n=len(texts) - n_taken))
        return n_taken

    def backup(self, path: str) -> Backup:
        """Write the index as it is at this moment to one file; searches and index runs go on.

        Raises IndexingError without an index, UsageError when another file has the name, SourceError when it cannot be
        written.
        """
        from codefathom.project.stores.backup import backup

        self.current.refuse_fleet("is not backed up: it is made again from its repositories")
        return backup(self.current.believed(self.current.opened), os.path.abspath(path))

    def restore(self, path: str, *, wait_s: float | None = None) -> Backup:
        """Put a backup in the place of the index; the next question or `index` takes in what has changed since.

        A backup that this user did not make for this folder is compared with the files then. Raises LockedError as
        `index` does, SourceError, and IndexingError for what is no whole backup; the index stays as it was then.
        """
        from codefathom.project.stores.backup import restore

        self.current.refuse_fleet("takes no index from elsewhere")
        with self.current.lock:
            self.current.close()
            restored, is_believed = restore(
                self.current.place, os.path.abspath(path), wait_s=self.current.wait_s(wait_s)
            )
            if not is_believed:
                self.current.on_wait(_RESTORED_FROM_ELSEWHERE)
            return restored

    def export_snapshot(self, path: str, *, key_file: str = "") -> Snapshot:
        """Write the index to one file for other checkouts, signed by the Ed25519 key in `key_file` where one is named.

        It holds the files as they are now: what has changed is taken in before. Raises IndexingError when that cannot
        be finished, UsageError when another file has the name or the key cannot be used, SourceError, SettingsError
        without the library for signatures.
        """
        from codefathom import __version__
        from codefathom.project.stores.snapshot import export_snapshot

        self.current.refuse_fleet("is not written to one file")
        run = self.current.whole_run(full=False, retry=True, wait_s=None, keep_rules=False)
        report = self.current.report_of(run)
        if report.paused:
            raise IndexingError(f"the index is not complete: {report.paused}", hint="run `fathom index`")
        with reading(self.current.believed(self.current.opened), whole=True) as opened:
            return export_snapshot(opened, os.path.abspath(path), key_file, __version__)

    def import_snapshot(self, path: str, *, check: str = "sample", wait_s: float | None = None) -> Snapshot:
        """Put a snapshot in the place of the index; the next question or `index` takes in what differs here.

        One that is signed by a key of `team.keys` is believed. Of others each text is compared with its file, and a
        sample of what was made of it is made again; with `check` "all", everything. Raises IndexingError for one that
        is refused, LockedError as `index` does, SourceError, SettingsError, ProviderError; the index stays as it was.
        """
        from codefathom.project.stores.snapshot import checked_snapshot, extent_named

        self.current.refuse_fleet("takes no index from elsewhere")
        extent = extent_named(check)
        with self.current.lock:
            opened = self.current.opened
            with (
                writer_lock(opened.place.index_folder, wait_s=self.current.wait_s(wait_s)),
                checked_snapshot(opened, os.path.abspath(path), extent) as checked,
            ):
                self.current.close()
                if not checked.put_in_place(self.current.place):
                    self.current.on_wait(not_remembered(self.current.place))
                return checked.snapshot
