"""Errors for a folder of ours that cannot be written: what failed, how much room there is, and what helps."""

from __future__ import annotations

import errno
import os

from codefathom.errors import IndexingError, UnwritableError
from codefathom.stores.folder import Folder
from codefathom.text.printable import size


def writing_error(message: str, folder: Folder, error: OSError) -> IndexingError:
    """Return an error for the user: the failed action and its cause; for a full disk its folder and free space."""
    if error.errno in _NO_ROOM:
        return no_room(message, folder)
    kind = UnwritableError if error.errno in _NO_RIGHT else IndexingError
    return kind(
        f"{message} in {folder.path!r}: {error.strerror or error}",
        hint="give yourself the right to write there, or set FATHOM_INDEX_DIR to a folder that can be written",
    )


def no_room(message: str, folder: Folder) -> UnwritableError:
    """Return the error of a full disk. The index before is whole: each change is made at once or not at all."""
    return UnwritableError(
        f"{message}: no room on the disk of {folder.path!r}, {free_text(folder)} free; the index is as it was before",
        hint="make room on this disk (or raise your quota), then try again",
    )


def free_bytes(folder: Folder) -> int | None:
    """Return the free bytes on the disk of a folder; None where the system does not tell."""
    place = folder.path
    while not os.path.isdir(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    import shutil  # noqa: PLC0415 -- a search must not pay for it

    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None


def free_text(folder: Folder) -> str:
    """Return the free space on the disk of a folder, in words."""
    free = free_bytes(folder)
    return "an unknown amount" if free is None else size(free)


_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_RIGHT = {errno.EROFS, errno.EACCES, errno.EPERM}
