"""A small set of names that may say "perhaps" of a name it does not have, and never "no" of one it has. Pure.

A shard has one of the names that it defines and uses: a question about a rare name opens only the shards that may have
it. Ten bits for each name and six looks give about one "perhaps" too many in a hundred (Bloom 1970).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

_BITS, _LOOKS = 10, 6
_LEAST = 64  # bytes
_MOST_FULL = 0.55  # of the bits: then three in a hundred are one "perhaps" too many
# SQLite compares names without case in these letters only.
_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


class NameFilter:
    """Names in any case of the letters A to Z."""

    def __init__(self, bits: bytes) -> None:
        self._bits = bits

    @classmethod
    def of(cls, names: Iterable[str]) -> NameFilter:
        """Return the filter of some names."""
        distinct = {name.translate(_LOWER) for name in names}
        return cls(_with(bytearray(max(len(distinct) * _BITS // 8 + 1, _LEAST)), distinct))

    def with_names(self, names: Iterable[str]) -> NameFilter | None:
        """Return the filter of further names, too; None where it would say "perhaps" too often.

        Names that are gone stay in it until it is made anew.
        """
        if not self._bits:
            return None
        bits = _with(bytearray(self._bits), {name.translate(_LOWER) for name in names})
        is_full = int.from_bytes(bits).bit_count() > 8 * _MOST_FULL * len(bits)
        return None if is_full else NameFilter(bits)

    @property
    def content(self) -> bytes:
        """The filter as it is stored."""
        return self._bits

    def may_have(self, name: str) -> bool:
        """Return False if the name is certainly not among the names."""
        places = _places(name.translate(_LOWER), len(self._bits))
        return not self._bits or all(self._bits[place >> 3] >> (place & 7) & 1 for place in places)


def _with(bits: bytearray, names: Iterable[str]) -> bytes:
    for name in names:
        for place in _places(name, len(bits)):
            bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def _places(name: str, n_bytes: int) -> Iterator[int]:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    first, step = int.from_bytes(digest[:8]), int.from_bytes(digest[8:]) | 1
    return ((first + number * step) % (8 * n_bytes) for number in range(_LOOKS)) if n_bytes else iter(())
