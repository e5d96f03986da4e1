"""One writer at a time, in all processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.waiting import LONG_S, Started, join

from codefathom.errors import IndexingError, LockedError
from codefathom.stores.lock import WriterLock, writer_lock
from codefathom.types import RunProgress

HOLDER = """
import sys, time
from codefathom.stores.lock import WriterLock, writer_lock
from codefathom.types import RunProgress
with writer_lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(3600)
"""


def test_is_free_again_after_use_and_after_an_error(tmp_path: Path) -> None:
    with writer_lock(str(tmp_path)):
        pass
    with pytest.raises(ZeroDivisionError), writer_lock(str(tmp_path)):
        raise ZeroDivisionError
    with writer_lock(str(tmp_path)):
        pass


def test_a_second_writer_of_the_same_process_is_refused(tmp_path: Path) -> None:
    with writer_lock(str(tmp_path)):
        with pytest.raises(LockedError, match=f"process {os.getpid()}") as caught, writer_lock(str(tmp_path)):
            pass
        assert caught.value.hint


def test_waits_as_long_as_asked(tmp_path: Path) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with writer_lock(str(tmp_path)):
            entered.set()
            leave.wait(LONG_S)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(LONG_S)
    started = time.monotonic()
    with pytest.raises(LockedError), writer_lock(str(tmp_path), wait_s=0.12):
        pass
    assert time.monotonic() - started >= 0.12
    threading.Timer(0.05, leave.set).start()
    with writer_lock(str(tmp_path), wait_s=LONG_S):
        assert not entered.wait(0) or leave.is_set()
    join(holder)


def test_names_another_process_and_outlives_its_death(tmp_path: Path) -> None:
    with Started([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(LockedError, match=f"process {child.pid}"), writer_lock(str(tmp_path)):
            pass
        child.kill()
    with writer_lock(str(tmp_path)):
        assert str(os.getpid()) in (tmp_path / "write.lock").read_text()
    assert (tmp_path / "write.lock").read_text() == ""


def test_a_folder_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(IndexingError, match="missing"), writer_lock(str(tmp_path / "missing")):
        pass


def test_a_reader_sees_how_far_the_holder_is_and_keeps_nobody_out(tmp_path: Path) -> None:
    holder, reader = WriterLock(str(tmp_path)), WriterLock(str(tmp_path))
    assert reader.progress() is None
    assert holder.acquire()
    assert reader.progress() == RunProgress()
    for n_done in (0, 7, 63, 100):
        holder.tell(RunProgress(n_done, 100))
        assert reader.progress() == RunProgress(n_done, 100)
        assert reader.holder().startswith(f"process {os.getpid()}")
        assert "files" not in reader.holder()
    assert holder.progress() is None  # it is nobody else's
    holder.release()
    assert reader.progress() is None
    with writer_lock(str(tmp_path)):
        assert reader.progress() == RunProgress()


@pytest.mark.parametrize(
    "text",
    [
        "process 7, 3 of 9 files",  # of a holder that was killed
        "process 7, 3 of 9 files; rm -rf /",
        "process 7, -3 of 9 files",
        "process 7, 3 of 9999999999999999999 files",
        "\x1b[31m63 %",
        "",
    ],
)
def test_a_text_without_a_holder_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "write.lock").write_text(text)
    assert WriterLock(str(tmp_path)).progress() is None
    with writer_lock(str(tmp_path)):
        pass


@pytest.mark.parametrize(
    ("progress", "share"),
    [
        (RunProgress(), ""),
        (RunProgress(0, 9), ", 0 %"),
        (RunProgress(629, 1_000), ", 62 %"),
        (RunProgress(9, 9), ", 100 %"),
    ],
)
def test_a_share_is_never_more_than_it_is(progress: RunProgress, share: str) -> None:
    assert progress.share == share
