"""What writes show otherwise: noted for the latest states, up to a limit, and believed for those alone."""

from __future__ import annotations

import json

from codefathom.stores.catalog import outward
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.outward import OutwardChange, ShownState, shown_after, states_in, with_state


def note_of(*names: str) -> str:
    return json.dumps([{"python": names}, [], {}, {}, {}])


def states(n: int) -> list[ShownState]:
    value, told = "", list[ShownState]()
    for number in range(n):
        value = with_state(told, ShownState(number, f"word{number}", note_of(f"name{number}")))
        told = list(states_in(value, f"word{number}"))
    return told


def test_what_was_shown_after_a_generation_is_that_of_all_later_writes() -> None:
    shown = shown_after(states(5), 2)
    assert shown is not None
    assert shown.names == {("python", "name3"), ("python", "name4")}
    assert not shown_after(states(5), 4)


def test_nothing_is_known_of_states_that_are_forgotten() -> None:
    told = states(outward._MOST_STATES + 5)
    assert len(told) == outward._MOST_STATES
    assert shown_after(told, 4) is None
    assert shown_after(told, 5) is not None


def test_notes_take_bounded_room() -> None:
    told = list[ShownState]()
    for number in range(20):
        note = note_of(*(f"name{number}_{one}" for one in range(1_000)))
        value = with_state(told, ShownState(number, str(number), note))
        assert len(value) <= outward._MOST_CHARS + 9
        told = list(states_in(value, str(number)))
    assert 1 < len(told) < 20


def test_a_note_that_does_not_end_with_the_present_state_is_not_believed() -> None:
    value = with_state((), ShownState(1, "word", ""))
    assert states_in(value, "word")
    assert not states_in(value, "other")
    assert shown_after(states_in(value, "other"), 1) is None


def test_a_damaged_note_is_not_believed() -> None:
    value = with_state((), ShownState(1, "word", note_of("name")))
    assert states_in(value, "word")
    for place in range(len(value)):
        damaged = value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]
        assert not states_in(damaged, "word"), damaged
    assert not states_in("", "word")


def test_imports_of_several_writes_are_joined() -> None:
    forms = [frozenset({ImportForm(name, "", "python")}) for name in "ab"]
    both = OutwardChange(imports={"x.py": forms[0]}, gone={"y.py": "python"}).and_then(
        OutwardChange(imports={"x.py": forms[1]})
    )
    assert both.imports == {"x.py": forms[0] | forms[1]}
    assert both.gone == {"y.py": "python"}


def test_imports_in_another_order_have_all_changed() -> None:
    one, two, three = ("a", "", ""), ("b", "", ""), ("c", "", "")
    assert outward._changed([one, two], [one, three, two]) == {three}
    assert outward._changed([one, two], [two, one]) == {one, two}
    assert outward._changed([one, one, two], [one, two]) == {one}
