"""Worker processes give what this process gives, and a dead one costs nothing but time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from tests.waiting import LONG_S, comes

from codefathom.index import workers
from codefathom.index.plan import FileJob, Recipe
from codefathom.index.prepare import PreparedFile
from codefathom.index.workers import prepare_all, prepare_windows
from codefathom.source.changes import UNKNOWN_SIZE, FileStat
from codefathom.source.large import Survey, opened, survey, windows
from codefathom.system.memory import Allowance
from codefathom.types import Failure, Skipped

N_FILES = 12


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setattr(workers, "MIN_BYTES_FOR_WORKERS", 0)
    monkeypatch.setattr(workers, "_BATCH_FILES", 3)
    for number in range(N_FILES):
        (tmp_path / f"m{number:02}.py").write_text(f"def f{number}(a):\n    return a + {number}\n" * 20)
    (tmp_path / "z.bin").write_bytes(bytes(range(256)) * 8)
    return Recipe(str(tmp_path))


def jobs(recipe: Recipe) -> list[FileJob]:
    return [
        FileJob(FileStat(path.name, path.stat().st_size, path.stat().st_mtime_ns), "")
        for path in sorted(Path(recipe.root).iterdir())
    ]


def flat(batches: object) -> list[object]:
    return [outcome for batch in batches for outcome in batch]


def test_workers_give_what_this_process_gives(recipe: Recipe) -> None:
    here = flat(prepare_all(jobs(recipe), recipe, 0))
    assert len(here) == N_FILES + 1
    assert flat(prepare_all(jobs(recipe), recipe, 3)) == here


@pytest.mark.parametrize("n_workers", [0, 3])
@pytest.mark.parametrize(("free_kb", "most"), [(0, 1), (800, 1), (1_100, 2), (10_000_000, 3)])
def test_where_memory_is_short_batches_shrink_and_results_stay(
    recipe: Recipe, tmp_path_factory: pytest.TempPathFactory, free_kb: int, most: int, n_workers: int
) -> None:
    expected = flat(prepare_all(jobs(recipe), recipe, 0))
    system = tmp_path_factory.mktemp("system")
    (system / "proc").mkdir()
    (system / "proc" / "meminfo").write_text(f"MemAvailable: {free_kb} kB\n")
    batches = list(prepare_all(jobs(recipe), recipe, n_workers, Allowance(str(system))))
    assert flat(batches) == expected
    assert max(map(len, batches)) == most


def test_windows_come_in_order_whoever_prepares_them(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codefathom.source.large.WINDOW_BYTES", 100)
    file = jobs(recipe)[0].file
    large = survey(recipe.root, file)
    assert isinstance(large, Survey)
    prepared = []
    for n_workers in (0, 2):
        with opened(recipe.root, file) as stream:
            assert not isinstance(stream, Skipped)
            prepared.append(list(prepare_windows(windows(stream, large), recipe, n_workers)))
    assert prepared[0] == prepared[1]
    chunks = [piece for part in prepared[0] if isinstance(part, PreparedFile) for piece in part.chunks]
    assert "".join(piece.text for piece in chunks) == Path(recipe.root, file.path).read_text()


def test_a_missing_file_is_a_failure_and_nothing_else_is(recipe: Recipe) -> None:
    todo = [*jobs(recipe), FileJob(FileStat("gone.py", 3, 1), "")]
    outcomes = flat(prepare_all(todo, recipe, 2))
    assert [item.path for item in outcomes if isinstance(item, Failure)] == ["gone.py"]
    assert sum(isinstance(item, PreparedFile) for item in outcomes) == N_FILES


def test_a_worker_killed_in_the_middle_costs_no_result(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = flat(prepare_all(jobs(recipe), recipe, 0))
    pools: list[workers._Pool] = []

    class Watched(workers._Pool):
        def __init__(self, recipe: Recipe, size: int) -> None:
            super().__init__(recipe, size)
            pools.append(self)

    monkeypatch.setattr(workers, "_Pool", Watched)
    outcomes: list[object] = []
    for number, batch in enumerate(prepare_all(jobs(recipe), recipe, 2)):
        outcomes.extend(batch)
        if number == 0:
            for worker in pools[0]._all:
                os.kill(worker._process.pid, signal.SIGKILL)
    assert outcomes == expected


def test_a_worker_killed_before_its_first_batch_costs_no_result(recipe: Recipe) -> None:
    expected = flat(prepare_all(jobs(recipe), recipe, 0))
    worker = workers._Worker(recipe)
    os.kill(worker._process.pid, signal.SIGKILL)
    assert worker.prepare(jobs(recipe)) == expected
    worker._closed = True
    worker.stop()


def test_a_worker_killed_over_a_single_file_costs_no_result(recipe: Recipe) -> None:
    [job] = jobs(recipe)[:1]
    [expected] = flat(prepare_all([job], recipe, 0))
    worker = workers._Worker(recipe)
    os.kill(worker._process.pid, signal.SIGKILL)
    assert worker.prepare([job]) == [expected]
    worker._closed = True
    worker.stop()


def test_a_file_that_kills_every_worker_costs_itself(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = workers._Worker(recipe)
    ask = worker._ask

    def deadly(todo: list[FileJob]) -> list[object] | None:
        if any(job.file.path == "m01.py" for job in todo):
            os.kill(worker._process.pid, signal.SIGKILL)
            worker._process.wait(LONG_S)
        return ask(todo)

    monkeypatch.setattr(worker, "_ask", deadly)
    outcomes = worker.prepare(jobs(recipe))
    assert [item.path for item in outcomes if isinstance(item, Failure)] == ["m01.py"]
    assert len(outcomes) == N_FILES + 1
    worker._closed = True
    worker.stop()


def test_a_reader_that_goes_away_leaves_no_process(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    start = workers._Worker._start

    def noted(self: workers._Worker) -> object:
        process = start(self)
        started.append(process.pid)
        return process

    monkeypatch.setattr(workers._Worker, "_start", noted)
    batches = prepare_all(jobs(recipe), recipe, 2)
    next(batches)
    batches.close()
    assert started
    assert comes(lambda: not any(map(_is_running, started)))  # a killed process needs a moment to be gone


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"  # dead, not yet collected
    except OSError:
        return False


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[workers._Worker]:
    """The workers that were started."""
    started: list[workers._Worker] = []
    start = workers._Worker._start

    def noted(self: workers._Worker) -> object:
        started.append(self)
        return start(self)

    monkeypatch.setattr(workers._Worker, "_start", noted)
    return started


def test_no_process_stays_behind_as_a_zombie(recipe: Recipe, started: list[workers._Worker]) -> None:
    assert flat(prepare_all(jobs(recipe), recipe, 2))
    # Only who has waited for a process knows how it ended.
    assert [worker._process.returncode for worker in started] == [-signal.SIGKILL] * len(started) != []


def test_many_documents_without_a_size_go_to_workers(
    recipe: Recipe, started: list[workers._Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MIN_BYTES_FOR_WORKERS", 2_000 * N_FILES)
    made = [job._replace(file=job.file._replace(size=UNKNOWN_SIZE)) for job in jobs(recipe)]  # as commits are
    assert len(flat(prepare_all(made[:3], recipe, 2))) == 3
    assert not started
    assert len(flat(prepare_all(made, recipe, 2))) == len(made)
    assert started
