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
from codefathom.stores.lock import writer_lock

HOLDER = """
import sys, time
from codefathom.stores.lock import writer_lock
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
