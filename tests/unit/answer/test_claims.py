"""The label below an answer counts what the answer says, not only what it cites."""

from __future__ import annotations

import pytest

from codefathom.answer.answer_types import Checked, Citation, Dropped, label_of
from codefathom.answer.claims import NOT_IN_SOURCES
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note

HELD = Citation("a.py", 1, 2)
A = HELD.shown
M = "[cited place not found]"


@pytest.mark.parametrize(
    ("text", "n", "n_checked"),
    [
        ("", 0, 0),
        ("Yes.", 0, 0),
        (f"Prices are summed there {A}.", 1, 1),
        (f"Prices are summed there. {A}", 1, 1),
        (f"Prices are summed. The tax is added then {A}.", 2, 2),
        (f"Prices are summed. They are rounded up. The tax is added {A}.", 3, 2),
        (f"Prices are summed {A}. They are rounded up. The tax is added.", 3, 1),
        (f"Prices are summed there.\n\nThe tax is added {A}.", 2, 1),
        (f"Two things happen here:\n- prices are summed {A}\n- tax is added then", 2, 1),
        (f"1. Prices are summed up {A}\n2. The tax is added {A}", 2, 2),
        (f"# How prices are made\n\nPrices are summed there {A}.", 1, 1),
        (f"Where is it summed up? In the shop itself {A}.", 1, 1),
        (f"Prices are summed there.\n\n{A}\n", 1, 1),
        (f"Prices are summed there {M}.", 1, 0),
        (f"Prices are summed there {A}{M}.", 1, 0),
        (f"Prices are summed.\n```\nx = 1\n```\n\n{NOT_IN_SOURCES}\n\nThe tax is added {A}.", 2, 1),
        (f"```\nThis is code and claims nothing.\n```\nPrices are summed there {A}.", 1, 1),
        (f"价格在这里计算{A}。税费随后加上。折扣最后扣除。", 3, 1),
        ("See src/a.py for what is done e.g. there.", 1, 0),
    ],
)
def test_sentences_are_counted(text: str, n: int, n_checked: int) -> None:
    assert Checked(text, (HELD,), ()).claims == (n, n_checked)


INVENTED = "It also talks to a cache in the cloud."


@pytest.mark.parametrize(
    ("text", "n_dropped", "label"),
    [
        (f"Prices are summed there {A}.", 0, "high"),
        (f"Prices are summed there. They are taxed then {A}.", 0, "high"),
        (f"Prices are summed there {A}. {INVENTED}", 0, "medium"),
        (f"Prices are summed there {A}. {' '.join([INVENTED] * 5)}", 0, "low"),
        (" ".join([INVENTED] * 5), 0, "low"),
        (f"Prices are summed there {A}. {' '.join([f'It talks to a cache {M}.'] * 5)}", 5, "low"),
        (f"Prices are summed there {A}. It talks to a cache {M}.", 1, "medium"),
    ],
)
def test_the_label_is_about_the_whole_answer(text: str, n_dropped: int, label: str) -> None:
    places = (HELD,) if A in text else ()
    checked = Checked(text, places, (Dropped("[9]", Note(say.NO_SUCH_NUMBER)),) * n_dropped)
    assert label_of(checked.confidence(1.0)) == label
