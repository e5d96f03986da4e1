"""The files of a version of a shard: what is read of them for their digests."""

from __future__ import annotations

import os
from pathlib import Path
from types import FunctionType
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import n_calls_of

from codefathom.fleet import shard_parts
from codefathom.fleet.shard_parts import PartDigest, VersionBefore, parts_of, wrong_content
from codefathom.stores.catalog.catalog import CATALOGUE
from codefathom.stores.folder import Folder
from codefathom.stores.seal import BLOCK

N_BLOCKS = 40  # of the seal; four of them have a digest together


@pytest.fixture
def before(tmp_path: Path) -> Folder:
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / CATALOGUE).write_bytes(os.urandom(N_BLOCKS * BLOCK - 1_000))
    (tmp_path / "before" / "words").write_bytes(os.urandom(3_000_000))
    return Folder(str(tmp_path / "before"))


def written(before: Folder, place: Path, changes: dict[int, bytes], size: int = 0) -> tuple[Folder, set[int]]:
    """Make a version after another one, with other bytes in its catalogue, and return it with the changed blocks."""
    place.mkdir()
    os.link(Path(before.path, "words"), place / "words")
    content = bytearray(Path(before.path, CATALOGUE).read_bytes())
    for start, piece in changes.items():
        content[start : start + len(piece)] = piece
    if size:
        content = content[:size]
    (place / CATALOGUE).write_bytes(content)
    return Folder(str(place)), {start // BLOCK for start in changes}


@pytest.mark.parametrize(
    ("changes", "size", "n_read"),
    (
        ({}, 0, 0),
        ({5 * BLOCK + 7: b"changed"}, 0, 1),
        ({5 * BLOCK + 7: b"changed", 6 * BLOCK: b"the same digest", 39 * BLOCK: b"last"}, 0, 2),
        ({N_BLOCKS * BLOCK - 1_000: b"longer" * 100_000}, 0, 4),  # the last block, and three more
        ({}, 17 * BLOCK, 1),  # shorter: the last block that is left
    ),
)
def test_only_blocks_that_were_written_are_read(
    before: Folder, tmp_path: Path, changes: dict[int, bytes], size: int, n_read: int
) -> None:
    listed = parts_of(before)
    now, moved = written(before, tmp_path / "now", changes, size)
    parts: list[shard_parts.ShardPart] = []

    def look() -> None:
        parts[:] = parts_of(now, VersionBefore(before, listed, moved))

    assert n_calls_of(cast(FunctionType, shard_parts._digest), look) == 0
    assert n_calls_of(cast(FunctionType, shard_parts._block_digest), look) == n_read
    assert parts == parts_of(now)
    assert wrong_content(now, parts) is None


def test_all_is_read_of_a_catalogue_of_which_nothing_is_known(before: Folder, tmp_path: Path) -> None:
    now, _ = written(before, tmp_path / "now", {BLOCK: b"changed"})
    assert parts_of(now, VersionBefore(before, parts_of(before), None)) == parts_of(now)


def test_what_an_earlier_fathom_has_listed_is_compared_and_made_anew(before: Folder, tmp_path: Path) -> None:
    """It kept one digest of all of a catalogue."""
    plain = PartDigest("")
    plain.update(Path(before.path, CATALOGUE).read_bytes())
    listed = [part._replace(digest=plain.text) if part.name == CATALOGUE else part for part in parts_of(before)]
    assert wrong_content(before, listed) is None
    now, moved = written(before, tmp_path / "now", {BLOCK: b"changed"})
    assert parts_of(now, VersionBefore(before, listed, moved)) == parts_of(now)


def test_a_byte_that_nothing_has_written_differs_from_the_digest(before: Folder, tmp_path: Path) -> None:
    listed = parts_of(before)
    now, _ = written(before, tmp_path / "now", {9 * BLOCK: b"lost by the disk"})
    parts = parts_of(now, VersionBefore(before, listed, ()))
    assert wrong_content(now, parts) is not None


@given(st.lists(st.integers(0, 700_000), max_size=5))
def test_a_digest_does_not_depend_on_the_pieces(sizes: list[int]) -> None:
    content = bytes(sum(sizes))
    for kept in ("", "blocks "):
        whole, pieces = PartDigest(kept), PartDigest(kept)
        whole.update(content)
        for size in sizes:
            pieces.update(bytes(size))
        assert whole.text == pieces.text
