"""How seldom the server looks for objects in circles: nobody gets an answer meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from codefathom.server.run import collect_seldom


@pytest.fixture
def usual() -> Iterator[None]:
    """What the other tests go by, before and afterwards."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.mark.usefixtures("usual")
def test_what_searches_hold_is_not_looked_at_again_and_again() -> None:
    looks = {0: 0, 1: 0, 2: 0}

    def count(phase: str, about: dict[str, int]) -> None:
        looks[about["generation"]] += phase == "start"

    collect_seldom()
    gc.callbacks.append(count)
    try:
        held = [[number] for number in range(400_000)]  # hits of hundreds of searches
    finally:
        gc.callbacks.remove(count)
    assert len(held) == 400_000
    assert (looks[2], looks[0] < 50) == (0, True), looks
