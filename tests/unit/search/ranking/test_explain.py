"""A hit says why it is there, in one sentence, and which line to look at first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codefathom.search.ranking.explain import best_line, best_name, named, reason
from codefathom.search.ranking.rank import RankingQuery
from codefathom.types import Chunk

TEXT = """\
# Orders: price them, then keep them.


class Order:
    def add(self, cents):
        self.items.append(cents)

    def price(
        self,
    ) -> int:
        return sum(self.items)
"""
CHUNK = Chunk(
    "1", "shop/orders.py", "python", "class", "", ("Order", "Order.add", "Order.price"), 1, 11, TEXT,
    "class Order\ndef add(self, cents)\ndef price( self, ) -> int",
)  # fmt: skip


def want(words: str, *symbols: str) -> RankingQuery:
    return RankingQuery(tuple(words.split()), symbols, False)


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (want("price"), 8),  # the definition, though an earlier line has the word
        (want("", "price"), 8),
        (want("", "Order.add"), 5),
        (want("", "Order"), 4),
        (want("items"), 6),
        (want("orders price keep"), 1),  # three words count more than a definition
        (want("zebra"), 1),
        (want(""), 1),
    ],
)
def test_the_line_to_look_at(wanted: RankingQuery, line: int) -> None:
    assert best_line(wanted, CHUNK, named(wanted, CHUNK)) == line


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        (want("price"), "Order.price"),
        (want("", "add"), "Order.add"),
        (want("price", "add"), "Order.add"),
        (want("zebra"), "Order"),
        (want("self items append"), "Order.add"),  # the body of it
        (want("sum"), "Order.price"),
        (want("keep them"), "Order"),  # a comment before it
    ],
)
def test_the_symbol_that_is_shown(wanted: RankingQuery, name: str) -> None:
    names = named(wanted, CHUNK)
    assert best_name(CHUNK, names, best_line(wanted, CHUNK, names)) == name


def test_what_begins_in_a_chunk_is_shown_before_what_it_lies_in() -> None:
    inside = replace(CHUNK, symbol="Shop", names=("Shop.add", "Shop.price"))
    assert best_name(inside, named(want("price"), inside), 8) == "Shop.price"
    whole = replace(CHUNK, symbol="Order")
    assert best_name(whole, named(want("price"), whole), 8) == "Order"
    within = replace(CHUNK, symbol="Order.price", names=())
    assert best_name(within, named(want("zebra"), within), 8) == "Order.price"


@pytest.mark.parametrize(
    ("wanted", "signals", "expected"),
    [
        (want("price"), {"matches": 1.0}, "1 match"),
        (want("price"), {"matches": 3.0}, "3 matches"),
        (want("", "add"), {"scope": 1.0}, "defines Order.add"),
        (want(""), {"scope": 1.0}, "inside the scope of the question"),
        (want("price"), {"lexical": 0.5}, "named Order.price; mentions price"),
        (want("cents", "add"), {"definition": 1.0, "vector": 0.9}, "defines Order.add; close in meaning"),
        (want("orders"), {}, "named Order; file orders.py"),
        (want("", "add"), {"frame": 0.8, "definition": 1.0}, "in the stack trace; defines Order.add"),
        (want("zebra"), {}, "weak evidence only"),
    ],
)
def test_the_reason(wanted: RankingQuery, signals: dict[str, float], expected: str) -> None:
    assert reason(wanted, CHUNK, named(wanted, CHUNK), signals) == expected
