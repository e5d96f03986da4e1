"""The configuration as it is now: read again when its file changes; a file that cannot be used changes nothing."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from codefathom.config.project_file import read
from codefathom.errors import FathomError
from codefathom.server.server_config import ServerConfig
from codefathom.stores.folder import Folder, RefusedError

_log = logging.getLogger(__name__)

LOOK_AGAIN_AFTER_S = 1.0
_KEPT = "settings-in-force.toml"  # in the data folder


class Live:
    """The values in force. Safe to use from several threads."""

    def __init__(
        self,
        config: ServerConfig,
        load: Callable[[], ServerConfig] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with `config`; `load` reads the settings again, without it nothing changes."""
        self.current = config
        self.problem = ""  # why the file, as it is now, is not what is in force
        self._load = load
        self._clock = clock
        self._lock = Lock()
        self._looked_at = clock()
        self._file = config.user_file
        self._stamp = stamp_of(self._file)
        self._content = _content(self._file)  # of the file as it is in force
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call this after each change."""
        self._listeners.append(listener)

    def look(self) -> None:
        """Take over the settings file if it has changed; looks at most once in a second."""
        if self._load is None or self._clock() - self._looked_at < LOOK_AGAIN_AFTER_S:
            return
        with self._lock:
            self._looked_at = self._clock()
            stamp = stamp_of(self._file)
            if stamp == self._stamp:
                return
            self._stamp = stamp
            try:
                loaded = self._load()
            except FathomError as error:
                self.problem = (
                    f"the settings file has changed but cannot be used, so the earlier settings stay in force: {error}"
                )
                _log.warning(self.problem)
                self.current = replace(self.current, user_file=self._kept_file())
                return
            self.problem = ""
            self._content = _content(self._file)
            # These are in use already: where it listens, and where its files lie.
            current = self.current
            self.current = replace(
                loaded, host=current.host, port=current.port, data_dir=current.data_dir, cors=current.cors
            )
        _log.info("the settings were reloaded")
        for listener in self._listeners:
            listener()

    def _kept_file(self) -> str:
        """Return a file with the settings in force: projects read it while the file of the user cannot be used."""
        if self._content is None:
            return ""
        kept = Folder(self.current.data_dir).file(_KEPT)
        try:
            kept.folder.make(private=True)
            kept.replace([self._content], private=True)
        except (OSError, RefusedError) as error:
            _log.warning("the settings in force cannot be written to %s: %s", kept.path, error)
            return self._file
        return kept.path


def _content(path: str) -> bytes | None:
    try:
        content = read(path, follow=True)
    except (OSError, ValueError):
        return None
    return None if content.problem else content.data


def stamp_of(path: str) -> tuple[int, int]:
    """Return a stamp that changes with a file; it is the same for all missing files."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
