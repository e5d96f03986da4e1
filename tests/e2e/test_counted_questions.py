"""A question in an open project opens each folder once and reads values together: counted, no time is measured."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.counted import Steps

from codefathom import Engine
from codefathom.system.real_paths import HAS_OPENAT

N_FILES = 8
_SMALL_VALUES = 11  # statements that read them: most are looks whether something has changed meanwhile


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All statements of the connections that are opened from now on."""
    listed: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(listed.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return listed


@pytest.fixture
def project(tmp_path: Path, statements: list[str]) -> Iterator[Engine]:
    """Files with the word `harbour` in one folder, and in eight. The tree is never looked at again."""
    (tmp_path / ".fathom.toml").write_text('[search]\nrefresh = "never"\n')
    for number in range(N_FILES):
        for folder, word in (("port", "harbour"), (f"sea/bay{number}", "lighthouse")):
            path = tmp_path / folder / f"ship{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f"def moor_{number}():\n    return '{word} of ship {number}'\n\ndef sail_{number}():\n    pass\n"
            )
    with Engine.open(tmp_path) as engine:
        engine.index()
        yield engine


def n_opened(engine: Engine, question: str, limit: int) -> int:
    """Return the number of folders that a question opens; its hits lie in as many files as it may have."""
    engine.search(question, limit=limit)
    steps = Steps()
    sys.setprofile(steps.called)
    try:
        result = engine.search(question, limit=limit)
    finally:
        sys.setprofile(None)
    assert len({hit.chunk.path for hit in result.hits}) == limit
    assert not any(hit.stale for hit in result.hits)
    return steps.functions["open"]


@pytest.mark.skipif(not HAS_OPENAT, reason="no folder is opened on this system")
def test_a_folder_is_opened_once_for_all_hits_in_it(project: Engine) -> None:
    few, many = (n_opened(project, "@port harbour of a ship", limit) for limit in (1, N_FILES))
    assert many == few
    few, many = (n_opened(project, "@sea lighthouse of a ship", limit) for limit in (1, N_FILES))
    assert many - few == N_FILES - 1  # of a folder of its own each


def test_small_values_are_read_together(project: Engine, statements: list[str]) -> None:
    project.search("harbour of a ship")
    statements.clear()
    assert project.search("harbour of a ship").hits
    assert 0 < sum("FROM meta" in one for one in statements) <= _SMALL_VALUES


def test_facts_of_all_hits_are_read_together(project: Engine, statements: list[str]) -> None:
    n_statements = []
    for limit in (1, N_FILES):
        project.search("@port harbour of a ship", limit=limit)
        statements.clear()
        assert len(project.search("@port harbour of a ship", limit=limit).hits) == limit
        n_statements.append(len(statements))
    assert n_statements[0] == n_statements[1]
