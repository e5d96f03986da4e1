"""What repositories elsewhere have as their newest commits: git is asked for these alone, and nothing is fetched."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import NamedTuple
from urllib.parse import urlsplit

from codefathom.clones.git_copies import RemoteHeads, remote_heads
from codefathom.errors import FathomError
from codefathom.fleet.fleet_clones import FleetClones, RemoteRepository, in_threads
from codefathom.types import Progress

_GAP_S = 0.05  # between two questions, so that a host is not asked for thousands of repositories in one second
_LIMIT_S = 60.0  # for one answer
_MOST_BYTES = 8_000_000  # of one answer
_MOST_SILENT = 4  # failures of a host in a row, after which it is not asked again in this look
# What git says where the host itself fails, and not one of its repositories.
_OF_HOST = re.compile(
    r"resolve host|[Cc]onnect|timed out|not finished|reset by peer|returned error: (?:5\d\d|429)|Could not read from"
)


class HeadsOutcome(NamedTuple):
    """The newest commits of a repository, or the reason why they are not known."""

    heads: RemoteHeads | None
    problem: str = ""
    remedy: str = ""
    is_of_host: bool = False  # its host fails, and not this repository alone


class RemoteLooks:
    """Asks for the newest commits of many repositories, some at a time."""

    def __init__(
        self,
        clones: FleetClones,
        on_progress: Callable[[Progress], None] = lambda _: None,
        *,
        with_branches: bool,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._clones, self._on_progress, self._with_branches = clones, on_progress, with_branches
        self._clock, self._sleep = clock, sleep
        self._lock = Lock()
        self._next_at = 0.0
        self._n_silent: Counter[str] = Counter()  # failures in a row, by host

    def heads(self, repositories: Sequence[RemoteRepository]) -> list[HeadsOutcome]:
        """Return what each repository has, in order."""
        outcomes: dict[int, HeadsOutcome] = {}
        for number, outcome in in_threads(self._outcome, repositories):
            outcomes[number] = outcome
            path = repositories[number].path
            self._on_progress(Progress("scan", len(outcomes), len(repositories), message=path))
        return [outcomes[number] for number in range(len(repositories))]

    def _outcome(self, repository: RemoteRepository) -> HeadsOutcome:
        host = urlsplit(repository.address).netloc or repository.address.partition(":")[0]
        with self._lock:
            is_silent = self._n_silent[host] >= _MOST_SILENT
        if is_silent:
            return HeadsOutcome(None, f"{host} did not answer for others", "it is asked again later", is_of_host=True)
        self._wait_for_turn()
        origin = self._clones.origin_of(repository)
        origin = replace(origin, most_bytes=_MOST_BYTES, limit_s=min(origin.limit_s, _LIMIT_S))
        try:
            with tempfile.TemporaryDirectory(prefix="fathom-") as folder:
                heads = remote_heads(origin, folder, with_branches=self._with_branches)
        except (FathomError, OSError) as error:
            remedy = str(error.hint) if isinstance(error, FathomError) else "see if the disk is full"
            is_of_host = _OF_HOST.search(str(error)) is not None
            with self._lock:
                self._n_silent[host] = self._n_silent[host] + 1 if is_of_host else 0
            return HeadsOutcome(None, str(error), remedy, is_of_host)
        with self._lock:
            self._n_silent[host] = 0
        return HeadsOutcome(heads)

    def _wait_for_turn(self) -> None:
        with self._lock:
            now = self._clock()
            at = max(now, self._next_at)
            self._next_at = at + _GAP_S
        if at > now:
            self._sleep(at - now)
