"""The constants of an enum are symbols that lie in it."""

from __future__ import annotations

import pytest
from tests.unit.parse.outlines import parsed

WOODS = ["constant Wood.OAK", "constant Wood.PINE"]


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("java", "enum Wood { OAK, PINE(2); int age; }\n", ["enum Wood", *WOODS]),
        (
            "java",
            "enum Wood {\n  OAK { void cut() {} },\n  PINE;\n  void cut() {}\n}\n",
            ["enum Wood", "constant Wood.OAK", "method Wood.cut", "constant Wood.PINE", "method Wood.cut"],
        ),
        ("kotlin", "enum class Wood(val age: Int) {\n    OAK(1),\n    PINE(2);\n}\n", ["enum Wood", *WOODS]),
        ("kotlin", "enum class Wood {\n    OAK, PINE\n}\n", ["enum Wood", *WOODS]),
        ("typescript", "enum Wood { OAK, PINE = 2 }\n", ["enum Wood", *WOODS]),
        ("typescript", "export const enum Wood { OAK = 'oak', 'PINE' = 'pine' }\n", ["enum Wood", *WOODS]),
        ("rust", "enum Wood { OAK, PINE { age: u8 } }\n", ["enum Wood", *WOODS]),
        ("rust", "enum Wood { OAK(u8), PINE = 2 }\n", ["enum Wood", *WOODS]),
        ("c", "enum Wood { OAK, PINE = 2 };\n", ["enum Wood", *WOODS]),
        ("c", "typedef enum { OAK, PINE } Wood;\n", ["enum Wood", *WOODS]),
        ("c", "enum { OAK, PINE };\n", ["constant OAK", "constant PINE"]),
        ("cpp", "enum class Wood : int { OAK, PINE = 2 };\n", ["enum Wood", *WOODS]),
        ("cpp", "class Shop {\n  enum { OAK };\n};\n", ["class Shop", "constant Shop.OAK"]),
        ("swift", "enum Wood { case OAK, PINE(Int) }\n", ["enum Wood", *WOODS]),
        ("swift", "enum Wood: String {\n  case OAK = \"oak\"\n  indirect case PINE(Wood)\n}\n", ["enum Wood", *WOODS]),
        ("csharp", "enum Wood { OAK, PINE = 2 }\n", ["enum Wood", *WOODS]),
        ("php", "<?php enum Wood: string { case OAK = 'o'; case PINE = 'p'; }\n", ["enum Wood", *WOODS]),
        ("dart", "enum Wood { OAK, PINE(2); }\n", ["enum Wood", *WOODS]),
        ("scala", "enum Wood { case OAK, PINE }\n", ["enum Wood", *WOODS]),
        ("scala", "enum Wood {\n  case OAK(age: Int)\n  case PINE\n}\n", ["enum Wood", *WOODS]),
        ("solidity", "contract A { enum B { C } }\n", ["class A", "enum A.B", "constant A.B.C"]),
        ("objc", "enum Wood { OAK, PINE = 2 };\n", ["enum Wood", *WOODS]),
    ],
)  # fmt: skip
def test_a_constant_of_an_enum_is_a_symbol(language: str, code: str, expected: list[str]) -> None:
    assert [f"{item.kind} {item.qualified_name}" for item in parsed(language, code).symbols] == expected


def test_a_constant_has_its_comment_and_its_lines() -> None:
    code = "enum Wood {\n  /** Hard. */\n  OAK(\n    1\n  ),\n  PINE(2)\n}\n"
    oak = parsed("java", code).symbols[1]
    assert (oak.name, oak.start_line, oak.end_line, oak.name_line, oak.doc) == ("OAK", 2, 5, 3, "Hard.")
