"""Jobs: the queue with scripted processes, and real processes that index."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.waiting import LONG_S, Started

from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.server.http.sse import Channel
from codefathom.server.jobs.job_messages import FileError, Message, Order, Report, Step, Trouble
from codefathom.server.jobs.job_process import Process
from codefathom.server.jobs.job_queue import MOST_ATTEMPTS, Jobs
from codefathom.server.jobs.job_table import IndexJob, JobTable
from codefathom.types import StoreReport

REPORT = Report(2, 0, 0, 0, 0, {}, 2, 5, 3, {"function": 3}, 90, 0.1, 1, "index")


class Scripted:
    """A process that says what the test lets it say."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.is_ended = threading.Event()
        self._says: list[Message] = []
        self._more = threading.Condition()
        self._is_over = False

    def say(self, *messages: Message, over: bool = False) -> None:
        with self._more:
            self._says += messages
            self._is_over = over
            self._more.notify_all()

    def messages(self) -> Iterator[Message]:
        while True:
            with self._more:
                self._more.wait_for(lambda: self._says or self._is_over, LONG_S)
                if not self._says:
                    return
                message = self._says.pop(0)
            yield message

    def end(self) -> None:
        self.is_ended.set()
        self.say(over=True)


class Stage:
    """Starts scripted processes and lets a test wait for them."""

    def __init__(self) -> None:
        self.started: list[Scripted] = []
        self._come = threading.Condition()

    def __call__(self, order: Order) -> Scripted:
        with self._come:
            self.started.append(Scripted(order))
            self._come.notify_all()
        return self.started[-1]

    def wait(self, n: int = 1) -> Scripted:
        with self._come:
            assert self._come.wait_for(lambda: len(self.started) >= n, LONG_S)
        return self.started[n - 1]


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def jobs(tmp_path: Path, stage: Stage) -> Iterator[Jobs]:
    with closing(Jobs(str(tmp_path / "jobs.db"), start=stage)) as jobs:
        yield jobs


def types_of(channel: Channel | None) -> list[str]:
    assert channel is not None
    return [event.type for event in channel.since(0).events]


def wait_until(condition: Callable[[], bool]) -> None:
    """Look again until it is so; the limit is only there for a test that fails."""
    for _ in range(3_000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came")


def test_a_job_runs_tells_its_steps_and_is_done(jobs: Jobs, stage: Stage) -> None:
    job = jobs.submit("p", "/r")
    assert job.state == "running"
    process = stage.wait()
    assert process.order == Order("/r")
    process.say(
        Step("scan"), Step("index", "a.py", 1, 2, 3, 10.0, 0.1), FileError("b.py", "why"), Step("write"), REPORT
    )
    process.say(over=True)
    ended = jobs.wait(job.id, LONG_S)
    assert ended is not None
    assert (ended.state, ended.report, ended.trouble) == ("done", REPORT, None)
    assert ended.errors == (FileError("b.py", "why"),)
    expected = [
        "queued",
        "starting",
        "scan_start",
        "scan_complete",
        "indexing",
        "file_error",
        "saving",
    ]
    channel = jobs.channel(job.id)
    assert types_of(channel) == [*expected, "complete", "done"]
    assert channel is not None
    assert channel.is_closed
    assert '"current_file": "a.py", "current": 1, "total": 2, "percent": 50.0' in channel.since(0).events[4].data


@pytest.mark.parametrize("end", ["cancelled", "dead"])
def test_a_job_whose_index_is_whole_is_done_however_the_first_map_ends(jobs: Jobs, stage: Stage, end: str) -> None:
    job = jobs.submit("p", "/r")
    process = stage.wait()
    process.say(Step("write"), REPORT, Step("map", total=9_000))
    wait_until(lambda: (jobs.get(job.id) or job).step.phase == "map")
    if end == "cancelled":
        jobs.cancel(job.id)
    else:
        process.say(over=True)
    ended = jobs.wait(job.id, LONG_S)
    assert ended is not None
    assert (ended.state, ended.report, ended.trouble) == ("done", REPORT, None)
    assert process.is_ended.is_set() is (end == "cancelled")


def test_progress_can_be_seen_at_any_time(jobs: Jobs, stage: Stage) -> None:
    job = jobs.submit("p", "/r")
    stage.wait().say(Step("index", "a.py", 1, 2))
    wait_until(lambda: (jobs.get(job.id) or job).step.current_file == "a.py")
    assert [found.step.total for found in jobs.listed("p")] == [2]
    assert jobs.latest("p") == jobs.get(job.id)
    assert jobs.latest("other") is None


def test_asking_twice_gives_the_same_job(jobs: Jobs, stage: Stage) -> None:
    first = jobs.submit("p", "/r")
    assert jobs.submit("p", "/r").id == first.id
    assert len(jobs.listed()) == 1


def test_the_jobs_under_way_are_those_of_the_project_that_have_not_ended(jobs: Jobs, stage: Stage) -> None:
    first = jobs.submit("shop", "/shop")
    second = jobs.submit("shop", "/shop", full=True)
    other = jobs.submit("other", "/other")
    assert jobs.active_ids("shop") == {first.id, second.id}
    jobs.cancel(second.id)
    assert jobs.active_ids("shop") == {first.id}
    assert jobs.active_ids("other") == {other.id}
    assert jobs.active_ids("third") == frozenset()


def test_a_full_run_queues_behind_a_smaller_one(jobs: Jobs, stage: Stage) -> None:
    first = jobs.submit("p", "/r")
    full = jobs.submit("p", "/r", full=True)
    assert full.state == "queued"
    assert jobs.submit("p", "/r", full=True).id == full.id
    stage.wait().say(REPORT, over=True)
    assert stage.wait(2).order.full
    assert [job.state for job in jobs.listed()] == ["running", "done"]
    assert jobs.listed(state="done")[0].id == first.id


def test_runs_over_some_repositories_wait_together_and_lose_no_full_look(jobs: Jobs, stage: Stage) -> None:
    running = jobs.submit("p", "/r")
    some = jobs.submit_some("p", "/r", ["shop"])
    assert some.id != running.id
    assert jobs.submit_some("p", "/r", ["auth", "shop"]).only == ("shop", "auth")
    full = jobs.submit_some("p", "/r", ["pay"], full=True)
    assert (full.id != some.id, full.full, full.only) == (True, True, ("pay",))
    assert jobs.submit_some("p", "/r", ["auth"], full=True).id == full.id
    stage.wait().say(REPORT, over=True)
    order = stage.wait(2).order
    assert (order.full, tuple(order.only)) == (False, ("shop", "auth"))


def test_two_jobs_of_one_project_never_run_at_once(tmp_path: Path, stage: Stage) -> None:
    with closing(Jobs(str(tmp_path / "jobs.db"), start=stage, n_at_once=3)) as jobs:
        jobs.submit("p", "/r")
        jobs.submit("p", "/r", full=True)
        jobs.submit("q", "/other")
        stage.wait(2)
        assert [process.order.root for process in stage.started] == ["/r", "/other"]
        assert [job.state for job in jobs.listed("p")] == ["queued", "running"]


def test_no_more_jobs_run_than_allowed(jobs: Jobs, stage: Stage) -> None:
    ids = [jobs.submit(name, f"/{name}").id for name in "abc"]
    for number, job_id in enumerate(ids, 1):
        assert [job.state for job in jobs.listed()].count("running") == 1
        stage.wait(number).say(REPORT, over=True)
        jobs.wait(job_id, LONG_S)
    assert [job.state for job in jobs.listed()] == ["done"] * 3


def test_a_running_job_can_be_cancelled(jobs: Jobs, stage: Stage) -> None:
    job = jobs.submit("p", "/r")
    process = stage.wait()
    cancelled = jobs.cancel(job.id)
    assert cancelled is not None
    assert cancelled.state == "cancelled"
    assert process.is_ended.wait(LONG_S)
    assert types_of(jobs.channel(job.id))[-2:] == ["cancelled", "done"]
    again = jobs.submit("p", "/r")
    assert again.id != job.id
    stage.wait(2).say(REPORT, over=True)
    assert (jobs.wait(again.id, LONG_S) or again).state == "done"
    assert (jobs.get(job.id) or again).state == "cancelled"


def test_a_cancelled_job_keeps_others_out_until_its_process_has_ended(jobs: Jobs, stage: Stage) -> None:
    job = jobs.submit("p", "/r")
    process = stage.wait()
    process.end = lambda: None  # type: ignore[method-assign]  # takes its time
    jobs.cancel(job.id)
    assert jobs.submit("p", "/r").state == "queued"
    process.say(over=True)
    assert stage.wait(2).order.root == "/r"


def test_a_waiting_job_can_be_cancelled(jobs: Jobs, stage: Stage) -> None:
    jobs.submit("p", "/r")
    waiting = jobs.submit("q", "/q")
    jobs.cancel(waiting.id)
    stage.wait().say(REPORT, over=True)
    wait_until(lambda: not any(job.is_active for job in jobs.listed()))
    assert len(stage.started) == 1
    assert (jobs.cancel(waiting.id) or waiting).state == "cancelled"
    assert jobs.cancel("unknown") is None


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([Trouble("SourceError", "no such folder", "give one")], "SourceError"),
        ([], "crashed"),
        ([Report(0, 0, 0, 0, 60, {}, 0, 0, 0, {}, 0, 0.1, 1, "index", paused="60 of 60 files failed")], "paused"),
    ],
)
def test_a_job_that_fails_says_why(jobs: Jobs, stage: Stage, said: list[Message], code: str) -> None:
    job = jobs.submit("p", "/r")
    stage.wait().say(*said, over=True)
    ended = jobs.wait(job.id, LONG_S)
    assert ended is not None
    assert ended.state == "failed"
    assert ended.trouble is not None
    assert ended.trouble.code == code
    assert types_of(jobs.channel(job.id))[-2:] == ["error", "done"]


def test_a_process_that_cannot_be_started_fails_its_job_only(tmp_path: Path) -> None:
    def start(order: Order) -> Scripted:
        raise OSError("no memory")

    with closing(Jobs(str(tmp_path / "jobs.db"), start=start)) as jobs:
        ids = [jobs.submit(name, name).id for name in "ab"]
        assert [(jobs.wait(job_id, LONG_S) or IndexJob("", "", "", False, "queued", 0.0)).state for job_id in ids] == [
            "failed"
        ] * 2


def test_listeners_are_told_after_the_end_was_handled(tmp_path: Path, stage: Stage) -> None:
    seen: list[list[str]] = []
    with closing(
        Jobs(str(tmp_path / "jobs.db"), start=stage, on_end=lambda job: seen.append(types_of(jobs.channel(job.id))))
    ) as jobs:
        job = jobs.submit("p", "/r")
        stage.wait().say(REPORT, over=True)
        jobs.wait(job.id, LONG_S)
    assert seen == [["queued", "starting"]]


def test_a_stopped_server_leaves_its_jobs_to_the_next_one(tmp_path: Path, stage: Stage) -> None:
    path = str(tmp_path / "jobs.db")
    with closing(Jobs(path, start=stage)) as jobs:
        running, waiting = jobs.submit("p", "/r", settings={"search.limit": 3}), jobs.submit("q", "/q", full=True)
        channel = jobs.channel(running.id)
        stage.wait()
    assert stage.started[0].is_ended.is_set()
    assert channel is not None
    assert channel.is_closed
    assert "done" not in types_of(channel)
    with closing(Jobs(path, start=stage)) as jobs:
        assert [job.state for job in jobs.listed()] == ["queued", "queued"]
        jobs.resume()
        stage.wait(2).say(REPORT, over=True)
        stage.wait(3).say(REPORT, over=True)
        assert [(jobs.wait(job.id, LONG_S) or job).state for job in (running, waiting)] == ["done", "done"]
        assert [(process.order.root, process.order.full) for process in stage.started[1:]] == [
            ("/r", False),
            ("/q", True),
        ]
        assert stage.started[1].order.settings == {"search.limit": 3}
        assert (jobs.get(running.id) or waiting).attempts == 1


def test_a_move_is_a_job_beside_a_run_of_the_indexer_and_outlives_the_server(tmp_path: Path, stage: Stage) -> None:
    path, moved = str(tmp_path / "jobs.db"), StoreReport("faiss", 80, 1.0)
    with closing(Jobs(path, start=stage)) as jobs:
        move = jobs.submit("p", "/r", move_to="faiss")
        stage.wait()
        assert jobs.submit("p", "/r", move_to="faiss").id == move.id
        run = jobs.submit("p", "/r")
        assert run.id != move.id
        assert (jobs.latest("p") or move).id == run.id
    with closing(Jobs(path, start=stage)) as jobs:
        jobs.resume()
        stage.wait(2).say(moved, over=True)
        stage.wait(3).say(REPORT, over=True)
        assert [(jobs.wait(job.id, LONG_S) or job).state for job in (move, run)] == ["done", "done"]
        assert [process.order.move_to for process in stage.started] == ["faiss", "faiss", ""]
        assert types_of(jobs.channel(move.id))[-2:] == ["moved", "done"]
        last = jobs.submit("p", "/r", move_to="flat")
        stage.wait(4).say(Trouble("StoreAwayError", "it is away"), over=True)
        assert (jobs.wait(last.id, LONG_S) or last).state == "failed"
    with closing(Jobs(path, start=stage)) as jobs:
        kept = jobs.get(move.id)
        assert kept is not None
        assert (kept.move_to, kept.moved, kept.report) == ("faiss", moved, None)
        assert (jobs.latest("p") or kept).id == run.id  # what its project shows


def test_a_job_that_keeps_killing_the_server_is_given_up(tmp_path: Path, stage: Stage) -> None:
    path = str(tmp_path / "jobs.db")
    with closing(JobTable(path)) as table:
        table.add(IndexJob("bad", "p", "/r", False, "running", 1.0, attempts=MOST_ATTEMPTS))
        table.add(IndexJob("unlucky", "q", "/q", False, "running", 2.0, attempts=MOST_ATTEMPTS - 1))
    with closing(Jobs(path, start=stage)) as jobs:
        jobs.resume()
        stage.wait().say(REPORT, over=True)
        assert (jobs.wait("unlucky", LONG_S) or stage).state == "done"  # type: ignore[union-attr]
        bad = jobs.get("bad")
        assert bad is not None
        assert (bad.state, bad.trouble.code if bad.trouble else "") == ("failed", "interrupted")
        assert types_of(jobs.channel("bad")) == ["error", "done"]


def test_what_is_removed_is_forgotten(jobs: Jobs, stage: Stage) -> None:
    job = jobs.submit("p", "/r")
    process = stage.wait()
    jobs.forget("p")
    assert process.is_ended.wait(LONG_S)
    assert jobs.get(job.id) is None
    assert jobs.listed() == ()


def test_two_servers_do_not_share_their_jobs(jobs: Jobs, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another server uses the data folder"):
        Jobs(str(tmp_path / "jobs.db"))
    jobs.close()
    Jobs(str(tmp_path / "jobs.db")).close()


def test_an_unknown_state_is_refused(jobs: Jobs) -> None:
    with pytest.raises(UsageError, match="'lost' is not a state of a job"):
        jobs.listed(state="lost")
    assert jobs.channel("unknown") is None


# Real processes -------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    for number in range(3):
        (folder / f"part{number}.py").write_text(f"def area_{number}(width, height):\n    return width * height\n")
    return folder


def test_a_process_indexes_and_its_index_can_be_searched(tmp_path: Path, project: Path) -> None:
    with closing(Jobs(str(tmp_path / "data" / "jobs.db"))) as jobs:
        job = jobs.submit("p", str(project))
        ended = jobs.wait(job.id, LONG_S)
        assert ended is not None
        assert ended.trouble is None
        assert ended.report is not None
        assert (ended.report.n_files, ended.report.n_added) == (3, 3)
        told = types_of(jobs.channel(job.id))
        assert [name for name in told if name in {"scan_start", "indexing", "saving", "complete", "done"}] == [
            *("scan_start", "indexing", "indexing", "saving", "complete", "done")
        ]
    with Engine.open(str(project)) as engine:
        assert engine.search("area_1").hits[0].chunk.path == "part1.py"


def test_a_folder_that_is_not_there_fails_with_the_words_of_the_engine(tmp_path: Path) -> None:
    with closing(Jobs(str(tmp_path / "jobs.db"))) as jobs:
        ended = jobs.wait(jobs.submit("p", str(tmp_path / "none")).id, LONG_S)
        assert ended is not None
        assert ended.trouble is not None
        assert ended.trouble.code == "SourceError"
        assert ended.trouble.hint


def test_settings_of_the_project_reach_the_process(tmp_path: Path, project: Path) -> None:
    process = Process(Order(str(project), settings={"source.required_exts": ("part2.py",)}))
    report = list(process.messages())[-1]
    assert isinstance(report, Report)
    assert report.n_files == 1


def test_a_killed_process_fails_the_job_and_the_next_one_succeeds(tmp_path: Path, project: Path) -> None:
    order = Order(str(project))
    process = Process(order)
    process.end()
    trouble = list(process.messages())[-1]
    assert isinstance(trouble, Trouble)
    assert trouble.code == "crashed"
    assert isinstance(list(Process(order).messages())[-1], Report)


def test_a_job_waits_for_another_writer(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        writing = engine.index_events()
        next(writing)  # holds the lock of the writer
        process = Process(Order(str(project)))
        messages = process.messages()
        first = next(messages)
        assert isinstance(first, Step)
        assert first.phase == "waiting"
        assert first.message.startswith(f"the index is being written by {holder()} since ")
        for _ in writing:
            pass
    assert isinstance(list(messages)[-1], Report)


def holder() -> str:
    return f"process {os.getpid()} on {os.uname().nodename}"


@pytest.mark.skipif(sys.platform == "win32", reason="kills with a signal")
def test_a_server_that_is_killed_leaves_no_process_behind(tmp_path: Path, project: Path) -> None:
    program = (
        "import sys; from codefathom.engine import Engine; from codefathom.server.jobs.job_process import Process; "
        "from codefathom.server.jobs.job_messages import Order; engine = Engine.open(sys.argv[1]); "
        "events = engine.index_events(); "
        "next(events); process = Process(Order(sys.argv[1])); messages = process.messages(); next(messages); "
        "print(process.pid, flush=True); sys.stdin.read()"
    )
    server = Started(
        [sys.executable, "-c", program, str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    worker = int(server.stdout.readline())
    os.kill(worker, 0)  # it is there, and waits for the writer's lock
    server.send_signal(signal.SIGKILL)
    server.communicate()

    def is_gone() -> bool:
        try:
            return Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    if Path("/proc").exists():
        wait_until(is_gone)
