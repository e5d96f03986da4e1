"""Entries that a stranger can put into a folder of ours, and a place elsewhere that must stay as it is."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

CONTENT = b"ssh-ed25519 AAAA somebody\n"


class Elsewhere:
    """Files and folders of somebody, and whether they are as they were."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "inner").mkdir(parents=True)
        self.file = path / "authorized_keys"
        self.file.write_bytes(CONTENT)
        self.file.chmod(0o640)
        # Under the names of ours, so that whoever follows a link to the folder finds something to destroy.
        for name in ("state", "meta.json", "vectors.bin", "write.lock", "inner/kept"):
            (path / name).write_bytes(CONTENT)
        self._before = self._state()

    @classmethod
    def of(cls, path: Path) -> Elsewhere:
        """Take a folder as it is now."""
        folder = cls.__new__(cls)
        folder.path = path
        folder.look_again()
        return folder

    def is_untouched(self) -> bool:
        """Whether names, bytes, times and rights are the same as before."""
        return self._state() == self._before

    def look_again(self) -> None:
        """Take what is there now as what must stay: a hard link changes the number of names."""
        self._before = self._state()

    def _state(self) -> list[object]:
        state: list[object] = []
        for path in sorted(self.path.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else None
            state.append((str(path), status.st_mode, status.st_mtime_ns, status.st_size, content))
        return state


Trap = Callable[[Path, Elsewhere], object]


def plant(path: Path, trap: Trap, elsewhere: Elsewhere) -> None:
    """Put a trap at a place, instead of what is there. The folder must be there."""
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(path.name + ".was"))
    else:
        path.unlink(missing_ok=True)
    trap(path, elsewhere)
    elsewhere.look_again()


def _socket(path: Path, _: Elsewhere) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(before)


def _folder(path: Path, elsewhere: Elsewhere) -> None:
    (path / "with" / "more").mkdir(parents=True)
    (path / "link").symlink_to(elsewhere.path)
    (path / "state").symlink_to(elsewhere.file)
    (path / "1").symlink_to(elsewhere.path)


def deep_folder(path: Path, _: Elsewhere) -> None:
    """Make a folder in a folder, and so on, deeper than a path can name."""
    path.mkdir()
    place = os.open(path, os.O_RDONLY)
    for _number in range(1_500):
        os.mkdir("down", dir_fd=place)
        inner = os.open("down", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)


TRAPS: dict[str, Trap] = {
    "link to a file": lambda path, elsewhere: path.symlink_to(elsewhere.file),
    "link to a folder": lambda path, elsewhere: path.symlink_to(elsewhere.path),
    "link to nothing": lambda path, elsewhere: path.symlink_to(elsewhere.path / "new"),
    "link to itself": lambda path, _: path.symlink_to(path.name),
    "hard link": lambda path, elsewhere: path.hardlink_to(elsewhere.file),
    "pipe": lambda path, _: os.mkfifo(path),
    "socket": _socket,
    "folder": _folder,
}


def journal_that_names(path: Path) -> bytes:
    """Return a journal of SQLite of a transaction over several files, which ends with the removal of `path`."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(path).encode()
    header = (magic + struct.pack(">IIIII", 0, 1, 1, 512, 4_096)).ljust(512, b"\0")
    end = struct.pack(">I", 0x40000000 // 4_096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    return header + end
