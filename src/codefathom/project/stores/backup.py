"""Backup of the index of a project, and its way back, both while others search it."""

from __future__ import annotations

import os
import time
from contextlib import closing

from codefathom.errors import IndexingError
from codefathom.project.location import Location, index_place
from codefathom.project.opening import OpenedProject, make_index_folder
from codefathom.stores.catalog.backup_file import restore_backup, write_backup
from codefathom.stores.catalog.catalog import CATALOGUE
from codefathom.stores.lock import writer_lock
from codefathom.stores.registry import Registry
from codefathom.types import Backup


def backup(opened: OpenedProject, path: str) -> Backup:
    """Write the index as it is at this moment to one file.

    Raises IndexingError without an index, and as `write_backup` does.
    """
    if not opened.catalog.generation:
        raise IndexingError("there is no index yet", hint="run `fathom index`, then make the backup")
    with closing(opened.catalog.separate()) as connection:
        sign = Registry(opened.place.state_dir).sign
        return write_backup(connection, path, opened.place.root, time.time_ns(), sign)


def restore(place: Location, path: str, *, wait_s: float) -> tuple[Backup, bool]:
    """Put a backup in the place of the index; return its note, and True if it can be believed.

    What cannot is compared with the files by the next run: a backup that another user, or this one for another folder,
    has made. Processes that have the index open go on with the old one until they look again. Raises LockedError when
    another process goes on writing for `wait_s`, and as `restore_backup` does.
    """
    folder, registry, word = place.index_folder, Registry(place.state_dir), os.urandom(16).hex()
    make_index_folder(folder)
    with writer_lock(folder, wait_s=wait_s):
        restored, is_ours = restore_backup(folder.file(CATALOGUE), path, word, registry.sign)
        return restored, is_ours and restored.root == place.root and registry.add(index_place(place), word)
