"""Removal of an index, with all that is kept of it outside its folder. Files of others stay."""

from __future__ import annotations

from collections.abc import Callable

from codefathom.project.location import OWN_NAMES, Location, index_place
from codefathom.stores.folder import Folder
from codefathom.stores.lock import writer_lock
from codefathom.stores.registry import Registry
from codefathom.stores.write_errors import writing_error


def remove_index(place: Location, *, wait_s: float, leave_store: Callable[[], None] = lambda: None) -> int:
    """Remove the index of a project and return the number of bytes that it took; 0 when there is none.

    `leave_store` removes what a store of other makers has of it, before the index goes.

    What the user's cache holds of the texts stays: other projects share it. Raises LockedError when another process
    goes on writing for `wait_s`, IndexingError.
    """
    folder = place.index_folder
    if not folder.exists():
        return 0
    n_bytes = folder.n_bytes()
    try:
        with writer_lock(folder, wait_s=wait_s):
            leave_store()
            Registry(place.state_dir).forget(index_place(place))
            for name in folder.names():
                if name.startswith(OWN_NAMES):
                    folder.remove(name)
        if not folder.names():
            Folder(folder.base, folder.index_parts[:-1]).remove(folder.index_parts[-1])
    except OSError as error:
        raise writing_error("cannot remove the index", folder, error) from error
    return n_bytes
