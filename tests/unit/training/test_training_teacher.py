"""The file of the teacher."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from training.weights_file import Pieces, Reader, read_weights

PIECES = ["<s>", "", "</s>", "<unk>", "▁", "▁open", "op", "en", "▁o", "s", "打开"]
SCORES = [0.0, 0.0, 0.0, 0.0, -5.0, -3.0, -2.0, -2.0, -4.0, -1.0, -2.0]


def written_pieces() -> bytes:
    """The tokeniser of the file: ＯPEN's first letter is read as o."""
    text = [piece.encode() for piece in PIECES]
    ends = [0]
    for piece in text:
        ends.append(ends[-1] + len(piece))
    data = struct.pack("<5iQ", len(text), 0, 2, 1, 3, ends[-1])
    data += struct.pack(f"<{len(ends)}I", *ends) + struct.pack(f"<{len(SCORES)}f", *SCORES) + b"".join(text)
    return data + struct.pack("<iIIBI", 1, 9, ord("Ｏ"), 1, ord("o"))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("open", [0, 5, 2]),
        ("opens", [0, 5, 9, 2]),
        ("Ｏpen", [0, 5, 2]),
        ("open  open", [0, 5, 5, 2]),
        ("打开", [0, 4, 10, 2]),
        ("oz", [0, 8, 3, 2]),  # no piece holds a z
    ],
)
def test_a_text_falls_into_its_most_likely_pieces(text: str, numbers: list[int]) -> None:
    assert Pieces(Reader(written_pieces())).of(text) == numbers


def test_tensors_are_read_in_32_and_in_4_bits(tmp_path: Path) -> None:
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 12, 4, 64, 11, 512, 1, 1e-12, 32) + written_pieces()
    nibbles = bytes((15 - n) << 4 | n for n in range(16))  # low half 0, 1, …; high half 15, 14, …
    tensors = {"a.b": struct.pack("<2f", 1.5, -2.0), "a.w": np.float16(0.5).tobytes() + nibbles}
    place = len(head) + 4 + sum(2 + 3 + 21 for _ in tensors)
    table, data = struct.pack("<i", len(tensors)), b""
    for (name, content), numbers in zip(tensors.items(), (2, 32), strict=True):
        table += (
            struct.pack("<H", 3) + name.encode() + struct.pack("<BIQQ", 0, numbers, place + len(data), len(content))
        )
        data += content
    (tmp_path / "weights.bin").write_bytes(head + table + data)
    read = read_weights(tmp_path / "weights.bin")
    assert (read.sizes.width, read.sizes.layers, read.sizes.heads) == (32, 12, 4)
    assert read.tensors["a.b"].tolist() == [1.5, -2.0]
    assert read.tensors["a.w"].tolist() == [(n - 8) / 2 for n in [*range(16), *range(15, -1, -1)]]
