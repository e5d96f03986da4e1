"""The fleets of a user by name, each a small file in the user's state folder: no other folder is opened as a fleet."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import NamedTuple

from codefathom.errors import IndexingError, UnwritableError, UsageError
from codefathom.project.location import user_state_dir
from codefathom.stores.folder import Folder

MANIFEST = "fleet.db"
_NAME = re.compile(r"\w[\w.-]{0,59}")
_MAX_BYTES = 20_000
_ENDING = ".json"
# What stays in the folder of a fleet that was removed: what its user has written there, and the lock of the removal.
_LEFT_BEHIND = frozenset({"fathom.toml", "readers.toml", "write.lock"})


class NamedFleet(NamedTuple):
    """A fleet and the folder of its manifest and shards."""

    name: str
    root: str  # a real path


class FleetList:
    """The fleets that have a name."""

    def __init__(self, state_dir: str = "") -> None:
        self._state = state_dir or user_state_dir()
        self._base = Folder(self._state)
        self._folder = self._base.below("fleets")

    def listed(self) -> tuple[NamedFleet, ...]:
        """Return all fleets, by name; a file that cannot be read is left out."""
        names: list[str] = []
        with suppress(OSError, IndexingError):
            names = [name for name in self._folder.names() if name.endswith(_ENDING)]
        return tuple(fleet for name in sorted(names) if (fleet := self._read(name)) is not None)

    def named(self, name: str) -> NamedFleet:
        """Return a fleet. Raises UsageError for a name that no fleet has."""
        listed = self.listed()
        for fleet in listed:
            if fleet.name == name:
                return fleet
        names = ", ".join(fleet.name for fleet in listed)
        raise UsageError(
            f"there is no fleet {name!r}",
            hint=f"write one of {names}" if names else "make one with `fathom fleet add NAME SOURCE`",
        )

    def make(self, name: str, place: str = "") -> NamedFleet:
        """Return the fleet of a name, which is made if there is none: in a folder `place` that is not there, or has no
        more than a removed fleet has left, by default one of the user's state folder.

        Raises UsageError for what cannot be a name or a place, UnwritableError.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} cannot be the name of a fleet",
                hint="use up to 60 letters, digits, dots, dashes and underscores",
            )
        before = next((fleet for fleet in self.listed() if fleet.name == name), None)
        root = os.path.realpath(place or (before.root if before else os.path.join(self._state, "fleet-data", name)))
        if before is not None:
            if before.root != root:
                raise UsageError(f"the fleet {name!r} lies in {before.root!r}", hint="give another name, or no --at")
            return before
        if os.path.isdir(root) and not _LEFT_BEHIND.issuperset(os.listdir(root)):
            raise UsageError(
                f"the fleet cannot be in {root!r}: other files are there",
                hint="give an empty or a new folder with --at",
            )
        self._write(NamedFleet(name, root))
        return NamedFleet(name, root)

    def forget(self, name: str) -> None:
        """Forget the name of a fleet; its folder stays."""
        self._folder.file(f"{name}{_ENDING}").remove()

    def of_root(self, root: str) -> NamedFleet | None:
        """Return the fleet of a folder, which is a real path; None for a folder that is no fleet of this user."""
        if not os.path.isfile(os.path.join(root, MANIFEST)):
            return None
        return next((fleet for fleet in self.listed() if fleet.root == root), None)

    def _read(self, file_name: str) -> NamedFleet | None:
        try:
            content = json.loads(self._folder.file(file_name).read(_MAX_BYTES))
            fleet = NamedFleet(content["name"], content["root"])
        except (OSError, IndexingError, ValueError, KeyError, TypeError):
            return None
        is_sound = isinstance(fleet.name, str) and isinstance(fleet.root, str) and os.path.isabs(fleet.root)
        return fleet if is_sound and f"{fleet.name}{_ENDING}" == file_name else None

    def _write(self, fleet: NamedFleet) -> None:
        try:
            self._base.make(private=True)
            self._folder.make()
            os.makedirs(fleet.root, mode=0o700, exist_ok=True)
            self._folder.file(f"{fleet.name}{_ENDING}").replace([json.dumps(fleet._asdict()).encode()], private=True)
        except OSError as error:
            raise UnwritableError(
                f"cannot write {error.filename or self._folder.path!r}: {error.strerror}",
                hint="set FATHOM_STATE_DIR to another folder, or give one with --at",
            ) from error
