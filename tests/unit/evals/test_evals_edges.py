"""The table of edges that were checked by hand: its form, and what is counted of it."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from evals.edges import TABLE, CheckedEdge, read_table, report


def test_the_table_has_a_hundred_edges_of_five_languages_and_both_certainties() -> None:
    table = read_table(TABLE)
    languages = Counter((edge.language, edge.certainty) for edge in table)
    assert len(table) >= 100
    assert len({language for language, _ in languages}) >= 5
    assert all(
        languages[language, certainty] >= 2
        for language, certainty in product({one for one, _ in languages}, ("exact", "by-name"))
    )
    assert len({(edge.repository, edge.symbol, edge.path, edge.line, edge.name) for edge in table}) == len(table)
    assert all(len(edge.commit) == 40 and edge.line > 0 for edge in table)


def edge(language: str, verdict: str) -> CheckedEdge:
    return CheckedEdge("a", "c", language, "exact", 1, "A.f", "a.py", 1, "f", verdict)


def test_edges_are_counted_as_they_are_known_today() -> None:
    table = [
        edge("go", "right"),
        edge("go", "wrong"),
        edge("python", "right"),
        edge("go", "right"),
        edge("go", "wrong"),
    ]
    assert report(table, ["exact", "exact", "by-name", "", ""])[2:] == [
        "| go | 1 of 2 | 0 of 0 | 1 | 1 |",
        "| python | 0 of 0 | 1 of 1 | 0 | 0 |",
        "| all | 1 of 2 | 1 of 1 | 1 | 1 |",
    ]


def test_a_verdict_that_is_none_is_an_error(tmp_path: Path) -> None:
    lines = TABLE.read_text().split("\n")[:2]
    (tmp_path / "edges.tsv").write_text("\n".join([lines[0], lines[1].rpartition("\t")[0] + "\tperhaps"]))
    with pytest.raises(ValueError, match="perhaps"):
        read_table(tmp_path / "edges.tsv")
