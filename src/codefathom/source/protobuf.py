"""The wire format of Protocol Buffers, as far as a reader of foreign files needs it. Pure.

A message is a list of fields: a number, a kind, and a value. What is read here came from anybody: no length is believed
before it is compared with what is there, and no group is entered, so nothing nests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED = {FIXED64: 8, FIXED32: 4}
_MOST_BYTES_OF_VARINT = 10


class WireField(NamedTuple):
    """A field of a message: of kind BYTES its place in the data, of kind VARINT its value in `start`."""

    number: int
    kind: int
    start: int
    end: int


class WireError(ValueError):
    """Bytes that are no message; the text says why, and at which byte."""


def varint(data: bytes, place: int, end: int) -> tuple[int, int]:
    """Return a number and the place behind it. Raises WireError."""
    value = shift = 0
    for at in range(place, min(end, place + _MOST_BYTES_OF_VARINT)):
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + 1
        shift += 7
    why = "ends in the middle of a number" if end - place < _MOST_BYTES_OF_VARINT else "has a number of too many bytes"
    raise WireError(f"{why}, at byte {place:,}")


def fields(data: bytes, start: int, end: int) -> Iterator[WireField]:
    """Yield the fields of a message that lies between two places of some bytes. Raises WireError."""
    place = start
    while place < end:
        byte = data[place]
        if byte < 128:
            tag, behind = byte, place + 1
        else:
            tag, behind = varint(data, place, end)
        kind = tag & 7
        if kind == VARINT:
            value, place = varint(data, behind, end)
            yield WireField(tag >> 3, kind, value, place)
            continue
        if kind == BYTES:
            length, behind = varint(data, behind, end)
        else:
            length = _length_of(kind, place)
        if length > end - behind:
            raise WireError(f"has a field of {length:,} bytes where {end - behind:,} are left, at byte {place:,}")
        place = behind + length
        yield WireField(tag >> 3, kind, behind, place)


def _length_of(kind: int, place: int) -> int:
    if kind not in _FIXED:
        raise WireError(f"has a field of the unknown kind {kind}, at byte {place:,}")
    return _FIXED[kind]


def numbers(data: bytes, field: WireField, most: int) -> list[int]:
    """Return the numbers of a repeated field, packed or not; of more than `most` only one more. Raises WireError."""
    if field.kind == VARINT:
        return [field.start]
    if field.kind != BYTES:
        return []
    values: list[int] = []
    place = field.start
    while place < field.end and len(values) <= most:
        value, place = varint(data, place, field.end)
        values.append(value)
    return values
