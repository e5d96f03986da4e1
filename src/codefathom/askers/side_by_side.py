"""The same question to several projects at the same time; an error of one is kept beside the answers of the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import TypeVar

from codefathom.errors import FathomError, StoppedError

_MOST_AT_ONCE = 8
_P = TypeVar("_P")
_T = TypeVar("_T")


def outcomes(
    ask: Callable[[_P], _T], projects: Mapping[str, _P], *, most_at_once: int = _MOST_AT_ONCE
) -> tuple[dict[str, _T], dict[str, FathomError]]:
    """Ask each project, and return answers and errors by its name, in the order of the projects.

    Raises StoppedError when nobody waits for them any more.
    """

    def outcome(project: _P) -> _T | FathomError:
        try:
            return ask(project)
        except StoppedError:
            raise
        except FathomError as error:
            return error

    if len(projects) == 1:  # no thread for it: its start takes as long as a look into an index
        listed = [outcome(project) for project in projects.values()]
    else:
        listed = _side_by_side(outcome, projects.values(), most_at_once)
    all_of_them = dict(zip(projects, listed, strict=True))
    failed = {name: item for name, item in all_of_them.items() if isinstance(item, FathomError)}
    return {name: item for name, item in all_of_them.items() if not isinstance(item, FathomError)}, failed


def _side_by_side(outcome: Callable[[_P], _T], projects: Collection[_P], most_at_once: int) -> list[_T]:
    def outcome_in(context: Context, project: _P) -> _T:
        return context.run(outcome, project)

    # Each in the caller's context, which knows for example the span that the work belongs to.
    contexts = [copy_context() for _ in projects]
    with ThreadPoolExecutor(max(min(most_at_once, len(projects)), 1)) as pool:
        return list(pool.map(outcome_in, contexts, projects))
