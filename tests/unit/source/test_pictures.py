"""A picture is what its bytes say, and one that nobody can show without harm is none."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from codefathom.source.pictures import PictureSize, is_picture_name, picture_size

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x02\xff\xff\xc2\0\x0b\x08"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'>"


def size(width: int, height: int, n: int = 2, order: Literal["big", "little"] = "big") -> bytes:
    return width.to_bytes(n, order) + height.to_bytes(n, order)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (PNG + size(30, 20, 4), ("image/png", 30, 20)),
        (b"GIF89a" + size(30, 20, order="little"), ("image/gif", 30, 20)),
        (JPEG + size(20, 30) + b"\x01", ("image/jpeg", 30, 20)),
        (b"RIFF....WEBPVP8X" + bytes(8) + size(29, 19, 3, "little"), ("image/webp", 30, 20)),
        (b"RIFF....WEBPVP8 " + bytes(10) + size(30, 20, order="little"), ("image/webp", 30, 20)),
        (b"RIFF....WEBPVP8L" + bytes(5) + (29 | 19 << 14).to_bytes(4, "little") + bytes(5), ("image/webp", 30, 20)),
        (SVG, ("image/svg+xml", 0, 0)),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE svg>\n<svg:svg >", ("image/svg+xml", 0, 0)),
    ],
)
def test_the_bytes_say_what_a_picture_is(data: bytes, said: tuple[str, int, int]) -> None:
    assert picture_size(data) == PictureSize(*said)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html><svg>",
        PNG + size(60_000, 60_000, 4),
        b"GIF89a" + size(60_000, 60_000, order="little"),
        JPEG + size(60_000, 60_000) + b"\x01",
        b"\xff\xd8\xff",
        b"\xff\xd8" + b"\xff\xe0\0\0" * 1_000,
        b"RIFF....WEBPVP9 " + bytes(14),
        b'<!DOCTYPE svg [<!ENTITY a "aaaaaaaa">]>' + SVG,
        SVG + b"<use href='#a'/>" * 21,
        SVG + b" " * 1_000_000,
        b"<?a?>" * 30 + SVG,
    ],
)
def test_what_cannot_be_shown_without_harm_is_no_picture(data: bytes) -> None:
    assert picture_size(data) is None


@given(some.sampled_from([PNG, JPEG, b"GIF87a", b"RIFF....WEBPVP8X", b"\xff\xd8\xff", SVG]), some.binary(max_size=60))
def test_any_bytes_have_an_answer(start: bytes, rest: bytes) -> None:
    picture_size(start + rest)


def test_names_of_pictures() -> None:
    assert is_picture_name("docs/Logo.PNG")
    assert not is_picture_name("docs/png")
