"""Following a real tree: by the events of this system, or by polling where there are none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread

import pytest
from tests.waiting import LONG_S, comes, join

from codefathom.errors import SourceError
from codefathom.source.scan import ScanRules
from codefathom.source.watching.debounce import LOCKED_S
from codefathom.source.watching.file_events import NoEventsError, open_events
from codefathom.source.watching.watch import TreeNotice, WatchOptions, watch
from codefathom.source.watching.watched_folders import FileEvent, OwnPlaces

if os.name != "posix" or sys.platform == "darwin":
    pytest.skip("events of Linux", allow_module_level=True)


class Follower:
    """The notices of a tree, taken by a thread."""

    def __init__(self, root: Path, options: WatchOptions) -> None:
        self.notices: list[TreeNotice] = []
        self.errors: list[SourceError] = []
        self.stop = Event()
        self.thread = Thread(target=self._run, args=(root, options))
        self.thread.start()

    def _run(self, root: Path, options: WatchOptions) -> None:
        try:
            for notice in watch(str(root), ScanRules, self.stop.is_set, options):
                self.notices.append(notice)
        except SourceError as error:
            self.errors.append(error)

    def is_told(self, n_before: int) -> bool:
        return comes(lambda: len(self.notices) > n_before)


@contextmanager
def following(root: Path, options: WatchOptions | None = None) -> Iterator[Follower]:
    follower = Follower(root, options or WatchOptions(by="events", interval_s=0.05))
    try:
        assert comes(lambda: follower.notices or follower.errors)
        yield follower
    finally:
        follower.stop.set()
        join(follower.thread)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    for name in ("src/deep", "node_modules/left", ".git/info", "own"):
        (root / name).mkdir(parents=True)
    (root / "src/a.py").write_text("1")
    return root


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("by", ["events", "polling"])
def test_all_kinds_of_changes_are_told(tree: Path, by: str) -> None:
    changes = (
        lambda: write(tree / "src/a.py", "22"),
        lambda: write(tree / "src/new.py"),
        lambda: os.replace(tree / "src/new.py", tree / "src/other.py"),
        lambda: write(tree / "fresh/one/two/three.py"),
        lambda: write(tree / "fresh/one/two/four.py"),
        lambda: os.rename(tree / "fresh", tree / "src/moved"),
        lambda: write(tree / "src/moved/one/two/five.py"),
        lambda: write(tree / ".git/info/exclude", "moved/\n"),
        lambda: write(tree / ".git/info/exclude", ""),
        lambda: write(tree / "src/moved/one/two/six.py"),
        lambda: shutil.rmtree(tree / "src"),
    )
    with following(tree, WatchOptions(by=by, interval_s=0.05)) as follower:
        for change in changes:
            n_before = len(follower.notices)
            change()
            assert follower.is_told(n_before)
        assert {notice.by for notice in follower.notices} == {by}


class Ticks:
    """A clock on which a second passes with each look, so that no change waits."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> float:
        self.n += 1
        return float(self.n)


def test_what_nobody_reads_and_what_is_ours_is_not_told(tree: Path) -> None:
    clock = Ticks()
    options = WatchOptions(by="events", own=OwnPlaces((str(tree / "own"),)), clock=clock)
    with following(tree, options) as follower, closing(open_events([str(tree / ".git")])) as other:
        write(tree / "node_modules/left/index.js")
        write(tree / "node_modules/right/index.js")
        write(tree / ".git/objects/ab/cdef")
        write(tree / ".fathom/catalog.db")
        write(tree / "own/catalog.db")
        write(tree / "own/deep/catalog.db")
        write(tree / ".git/last")
        while FileEvent(str(tree / ".git/last"), "added") not in (other.next(LONG_S) or ()):
            pass
        n_before = clock.n
        assert comes(lambda: clock.n > n_before + 10)
        assert len(follower.notices) == 1
        write(tree / "src/a.py", "22")
        assert follower.is_told(1)


def test_nothing_outside_is_watched_whatever_a_link_leads_to(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tree / "src/link").symlink_to(tmp_path / "outside")
    with following(tree) as follower:
        write(tmp_path / "outside/a.py")
        write(tree / "src/a.py", "22")
        assert follower.is_told(1)
        watched = Path("/proc/self/fdinfo")
        inodes = {
            int(line.split()[2].removeprefix("ino:"), 16)
            for file in watched.iterdir()
            for line in _lines(file)
            if line.startswith("inotify ")
        }
    assert (tree / "src").stat().st_ino in inodes
    assert not inodes & {(tmp_path / "outside").stat().st_ino, (tree / "node_modules").stat().st_ino}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:  # it was closed meanwhile
        return []


def test_while_git_holds_its_lock_nothing_is_told(tree: Path) -> None:
    lock = tree / ".git/index.lock"
    lock.touch()
    with following(tree) as follower:
        write(tree / "src/a.py", "22")
        with closing(open_events([str(tree / "src")])) as later:
            write(tree / "src/b.py")  # the other one has heard of that, too
            assert later.next(LONG_S)
        assert len(follower.notices) == 1 or time.time() > lock.stat().st_mtime + LOCKED_S
        lock.unlink()
        assert follower.is_told(1)


def test_a_lock_that_was_left_behind_is_not_waited_for(tree: Path) -> None:
    lock = tree / ".git/index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    with following(tree) as follower:
        write(tree / "src/a.py", "22")
        assert follower.is_told(1)


def test_looks_without_an_event_do_not_ask_for_the_rules(tree: Path) -> None:
    """Whoever gives the rules may have closed the index meanwhile."""
    asked: dict[str, int] = {"rules": 0, "exclude": 0}

    def rules() -> ScanRules:
        asked["rules"] += 1
        return ScanRules()

    def exclude() -> str:
        asked["exclude"] += 1
        return ""

    clock = count(0.0, 10.0).__next__  # each look is due
    options = WatchOptions(by="events", user_exclude=exclude, clock=clock)
    notices = watch(str(tree), rules, lambda: asked["exclude"] > 5, options)
    next(notices)
    n_before = asked["rules"]
    assert list(notices) == []
    assert asked["rules"] == n_before


@pytest.mark.parametrize("by", ["events", "polling"])
def test_the_end_of_the_folder_is_told(tree: Path, by: str) -> None:
    with following(tree, WatchOptions(by=by, interval_s=0.05)) as follower:
        shutil.rmtree(tree)
        join(follower.thread)
    (error,) = follower.errors
    assert str(tree) in str(error)


def test_another_folder_in_the_place_is_followed(tree: Path) -> None:
    with following(tree) as follower:
        tree.rename(tree.parent / "old")
        n_before = len(follower.notices)
        try:
            write(tree / "b.py")
            assert comes(lambda: follower.errors or len(follower.notices) > n_before)
            if follower.errors:
                pytest.skip("it looked in the moment between")
            n_before = len(follower.notices)
            write(tree / "c.py")
            assert follower.is_told(n_before)
        finally:
            shutil.rmtree(tree, ignore_errors=True)


def test_a_name_that_is_not_utf8_ends_nothing(tree: Path) -> None:
    with following(tree) as follower:
        write(tree / "src/odd\udcff.py")
        assert follower.is_told(1)
        n_before = len(follower.notices)
        write(tree / "src/a.py", "22")
        assert follower.is_told(n_before)
        assert follower.notices[-1].by == "events"


def test_a_root_whose_name_is_not_utf8_is_polled(tmp_path: Path) -> None:
    root = tmp_path / "odd\udcff"
    root.mkdir()
    with following(root) as follower:
        assert follower.notices[0].by == "polling"
        write(root / "a.py")
        assert follower.is_told(1)


class Scarce:
    """Events for so many openings, then none: as where a limit of the system is reached."""

    def __init__(self, n_opened: int) -> None:
        self.left = n_opened

    def __call__(self, folders: Sequence[str]) -> Scarce:
        self.left -= 1
        if self.left < 0:
            raise NoEventsError("the system allows too few watches for 3 folders")
        self.batches: SimpleQueue[frozenset[FileEvent]] = SimpleQueue()
        self.batches.put(frozenset({FileEvent(os.path.join(folders[0], "src"), "added")}))
        return self

    def next(self, timeout_s: float) -> frozenset[FileEvent] | None:
        return None if self.batches.empty() else self.batches.get()

    def close(self) -> None:
        pass


@pytest.mark.parametrize("n_opened", [0, 1])
def test_where_events_are_scarce_it_polls_and_says_so(tree: Path, n_opened: int) -> None:
    options = WatchOptions(by="events", interval_s=0.05, open_events=Scarce(n_opened))
    with following(tree, options) as follower:
        assert comes(lambda: follower.notices[-1].by == "polling")
        assert "too few watches" in follower.notices[-1].reason
        n_before = len(follower.notices)
        write(tree / "src/a.py", "22")
        assert follower.is_told(n_before)


ASK = """
import sys
from codefathom.source.scan import ScanRules
from codefathom.source.watching.watch import WatchOptions, watch
{}
notice = next(iter(watch(sys.argv[1], ScanRules, lambda: False, WatchOptions(by="events"))))
print(notice.by, notice.reason)
"""


def first_notice(root: Path, *before: str, preparation: str = "") -> str:
    words = [*before, sys.executable, "-c", ASK.format(preparation), str(root)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONG_S)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_without_the_library_it_polls_and_says_what_to_install(tree: Path) -> None:
    said = first_notice(tree, preparation="sys.modules['watchfiles'] = None")
    assert said.startswith("polling")
    assert "pip install 'codefathom[watch]'" in said


@pytest.mark.parametrize(
    ("name", "limit", "said"),
    [("watches", 2, "raise fs.inotify.max_user_watches"), ("instances", 0, "raise fs.inotify.max_user_instances")],
)
def test_the_limits_of_the_system_are_named(tree: Path, name: str, limit: int, said: str) -> None:
    """In a name space of its own, so that no other program is limited."""
    inside = ["unshare", "--user", "--map-root-user", "--", "sh", "-c", f'echo {limit} > "$0" && exec "$@"']
    setting = f"/proc/sys/user/max_inotify_{name}"
    if (
        not shutil.which("unshare")
        or subprocess.run([*inside, setting, "true"], check=False, timeout=LONG_S).returncode
    ):
        pytest.skip("name spaces are not allowed here")
    assert said in first_notice(tree, *inside, setting)
