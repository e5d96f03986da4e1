"""What a job's process says: each message a line, and how fast it goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom import Engine
from codefathom.search.graph import usual_map
from codefathom.server.jobs.job_child import messages
from codefathom.server.jobs.job_messages import (
    FileError,
    JobPace,
    Message,
    Order,
    Report,
    Step,
    Trouble,
    line_of,
    message_of,
)
from codefathom.stores import kept_file
from codefathom.types import Progress

REPORT = Report(2, 0, 0, 0, 0, {"binary": 1}, 2, 5, 3, {"function": 3}, 90, 0.1, 1, "index", "why")


@pytest.mark.parametrize(
    "message",
    [
        Step("index", "a \ud800\n.py", 1, 2, 3, 1.5, None, "x"),
        FileError("a", "b"),
        REPORT,
        Trouble("code", "text", "hint"),
    ],
)
def test_a_message_is_one_line_and_comes_back(message: Message) -> None:
    line = line_of(message)
    assert line.count("\n") == 1
    assert message_of(line.encode().decode()) == message


@given(st.text())
@settings(max_examples=50)
def test_what_is_no_message_is_none(line: str) -> None:
    assert message_of(line) is None


@pytest.mark.parametrize(
    "line", ['{"kind": "Step", "wrong": 1}', '{"kind": "Other"}', "[]", '{"phase": "scan"}', "1", '{"kind": []}']
)
def test_what_is_nearly_a_message_is_none_too(line: str) -> None:
    assert message_of(line) is None


def test_the_first_files_are_timed_from_the_end_of_the_phase_before() -> None:
    pace = JobPace(100.0)
    scan = pace.step(Progress("scan", 0, 0), 101.0)
    first = pace.step(Progress("index", 20, 100, "a.py", 60), 103.0)
    second = pace.step(Progress("index", 60, 100, "b.py", 180), 105.0)
    write = pace.step(Progress("write", 100, 100, "", 300), 106.0)
    assert (scan.rate, scan.remaining_s) == (0.0, None)
    assert (first.rate, first.remaining_s) == (10.0, 8.0)
    assert (second.rate, second.remaining_s) == (15.0, 2.7)
    assert (second.current_file, second.current, second.total, second.n_chunks) == ("b.py", 60, 100, 180)
    assert write.remaining_s == 0.0


def test_no_time_at_all_is_no_rate() -> None:
    assert JobPace(1.0).step(Progress("index", 1, 2), 1.0) == Step("index", "", 1, 2)


def test_a_file_that_fails_is_told_at_once_and_only_once(tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").touch()
    for number in range(200):
        (tmp_path / f"a{number:03}.py").write_text(f"def f{number}(): pass\n")
    told = []
    for message in messages(Order(str(tmp_path))):
        told.append(message)
        if isinstance(message, Step) and message.phase == "index" and message.current < 100:
            (tmp_path / "a150.py").unlink(missing_ok=True)
    where = told.index(FileError("a150.py", "unreadable"))
    later = told[where + 1 :]
    assert isinstance(later[0], Step)
    assert (later[0].phase, later[-1].n_failed) == ("index", 1)
    assert [message for message in told if isinstance(message, FileError)] == [told[where]]


def test_the_map_of_a_large_project_is_made_at_the_end_of_a_run(
    tmp_path: Path, own_folders: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one takes longer than a request may, so that nobody would ever get it."""
    monkeypatch.setattr(kept_file, "_LEAST", 1)
    monkeypatch.setattr(usual_map, "FOLLOWS_FROM", 2)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(f"def {name}(): ...\n")
    (tmp_path / "fathom.toml").touch()

    def phases() -> list[str]:
        told = list(messages(Order(str(tmp_path))))
        after = told[next(place for place, message in enumerate(told) if isinstance(message, Report)) + 1 :]
        assert all(isinstance(message, Step) and message.phase == "map" for message in after)
        return [message.phase for message in told if isinstance(message, Step)]

    assert phases()[-1] == "map"
    (tmp_path / "d.py").write_text("def d(): ...\n")
    monkeypatch.setattr(usual_map, "_MOST_CHANGED", 1)  # few have changed: the map follows them
    assert "map" not in phases()
    with Engine.open(tmp_path) as engine:
        assert list(engine.rank_files()) == []
        assert "d.py" in {file.path for file in engine.map().files}
    monkeypatch.setattr(usual_map, "FOLLOWS_FROM", 10)
    assert "map" not in phases()
