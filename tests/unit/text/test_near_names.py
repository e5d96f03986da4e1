"""Names that are spelled like a wrong one."""

from __future__ import annotations

import pytest

from codefathom.text.near_names import near_names

NAMES = ("checkout", "Checkout-Web", "payments", "web")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("chekout", ["checkout", "Checkout-Web"]),
        ("PAYMENT", ["payments"]),
        ("checkout-wbe", ["Checkout-Web", "checkout"]),
        ("zzz", []),
        ("", []),
        ("w" * 100_000, []),
    ],
)
def test_near_names(name: str, near: list[str]) -> None:
    assert near_names(name, NAMES) == near


def test_names_that_differ_in_case_only_are_both_near() -> None:
    assert near_names("shp", ["Shop", "shop", "web"]) == ["Shop", "shop"]
    assert near_names("shp", ["Shop", "shop", "web"], most=1) == ["Shop"]
