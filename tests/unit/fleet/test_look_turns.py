"""What follows a look at the sources of a fleet: which run, and when the next look comes."""

from __future__ import annotations

from codefathom.fleet.look_turns import EVERYTHING, Difference, DueRun, FleetLook, LookTurns
from codefathom.types import Failure


def look(*differences: tuple[str, str], is_blind: bool = False) -> FleetLook:
    return FleetLook(3, tuple(Difference(*item) for item in differences), (), is_blind)


def test_an_unchanged_fleet_asks_for_no_run() -> None:
    turns = LookTurns()
    assert [turns.due(look()) for _ in range(5)] == [None] * 5


def test_what_a_run_has_taken_in_is_forgotten() -> None:
    turns = LookTurns()
    assert turns.due(look(("shop", "a"))) == DueRun(("shop",))
    assert turns.due(look()) is None
    assert turns.due(look(("shop", "a"))) == DueRun(("shop",))


def test_what_no_run_takes_in_is_tried_less_and_less_often() -> None:
    turns = LookTurns()
    tried = [number for number in range(400) if turns.due(look(("shop", "a"))) is not None]
    assert tried == [0, 2, 5, 10, 19, 36, 69, 134, 199, 264, 329, 394]


def test_another_version_is_tried_at_once_and_others_are_not_held_up() -> None:
    turns = LookTurns()
    turns.due(look(("shop", "a")))
    assert turns.due(look(("shop", "a"), ("auth", "x"))) == DueRun(("auth",))
    assert turns.due(look(("shop", "b"), ("auth", "x"))) == DueRun(("shop",))


def test_everything_covers_names() -> None:
    assert LookTurns().due(look(("shop", "a"), (EVERYTHING, "auth is new"))) == DueRun(())


def test_the_time_between_looks_grows_while_nobody_answers() -> None:
    turns = LookTurns()
    pauses = []
    for is_blind in (False, True, True, True, True, False):
        turns.due(look(is_blind=is_blind))
        pauses.append(turns.pause_s(600.0))
    assert pauses == [600.0, 1200.0, 2400.0, 4800.0, 4800.0, 600.0]


def test_failures_are_told_in_a_sentence() -> None:
    failures = (Failure("shop", "gone; check the address"), Failure("auth", "gone"), Failure("docs", "gone"))
    assert look().problem == ""
    assert look()._replace(failures=failures[:1]).problem == "shop: gone; check the address"
    assert look()._replace(failures=failures).problem == (
        "shop: gone; check the address (and 2 more that could not be asked)"
    )
