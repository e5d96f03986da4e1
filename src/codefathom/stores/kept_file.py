"""What was made of a catalogue and takes long to make, in a file beside it, so that the next process need not make it.

It saves work and nothing else: without the file, or with one of another state of the catalogue, the content is made
again. The state is a random word that each write gives the catalogue: nobody who has not read this very catalogue can
write a file that is believed, and a catalogue that was put back has other words from its next write on.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

from codefathom.errors import IndexingError
from codefathom.stores.folder import File
from codefathom.versions import CONNECTIONS_VERSION

_HEAD = struct.Struct("<16s32s")  # magic, key
_SUM = struct.Struct("<I")
_MAGIC = b"fathom kept 1 %c\n" % sys.byteorder[0].encode()
_LEAST = 1 << 16  # bytes; what is smaller is made again as soon as it is read
_MOST = 1 << 30  # bytes


class Kept(NamedTuple):
    """The content of a file."""

    content: memoryview
    is_present: bool  # else it was made of an earlier state


class KeptFile:
    """The file for one state of a catalogue. Any process may write it: the checksum tells what is no whole one."""

    def __init__(
        self, file: File, kind: str, identity: str, words: Sequence[str], is_sound: Callable[[], bool]
    ) -> None:
        """`kind` names form and version of the content; `words` are those of the latest states, the last one last.

        What was made of rows that were not all sound is not saved.
        """
        self.is_sound = is_sound
        self._file = file
        self._words = tuple(filter(None, words))
        self._kind = f"{CONNECTIONS_VERSION}\n{kind}\n{identity}"

    def load(self) -> Kept | None:
        """Return the content that was saved in this state or a late one before it; None where there is none."""
        if not self._words:
            return None
        with suppress(OSError, IndexingError, struct.error):
            data = self._file.read(_MOST)
            magic, key = _HEAD.unpack_from(data)
            word = next((word for word in reversed(self._words) if self._key(word) == key), "")
            body, checksum = memoryview(data)[_HEAD.size : -_SUM.size], data[-_SUM.size :]
            if magic == _MAGIC and word and _SUM.pack(crc32(body, crc32(key))) == checksum:
                return Kept(body, word == self._words[-1])
        return None

    def goes_on(self, earlier: KeptFile) -> bool:
        """Return True if the state of an earlier file is one of those whose content `load` returns."""
        return bool(earlier._words) and earlier._words[-1] in self._words

    def save(self, parts: Iterable[bytes], *, is_dear: bool = False) -> None:
        """Save content that was made of this state; where nothing can be written, nothing is.

        Little content is not saved, but with `is_dear`: then it took long to make.
        """
        if not self._words or not self.is_sound():
            return
        key, body = self._key(self._words[-1]), b"".join(parts)
        if len(body) < _LEAST and not is_dear:
            return
        with suppress(OSError, IndexingError):
            self._file.replace([_HEAD.pack(_MAGIC, key), body, _SUM.pack(crc32(body, crc32(key)))], lasts=False)

    def _key(self, word: str) -> bytes:
        return blake2b(f"{self._kind}\n{word}".encode("utf-8", "surrogatepass"), digest_size=32).digest()
