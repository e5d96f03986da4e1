"""One SQLite file for several threads."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from codefathom.errors import IndexingError
from codefathom.stores.database import Database

# Counts up to a number that no machine reaches in the time of a test.
ENDLESS = (
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000000000) "
    "SELECT n FROM numbers"
)
LONG_S = 120


def test_what_another_thread_reads_ends_when_the_file_is_closed(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "some.db"))
    database.read("SELECT 1")
    has_begun, errors = Event(), []

    def read() -> None:
        try:
            for (number,) in database.rows(ENDLESS):
                if number == 1_000:
                    has_begun.set()
        except IndexingError as error:
            errors.append(error)

    thread = Thread(target=read, daemon=True)
    thread.start()
    assert has_begun.wait(LONG_S)
    database.close()
    thread.join(LONG_S)
    assert not thread.is_alive()
    assert "closed meanwhile" in str(errors[0])
    with pytest.raises(IndexingError, match="was closed"):
        database.read("SELECT 1")
