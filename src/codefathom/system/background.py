"""Work in a thread of its own, beside other work."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Background(Generic[_T]):
    """One call in a thread that does not keep the process alive."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._results: list[_T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name="background", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def result(self) -> _T:
        """Wait for the end and return the result. Raises the error of the work."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def result_so_far(self, otherwise: _T) -> _T:
        """Return the result, or `otherwise` while the work is not done. Raises the error of the work."""
        return otherwise if self._thread.is_alive() else self.result()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error
