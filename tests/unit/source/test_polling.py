"""Polling hands on a tree that has come to rest. Time passes only when it sleeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codefathom.source.scan import Scan, ScanRules, scan
from codefathom.source.watching.debounce import LOCKED_S
from codefathom.source.watching.polling import MAX_WAIT_S, poll


class Clock:
    """Does the next step of a script at each sleep, and stops the watcher when the script has ended."""

    def __init__(self, *steps: Callable[[], object] | None) -> None:
        self.now = 0.0
        self.steps = list(steps)
        self.sleeps: list[float] = []
        self.is_locked = False

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.sleeps.append(seconds)
        if self.steps and (step := self.steps.pop(0)):
            step()

    def watch(self, root: Path, rules: ScanRules | None = None) -> Iterator[Scan]:
        has_ended = lambda: not self.steps  # noqa: E731
        look = lambda: scan(str(root), rules or ScanRules())  # noqa: E731
        return poll(look, 0.5, has_ended, sleep=self.sleep, clock=lambda: self.now, is_locked=lambda: self.is_locked)


def sizes(seen: Scan) -> dict[str, int]:
    return {file.path: file.size for file in seen.files}


def writer(path: Path, text: str) -> Callable[[], object]:
    return lambda: path.write_text(text)


def test_it_begins_with_the_tree_as_it_is_and_is_quiet_while_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    clock = Clock(None, None, None)
    assert [sizes(seen) for seen in clock.watch(tmp_path)] == [{"a.py": 1}]
    assert clock.sleeps == [0.5, 0.5, 0.5]


def test_new_changed_renamed_and_removed_files_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    steps = (writer(file, "1"), writer(file, "22"), lambda: file.rename(tmp_path / "b.py"), (tmp_path / "b.py").unlink)
    clock = Clock(*(part for step in steps for part in (step, None)), None)
    assert [sizes(seen) for seen in clock.watch(tmp_path)] == [{}, {"a.py": 1}, {"a.py": 2}, {"b.py": 2}, {}]


def test_changes_in_a_row_are_handed_on_as_one(tmp_path: Path) -> None:
    writes = [writer(tmp_path / "a.py", "x" * size) for size in range(1, 5)]
    clock = Clock(*writes, None, None)
    assert [sizes(seen) for seen in clock.watch(tmp_path)] == [{}, {"a.py": 4}]


def test_a_tree_that_never_rests_is_handed_on_after_a_while(tmp_path: Path) -> None:
    n_writes = 2 * int(MAX_WAIT_S / 0.5)
    clock = Clock(*(writer(tmp_path / "a.py", "x" * size) for size in range(1, n_writes)))
    seen = [sizes(found)["a.py"] for found in list(clock.watch(tmp_path))[1:]]
    assert len(seen) == 2
    assert seen[0] == MAX_WAIT_S / 0.5 + 1


def test_a_change_that_was_undone_is_no_change(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    clock = Clock(writer(file, "1"), file.unlink, None, None)
    assert [sizes(seen) for seen in clock.watch(tmp_path)] == [{}]


def test_ignored_files_do_not_wake_it(tmp_path: Path) -> None:
    clock = Clock(writer(tmp_path / "a.log", "1"), None, writer(tmp_path / "a.py", "1"), None, None)
    rules = ScanRules(ignore=("*.log",))
    assert [sizes(seen) for seen in clock.watch(tmp_path, rules)] == [{}, {"a.py": 1}]


def test_a_change_made_while_the_caller_works_is_found(tmp_path: Path) -> None:
    clock = Clock(None, None, None, None)
    seen = clock.watch(tmp_path)
    assert sizes(next(seen)) == {}
    (tmp_path / "a.py").write_text("1")
    assert [sizes(found) for found in seen] == [{"a.py": 1}]


def test_a_slow_scan_rests_longer(tmp_path: Path) -> None:
    clock = Clock(None, None)
    ticks = iter(range(0, 1000, 3))  # every look at the clock finds it three seconds on
    look = lambda: scan(str(tmp_path))  # noqa: E731
    list(poll(look, 0.5, lambda: not clock.steps, sleep=clock.sleep, clock=lambda: next(ticks)))
    assert clock.sleeps == [12, 12]


@pytest.mark.parametrize(("n_locked", "told_at"), [(0, 1.0), (6, 4.0), (100, 0.5 + LOCKED_S)])
def test_while_git_writes_nothing_is_handed_on_but_not_for_ever(tmp_path: Path, n_locked: int, told_at: float) -> None:
    clock = Clock()

    def lock(is_locked: bool) -> Callable[[], object]:
        return lambda: setattr(clock, "is_locked", is_locked)

    clock.steps = [writer(tmp_path / "a.py", "1"), *[lock(True)] * n_locked, lock(False), None, None]
    assert [clock.now for _ in clock.watch(tmp_path)][1] == told_at
