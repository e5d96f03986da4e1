"""Random changes to the files of an index: what a bad disk, a cut copy or a wrong restore leaves behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

BLOCK = 4_096
# How often a file of each kind is changed; what is not there is left out.
SHARES = {"catalogue": 40, "vectors": 18, "words": 25, "cache": 10, "other": 7}


@dataclass(frozen=True, slots=True)
class Change:
    """One change that was made."""

    kind: str  # of the file
    file: str
    how: str


def kind_of(name: str) -> str:
    """Return what a file below the index folder or the cache belongs to."""
    if "cache" in name:
        return "cache"
    if "catalog.db" in name:
        return "catalogue"
    if "vectors" in name:
        return "vectors"
    return "words" if "lexical" in name else "other"


def damage(folder: Path, older: Path, chance: Random) -> Change:
    """Change one file below `folder` (two, where they are exchanged); `older` holds earlier versions of the same."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    by_kind: dict[str, list[Path]] = {}
    for path in files:
        by_kind.setdefault(kind_of(path.relative_to(folder).as_posix()), []).append(path)
    kinds = sorted(by_kind)
    kind = chance.choices(kinds, [SHARES[kind] for kind in kinds])[0]
    # The large files matter most, the small ones are many.
    file = chance.choices(by_kind[kind], [path.stat().st_size ** 0.3 + 1 for path in by_kind[kind]])[0]
    name = file.relative_to(folder).as_posix()
    while True:
        how = chance.choice(sorted(_CHANGES))
        told = _whole(how, file, folder, older, chance) if how in _WHOLE else _bytes(how, file, chance)
        if told:
            return Change(kind, name, told)


def _bytes(how: str, file: Path, chance: Random) -> str:
    before = file.read_bytes()
    after = _CHANGES[how](before, chance) if before or how == "append" else before
    if after == before:
        return ""
    # In place and with the old time stamp: nothing but the bytes tells.
    status = file.stat()
    with open(file, "r+b") as target:
        target.truncate(0)
        target.write(after)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    return how


def _whole(how: str, file: Path, folder: Path, older: Path, chance: Random) -> str:
    if how == "missing":
        file.unlink()
        return how
    if how == "old":
        earlier = older / file.relative_to(folder)
        if not earlier.exists() or earlier.read_bytes() == file.read_bytes():
            return ""
        shutil.copy2(earlier, file)
        return how
    others = [path for path in folder.rglob("*") if path.is_file() and path.read_bytes() != file.read_bytes()]
    if not others:
        return ""
    other = chance.choice(sorted(others))
    first, second = file.read_bytes(), other.read_bytes()
    file.write_bytes(second)
    other.write_bytes(first)
    return f"exchanged with {other.relative_to(folder).as_posix()}"


def _range(data: bytes, chance: Random) -> tuple[int, int]:
    """Return a place and a length: some bytes anywhere, or whole blocks."""
    if chance.random() < 0.5 and len(data) > BLOCK:
        start = chance.randrange(len(data) // BLOCK) * BLOCK
        return start, BLOCK * chance.choice((1, 1, 2, 4))
    return chance.randrange(len(data)), chance.choice((1, 2, 4, 8, 16, 100, 512, 4_000))


def _filled(byte: bytes) -> Callable[[bytes, Random], bytes]:
    def fill(data: bytes, chance: Random) -> bytes:
        start, length = _range(data, chance)
        length = min(length, len(data) - start)
        return data[:start] + (byte * length if byte else chance.randbytes(length)) + data[start + length :]

    return fill


def _flipped(data: bytes, chance: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 3))):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _swapped(data: bytes, chance: Random) -> bytes:
    size = chance.choice((16, 512, BLOCK))
    n_blocks = len(data) // size
    if n_blocks < 2:
        return data
    one, other = sorted(chance.sample(range(n_blocks), 2))
    first, second = data[one * size : (one + 1) * size], data[other * size : (other + 1) * size]
    return data[: one * size] + second + data[(one + 1) * size : other * size] + first + data[(other + 1) * size :]


_CHANGES: Mapping[str, Callable[[bytes, Random], bytes]] = {
    "bit flipped": _flipped,
    "zeros": _filled(b"\0"),
    "0xFF": _filled(b"\xff"),
    "random": _filled(b""),
    "letter": lambda data, chance: _filled(chance.choice((b"a", b"7", b" ", b"\n")))(data, chance),
    "cut": lambda data, chance: data[: chance.randrange(len(data))],
    "append": lambda data, chance: data + chance.randbytes(chance.choice((1, 100, BLOCK))),
    "swapped": _swapped,
    "old": lambda data, _: data,
    "missing": lambda data, _: data,
    "exchanged": lambda data, _: data,
}
_WHOLE = ("old", "missing", "exchanged")
