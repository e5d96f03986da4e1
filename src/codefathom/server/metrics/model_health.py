"""The answers of models and stores: asked in the background while somebody looks, and never assumed to work."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Thread

from codefathom.types import Check

_log = logging.getLogger(__name__)
_KEPT_S = 300.0  # a call to a model may cost something
_KEPT_BAD_S = 30.0


@dataclass(frozen=True, slots=True)
class ModelReport:
    """The last answers."""

    checks: Sequence[Check] = ()
    asked_at: float = 0.0  # seconds since the epoch; 0: never


class ModelHealth:
    """The answers of the models, or of the stores, and when they came. Safe to use from several threads."""

    def __init__(
        self, ask: Callable[[], Sequence[Check]], clock: Callable[[], float] = time.time, what: str = "models"
    ) -> None:
        self._ask = ask
        self._what = what
        self._clock = clock
        self._changed = Condition()
        self._is_asking = False
        self._report = ModelReport()

    def forget(self) -> None:
        """Ask again when somebody looks: settings have changed."""
        with self._changed:
            self._report = ModelReport()

    def report(self, *, wait: bool = False) -> ModelReport:
        """Return the last answers; have new ones asked for where these are old. With `wait`, return new ones."""
        with self._changed:
            if wait or self._is_old():
                self._begin()
            if wait:
                self._changed.wait_for(lambda: not self._is_asking)
            return self._report

    def _is_old(self) -> bool:
        kept_s = _KEPT_S if all(check.ok for check in self._report.checks) else _KEPT_BAD_S
        return self._clock() - self._report.asked_at >= kept_s

    def _begin(self) -> None:
        if not self._is_asking:
            self._is_asking = True
            Thread(target=self._look, name="model-health", daemon=True).start()

    def _look(self) -> None:
        try:
            checks = self._ask()
        except Exception as error:  # a thread that ends in silence would leave its readers waiting
            _log.exception("the %s cannot be asked", self._what)
            said = f"the {self._what} cannot be asked: {error}"
            checks = (Check(self._what, False, said, "see the log of the server"),)
        with self._changed:
            self._report = ModelReport(checks, self._clock())
            self._is_asking = False
            self._changed.notify_all()
