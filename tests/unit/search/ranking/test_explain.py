"""A hit says why it is there, in one sentence, and which line to look at first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codefathom.facts.reasons import sentence
from codefathom.search.ranking.explain import best_line, best_name, matched_names, reasons
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


def query_of(words: str, *symbols: str) -> RankingQuery:
    return RankingQuery(tuple(words.split()), symbols, False)


@pytest.mark.parametrize(
    ("query", "line"),
    [
        (query_of("price"), 8),  # the definition, though an earlier line has the word
        (query_of("", "price"), 8),
        (query_of("", "Order.add"), 5),
        (query_of("", "Order"), 4),
        (query_of("items"), 6),
        (query_of("orders price keep"), 1),  # three words count more than a definition
        (query_of("zebra"), 1),
        (query_of(""), 1),
    ],
)
def test_the_line_to_look_at(query: RankingQuery, line: int) -> None:
    assert best_line(query, CHUNK, matched_names(query, CHUNK)) == line


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (query_of("price"), "Order.price"),
        (query_of("", "add"), "Order.add"),
        (query_of("price", "add"), "Order.add"),
        (query_of("zebra"), "Order"),
        (query_of("self items append"), "Order.add"),  # the body of it
        (query_of("sum"), "Order.price"),
        (query_of("keep them"), "Order"),  # a comment before it
    ],
)
def test_the_symbol_that_is_shown(query: RankingQuery, name: str) -> None:
    names = matched_names(query, CHUNK)
    assert best_name(CHUNK, names, best_line(query, CHUNK, names)) == name


def test_what_begins_in_a_chunk_is_shown_before_what_it_lies_in() -> None:
    inside = replace(CHUNK, symbol="Shop", names=("Shop.add", "Shop.price"))
    assert best_name(inside, matched_names(query_of("price"), inside), 8) == "Shop.price"
    whole = replace(CHUNK, symbol="Order")
    assert best_name(whole, matched_names(query_of("price"), whole), 8) == "Order"
    within = replace(CHUNK, symbol="Order.price", names=())
    assert best_name(within, matched_names(query_of("zebra"), within), 8) == "Order.price"


@pytest.mark.parametrize(
    ("query", "signals", "expected"),
    [
        (query_of("price"), {"matches": 1.0}, "1 match, in line 7"),
        (query_of("price"), {"matches": 3.0}, "3 matches, the first in line 7"),
        (query_of("", "add"), {"scope": 1.0}, "defines Order.add"),
        (query_of(""), {"scope": 1.0}, "inside the scope of the question"),
        (query_of("price"), {"lexical": 0.5}, "named Order.price; mentions price"),
        (query_of("cents", "add"), {"definition": 1.0, "vector": 0.9}, "defines Order.add; close in meaning"),
        (query_of("orders"), {}, "named Order; file orders.py"),
        (query_of("", "add"), {"frame": 0.8, "definition": 1.0}, "in the stack trace; defines Order.add"),
        (query_of("zebra"), {}, "weak evidence only"),
    ],
)
def test_the_reason(query: RankingQuery, signals: dict[str, float], expected: str) -> None:
    assert sentence(reasons(query, CHUNK, matched_names(query, CHUNK), signals, 7)) == expected
