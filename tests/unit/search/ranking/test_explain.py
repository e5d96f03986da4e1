"""A hit says why it is there, in one sentence, and which line to look at first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codefathom.facts.reasons import sentence
from codefathom.search.ranking.explain import best_line, best_name, lines, matched_names, reasons
from codefathom.search.ranking.rank import RankingQuery
from codefathom.types import Chunk, Hit

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
        (query_of(""), {"called by": 1.0}, "calls it"),
        (query_of(""), {"called by": 3.0}, "calls it 3 times"),
        (query_of(""), {"references": 2.0}, "uses it 2 times"),
        (query_of(""), {"imported by": 2.0, "calls": 2.0}, "imports it; is called there"),
        (query_of(""), {"imports": 1.0}, "is imported there"),
        (query_of(""), {"overview": 1.0}, "tells what the project is for"),
        (query_of("zebra"), {"named_file": 0.8}, "file orders.py"),
        (query_of("zebra"), {"named_file": 0.0}, "weak evidence only"),
        (query_of("zebra"), {"vector": 0.81}, "close in meaning"),
        (query_of("zebra"), {"vector": 0.8}, "weak evidence only"),
        (query_of("cents"), {"lexical": 0.26}, "mentions cents"),
        (query_of("cents"), {"lexical": 0.25}, "weak evidence only"),
        (query_of("zebra"), {"lexical": 0.9}, "weak evidence only"),
        (query_of("items cents sum self int append"), {"lexical": 0.9}, "mentions items, cents, sum, self"),
        (
            query_of("price add order", "add"),
            {"lexical": 0.9, "definition": 0.8, "vector": 0.9},
            "defines Order.add; named Order.add, Order.price; file orders.py",
        ),
    ],
)
def test_the_reason(query: RankingQuery, signals: dict[str, float], expected: str) -> None:
    assert sentence(reasons(query, CHUNK, matched_names(query, CHUNK), signals, 7)) == expected


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        (
            {"bm25": 4.0, "by_words": 0.25, "by_meaning": 0.5, "scope": 0.0},
            [
                "+0.500 by_meaning 0.500  what the ranking by meaning adds, its weight included",
                "+0.250 by_words 0.250  what the ranking by words adds, its weight included",
                "bm25 4.000  BM25 of the words of the question in it",
                "= 0.750, the sum, is the score",
            ],
        ),
        ({"unheard": 1.0}, ["unheard 1.000"]),
        ({}, []),
    ],
)
def test_what_each_signal_adds_and_its_meaning(signals: dict[str, float], expected: list[str]) -> None:
    assert lines(Hit(CHUNK, 0.75, signals)) == expected


def test_the_score_of_a_ranking_is_shown_as_it_is_made() -> None:
    alone = lines(Hit(CHUNK, 0.5, {"lexical": 1.0, "test": 1.0, "repeat": 1.0}))
    names = [line.split()[1] for line in alone[:-1] if line[0] in "+-"]
    assert set(names) == {"lexical", "test"}
    assert [line for line in alone if "words of the question in it" in line]
    weights = [float(line.split()[0]) for line in alone if line[0] in "+-"]
    assert [abs(weight) for weight in weights] == sorted(map(abs, weights), reverse=True)
    assert alone[-1].startswith(f"= {sum(weights):.3f}; score 1 / (1 + exp((")
    assert "times" not in alone[-1]
    score = float(alone[-1].rpartition("= ")[2])
    again = lines(Hit(CHUNK, 0.5, {"lexical": 1.0, "test": 1.0, "repeat": 0.5, "rerank": 0.7}))
    said = again[-2]
    assert f"= {score:.3f}; times 0.5, because an earlier hit lies in the same file: " in said
    assert float(said.rpartition(": ")[2]) == pytest.approx(score / 2, abs=0.001)
    assert again[-1] == "the reranking model moved it to 0.500"


def test_a_symbol_in_a_comment_is_the_one_behind_it() -> None:
    text = "# keep them\ndef add(self):\n    pass\n# how much\ndef price(self):\n    pass\n"
    chunk = Chunk(
        "1", "a.py", "python", "class", "", ("C.add", "C.price"), 1, 6, text, "def add(self)\ndef price(self)"
    )
    nothing = matched_names(query_of("zebra"), chunk)
    assert [best_name(chunk, nothing, line) for line in range(1, 7)] == [
        "C.add", "C.add", "C.add", "C.price", "C.price", "C.price",
    ]  # fmt: skip
    single = replace(chunk, names=("C.add",), symbol="C")
    assert best_name(single, nothing, 4) == "C.add"
    assert best_name(replace(chunk, names=()), nothing, 4) == ""


def test_a_file_is_named_without_its_folders() -> None:
    deep = replace(CHUNK, path="shop/web/orders.test.py")
    assert sentence(reasons(query_of("zebra"), deep, matched_names(query_of("zebra"), deep), {"named_file": 1.0})) == (
        "file orders.test.py"
    )
