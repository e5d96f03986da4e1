"""Where a project lies: whole paths of the disk in it."""

from __future__ import annotations

import pytest

from codefathom.project.location import path_within


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/shop/web/cart.ts", "web/cart.ts"),
        ("/shop//web/./cart.ts", "web/cart.ts"),
        ("/shop", "."),
        ("/shop/", "."),
        ("/shop/../other/cart.ts", None),
        ("/shopping/cart.ts", None),
        ("web/cart.ts", None),
        ("", None),
    ],
)
def test_a_whole_path_is_written_as_its_folder_has_it(path: str, place: str | None) -> None:
    assert path_within(path, "/shop") == place
