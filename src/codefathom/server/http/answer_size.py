"""Answers of the server within a number of tokens, counted in their JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from codefathom.answer.tokens import estimate
from codefathom.errors import UsageError
from codefathom.text.packing import n_that_fit

_T = TypeVar("_T", bound=str | BaseModel)


def within_tokens(n_items: int, answer: Callable[[int], _T], most: int | None) -> _T:
    """Return the answer with as many first items as have room, all without a limit.

    Raises UsageError where not even the answer without items has room.
    """
    if most is None:
        return answer(n_items)
    shown = answer(n_that_fit(n_items, lambda n: _n_tokens(answer(n)) <= most))
    least = _n_tokens(shown)
    if least > most:
        raise UsageError(
            f"max_tokens {most} is too low: the answer has {least} tokens without any item",
            hint=f"give at least max_tokens {least}",
        )
    return shown


def _n_tokens(answer: str | BaseModel) -> int:
    return estimate(answer if isinstance(answer, str) else answer.model_dump_json())
