"""Events of the system for the folders of a project, by the library watchfiles. Needs the extra `watch`.

Each folder is watched by itself where the system allows it: told to watch a whole tree, the library follows links on
Linux, out of the project too, and watches folders that nobody reads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Literal, Protocol, TypeAlias

from codefathom.source.watching.watched_folders import FileEvent

_KINDS: dict[int, Literal["added", "changed", "removed"]] = {1: "added", 2: "changed", 3: "removed"}
_GATHER_MS = 100  # for how long changes are put together at most
_STEP_MS = 50  # how often the library looks whether there are some
# Here one watch of the root brings the events of all folders, and follows no link.
_WATCHES_TREES = sys.platform in {"darwin", "win32"}


class NoEventsError(Exception):
    """Events cannot be had; the text says why, for a user."""


class EventSource(Protocol):
    """Events of some folders."""

    def next(self, timeout_s: float) -> frozenset[FileEvent] | None:
        """Wait for events, and return None when there are none for so long.

        Raises NoEventsError when some were lost, and there will be no more.
        """
        ...

    def close(self) -> None:
        """End the watching."""
        ...


# Takes the absolute paths of folders, the root first. Raises NoEventsError, and FileNotFoundError when one has gone.
OpenEvents: TypeAlias = Callable[[Sequence[str]], EventSource]


def open_events(folders: Sequence[str]) -> EventSource:
    """Watch folders, without what lies in them. Raises NoEventsError, and FileNotFoundError when one has gone."""
    try:
        library: Any = import_module("watchfiles._rust_notify")
    except ImportError as error:
        raise NoEventsError("the library watchfiles is not installed; pip install 'codefathom[watch]'") from error
    if not sys.platform.startswith(("linux", "darwin", "win32")):
        raise NoEventsError(f"events are not used on {sys.platform}")
    paths = list(folders[:1] if _WATCHES_TREES else folders)
    try:
        notify = library.RustNotify(paths, False, False, 0, _WATCHES_TREES, False)
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError, ValueError) as error:  # ValueError: a path that is not UTF-8
        raise NoEventsError(_reason(error, len(paths))) from error
    return _Events(notify)


class _Events:
    """The events of one watcher of the library, read by a thread: its own time limit can lose some."""

    def __init__(self, notify: Any) -> None:
        self._notify = notify
        self._stop = Event()
        self._batches: SimpleQueue[frozenset[FileEvent] | NoEventsError] = SimpleQueue()
        Thread(target=self._read, name="file events", daemon=True).start()

    def next(self, timeout_s: float) -> frozenset[FileEvent] | None:
        """See `EventSource`."""
        try:
            batch = self._batches.get(timeout=timeout_s)
        except Empty:
            return None
        if isinstance(batch, NoEventsError):
            raise batch
        return batch

    def close(self) -> None:
        """See `EventSource`."""
        self._stop.set()

    def _read(self) -> None:
        try:
            while not isinstance(batch := self._notify.watch(_GATHER_MS, _STEP_MS, 0, self._stop), str):
                self._batches.put(frozenset(FileEvent(path, _KINDS[kind]) for kind, path in batch))
        except (OSError, RuntimeError) as error:  # such as the event of a file whose name is not UTF-8
            self._batches.put(NoEventsError(f"events were lost: {error}"))
        finally:
            with suppress(RuntimeError):
                self._notify.close()


def _reason(error: Exception, n_folders: int) -> str:
    if "MaxFilesWatch" in str(error) or "os error 28" in str(error):
        return f"the system allows too few watches for {n_folders} folders; raise fs.inotify.max_user_watches"
    if "os error 24" in str(error):
        return "the system allows too few watchers; raise fs.inotify.max_user_instances, or stop other programs"
    return f"the system gives no events: {error}"
