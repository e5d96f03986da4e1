"""Opened engines: a few at a time, each for as many threads as like, none closed while one uses it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from codefathom.engine import Engine
from codefathom.project.repository_sight import RepositorySight

_Key: TypeAlias = tuple[str, RepositorySight | None]  # a project, and what its readers may see of it


@dataclass
class _Entry:
    engine: Engine
    n_users: int = 0
    is_dropped: bool = False


class OpenedEngines:
    """The engines that were used last. Safe to use from several threads."""

    def __init__(self, most: Callable[[], int], open_engine: Callable[[str, RepositorySight | None], Engine]) -> None:
        """Keep as many as `most` says at the time; more, while more are used at once.

        `open_engine` opens a project by its id, for readers who may see all or some of it.
        """
        self._most = most
        self._open_engine = open_engine
        self._lock = Lock()
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()  # the one used last at the end

    def __len__(self) -> int:
        return len(self._entries)

    @contextmanager
    def lease(self, project_id: str, sight: RepositorySight | None = None) -> Iterator[Engine]:
        """Give the engine of a project for readers of one sight; it is not closed before the end of the block."""
        entry = self._take((project_id, sight))
        try:
            yield entry.engine
        finally:
            self._give_back(entry)

    def holds(self, project_id: str, engine: Engine) -> bool:
        """Return True if the next one that may see as much of a project gets this engine."""
        entry = self._entries.get((project_id, engine.place.sight))
        return entry is not None and entry.engine is engine

    def drop(self, project_id: str) -> None:
        """Close the engines of a project when their last users are done; the next one gets a new engine."""
        with self._lock:
            keys = [key for key in self._entries if key[0] == project_id]
            idle = [engine for key in keys for engine in self._dropped(self._entries.pop(key))]
        _close(idle)

    def drop_all(self) -> None:
        """Close all engines like that: settings have changed."""
        with self._lock:
            idle = [engine for entry in self._entries.values() for engine in self._dropped(entry)]
            self._entries.clear()
        _close(idle)

    close = drop_all

    def _take(self, key: _Key) -> _Entry:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                # Cheap: an engine opens its files at the first question.
                entry = self._entries[key] = _Entry(self._open_engine(*key))
            entry.n_users += 1
            self._entries.move_to_end(key)
            idle = self._too_many()
        _close(idle)
        return entry

    def _give_back(self, entry: _Entry) -> None:
        with self._lock:
            entry.n_users -= 1
            idle = [entry.engine] if entry.is_dropped and not entry.n_users else self._too_many()
        _close(idle)

    def _too_many(self) -> list[Engine]:
        """Take out the idle ones that were used longest ago, until no more than allowed are left."""
        extra = len(self._entries) - self._most()
        idle = [name for name, entry in self._entries.items() if not entry.n_users][: max(extra, 0)]
        return [self._entries.pop(name).engine for name in idle]

    @staticmethod
    def _dropped(entry: _Entry) -> list[Engine]:
        entry.is_dropped = True
        return [] if entry.n_users else [entry.engine]


def _close(engines: list[Engine]) -> None:
    # Outside the lock: closing a file may take a moment.
    for engine in engines:
        engine.close()
