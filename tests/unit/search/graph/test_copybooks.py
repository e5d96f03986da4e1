"""`COPY` of COBOL leads to the copybook, whatever its case and ending."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom import Engine

PROGRAM = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOP.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY {name}.
"""
BOOK = "       01 CUSTOMER.\n           05 NAME PIC X(9).\n"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("CUSTOMER", "CUSTOMER.cpy"),
        ("CUSTOMER", "copy/CUSTOMER.CPY"),
        ("CUSTOMER", "cpy/customer.cpy"),
        ("customer", "src/CUSTOMER.cpy"),
        ("CUSTOMER", "copylib/CUSTOMER.cbl"),
        ("'copy/customer.cpy'", "copy/customer.cpy"),
    ],
)
def test_copy_leads_to_the_copybook(name: str, path: str, tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").touch()
    for place, text in {"src/shop.cbl": PROGRAM.format(name=name), path: BOOK}.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    with Engine.open(str(tmp_path)) as engine:
        engine.index()
        edges = engine.related(f"@{path}").edges
    assert [(edge.path, edge.kind) for edge in edges] == [("src/shop.cbl", "imported by")]
