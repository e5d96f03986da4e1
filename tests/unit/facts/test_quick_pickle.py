"""Values come out of a pickle as they went in."""

from __future__ import annotations

import pickle
from copy import copy
from dataclasses import FrozenInstanceError, fields

import pytest

from codefathom.facts.quick_pickle import QuickPickle
from codefathom.facts.reasons import Note
from codefathom.types import Chunk, CommitMark, Hit, Rest, SearchPlan, SearchResult

CHUNK = Chunk("1", "a.py", "python", "function", "f", ("f",), 1, 2, "def f():\n    pass\n", column=3)
HIT = Hit(
    CHUNK,
    0.5,
    {"lexical": 0.1},
    (Note("defines", {"name": "f", "parts": (Note("x"),)}),),
    stale=True,
    commit=CommitMark("1a", "2026-11-27", "Ann", "Retry"),
)
RESULT = SearchResult("f", (HIT,), "symbol", "hybrid", 0.9, 7, plan=SearchPlan("graph"), rest=Rest(3, False))


@pytest.mark.parametrize("value", [CHUNK, HIT, RESULT, Rest(1), SearchPlan(), Note("x")])
def test_a_value_comes_back_whole(value: QuickPickle) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy(value)):
        assert again == value
        assert type(again) is type(value)
        # Every field is among those that are written: a field that only a keyword can set would be lost.
        assert type(value).__match_args__ == tuple(one.name for one in fields(value))  # type: ignore[arg-type]
        with pytest.raises(FrozenInstanceError):
            setattr(again, fields(value)[0].name, "")  # type: ignore[arg-type]
    assert not hasattr(value, "__dict__")
