"""The members of a class of C++ are symbols that lie in it."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import parsed


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ("int width;", "variable Shop.width"),
        ("int width = 3;", "variable Shop.width"),
        ("int width, *height;", "variable Shop.width, variable Shop.height"),
        ("char **names;", "variable Shop.names"),
        ("std::vector<int> sizes[3];", "variable Shop.sizes"),
        ("Shop& next;", "variable Shop.next"),
        ("int bits : 3;", "variable Shop.bits"),
        ("static int count;", "variable Shop.count"),
        ("static constexpr int MOST = 3;", "constant Shop.MOST"),
        ("void (*opened)(int);", "variable Shop.opened"),
        ("int open(int n);", "method Shop.open"),
        ("Shop& next(int n);", "method Shop.next"),
        ("class Door;", ""),
        ("friend class Door;", ""),
        ("struct { int deep; } inner;", "variable Shop.inner"),
    ],
)
def test_a_member_of_a_class_is_a_symbol(member: str, expected: str) -> None:
    code = f"class Shop {{\n  {member}\n}};\n"
    found = [f"{item.kind} {item.qualified_name}" for item in parsed("cpp", code).symbols]
    assert found == ["class Shop", *filter(None, expected.split(", "))]
