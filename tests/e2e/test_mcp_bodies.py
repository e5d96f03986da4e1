"""A budget that an agent names is used: the first hits come whole, so that it need not read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.test_mcp import answers, call

from codefathom.answer.tokens import estimate
from codefathom.engine import Engine

LONG = "def parcel_weight(order):\n" + "".join(f"    grams_{n} = order.grams({n})  # ö\n" for n in range(300))
SHORT = '''class Parcel:
    """A parcel on its way."""

    def cost_of_shipping(self, order):
        """Return the cost of shipping an order."""
        rate = self.rate_of(order.country)
        if order.is_heavy:
            rate *= 2
        if order.is_fragile:
            rate += 300
        for extra in order.extras:
            rate += extra.cents
        return rate
'''
LAST = "        return rate"
QUESTION = "cost of shipping an order"


@pytest.fixture
def parcels(tmp_path: Path) -> Path:
    root = tmp_path / "parcels"
    root.mkdir()
    (root / "shipping.py").write_text(SHORT)
    (root / "weights.py").write_text(LONG)
    (root / "keys.py").write_text(
        "def shipping_login(order):\n    '''Log in to see the cost of shipping an order.'''\n"
        "    connect(order)\n    check(order)\n    again(order)\n    more(order)\n"
        '    password = "hunter2-Xk9#qqPz81LmTfW"\n    return password\n'
    )
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


def sizes(result: dict) -> tuple[int, int]:
    return estimate(result["content"][0]["text"]), estimate(json.dumps(result["structuredContent"], ensure_ascii=False))


def test_a_budget_that_is_named_brings_whole_symbols(parcels: Path) -> None:
    told = answers(parcels, call(1, "search", query=QUESTION), call(2, "search", query=QUESTION, max_tokens=1_500))
    usual, large = told[1], told[2]
    (usual_hits, hits) = (one["result"]["structuredContent"]["hits"] for one in (usual, large))
    assert [hit["path"] for hit in hits] == [hit["path"] for hit in usual_hits], "no hit has made room"
    first = next(hit for hit in hits if hit["path"] == "shipping.py")
    assert LAST in first["text"]
    assert f"13:{LAST}" in large["result"]["content"][0]["text"]
    assert LAST not in usual["result"]["content"][0]["text"], "the usual answer stays short"


def test_bodies_have_marks_in_the_place_of_secrets(parcels: Path) -> None:
    result = answers(parcels, call(1, "search", query=QUESTION, max_tokens=20_000))[1]["result"]
    text = json.dumps(result)
    assert "return password" in text
    assert "hunter2" not in text
    assert result["structuredContent"]["masked"] == 1


def test_every_budget_is_kept_and_a_body_has_no_second_copy(parcels: Path) -> None:
    budgets = [200, 230, 260, 300, 350, 400, 500, 700, 1_000, 3_000, 8_000, 20_000]
    calls = [call(most, "search", query="weight of a parcel and cost of shipping", max_tokens=most) for most in budgets]
    found = answers(parcels, *calls)
    lengths = []
    for most in budgets:
        result = found[most]["result"]
        assert max(sizes(result)) <= most
        lengths.append(sizes(result)[0])
    assert lengths[-1] > 3_000, "the long function is whole"
    assert json.dumps(found[20_000]["result"]["structuredContent"]).count("grams_299") <= 1


def test_bodies_come_from_the_file_as_it_is_now(parcels: Path) -> None:
    (parcels / "shipping.py").write_text(SHORT.replace("rate += 300", "rate += 400"))
    result = answers(parcels, call(1, "search", query=QUESTION, max_tokens=2_000))[1]["result"]
    assert "rate += 400" in result["content"][0]["text"]


def test_several_projects_give_bodies_too(parcels: Path) -> None:
    result = answers(parcels, call(1, "search", query=QUESTION, max_tokens=2_000, projects=[str(parcels)]))[1]["result"]
    assert LAST in result["content"][0]["text"]
