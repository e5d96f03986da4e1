"""max_tokens over HTTP: no answer has more, as it is sent; the first items stay, and the rest is counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.test_projects import add, index

from codefathom.answer.tokens import estimate

ROUTES: list[tuple[str, dict[str, Any], str]] = [
    ("/search", {"query": "price of an order", "limit": 20}, "hits"),
    ("/federated/search", {"query": "price of an order", "limit": 20}, "hits"),
    ("/symbols", {"project_id": "shop"}, "symbols"),
    ("/federated/symbols", {"query": "price"}, "symbols"),
    ("/federated/symbols", {"project_id": ["shop", "other"]}, "symbols"),
    ("/related", {"project_id": "shop", "target": "shop/pricing.py", "depth": 3}, "edges"),
    ("/federated/related", {"target": "@@total_cents", "depth": 3}, "projects"),
    ("/map", {"project_id": "shop"}, "files"),
    ("/map", {"project_id": "shop", "query": "price of an order"}, "files"),
    ("/federated/map", {"query": "price of an order"}, "files"),
]
ODD = '价格 \u202e <"é\ud83d\ude00>'.encode("utf-16", "surrogatepass").decode("utf-16")


@pytest.fixture
def ready(server: httpx.Client, shop: Path, tmp_path: Path) -> httpx.Client:
    """Two projects with an index, and one without; names and texts that JSON writes as something longer."""
    other, empty = tmp_path / "other", tmp_path / "empty"
    for folder in (other, empty):
        folder.mkdir()
        (folder / "fathom.toml").touch()
    text = "def total_cents():\n    return 0\n\n\n"
    text += "".join(f'def price_{n}():\n    """{ODD}"""\n    return total_cents()\n\n\n' for n in range(30))
    (other / f"price {ODD.strip()}.py".replace("<", "").replace(">", "")).write_text(text, encoding="utf-8")
    for folder in (shop, other):
        index(folder)
    for folder in (shop, other, empty):
        add(server, folder)
    return server


def told(server: httpx.Client, route: str, values: dict[str, Any]) -> httpx.Response:
    return server.post(route, json=values) if route.endswith("search") else server.get(route, params=values)


def items(answer: dict[str, Any], key: str) -> list[Any]:
    """Return the items of an answer; of several projects their edges, and of a map its files and symbols."""
    if key == "projects":
        return [(project["project_id"], edge) for project in answer[key] for edge in project["edges"]]
    if key == "files":
        symbols = [(file["path"], symbol["line"]) for file in answer[key] for symbol in file["symbols"]]
        return [file["path"] for file in answer[key]] + symbols
    return list(answer[key])


def first_of(every: list[Any], shown: list[Any]) -> list[Any]:
    """Return as many first items as are shown; of symbols the first ones of each project, as their pages have them."""
    n_of = Counter(item.get("project_id") for item in shown)
    symbols = shown and "qualified_name" in shown[0]
    if not symbols or len(n_of) < 2:
        return every[: len(shown)]
    return [item for name in n_of for item in [one for one in every if one["project_id"] == name][: n_of[name]]]


@pytest.mark.parametrize(("route", "values", "key"), ROUTES)
def test_no_answer_has_more_tokens(ready: httpx.Client, route: str, values: dict[str, Any], key: str) -> None:
    enough = told(ready, route, {**values, "max_tokens": 1_000_000})
    assert enough.status_code == 200, enough.text
    assert enough.json()["n_left_out"] == 0
    every, most = items(enough.json(), key), estimate(enough.text)
    assert len(every) > 3
    refused = told(ready, route, {**values, "max_tokens": 1})
    assert (refused.status_code, refused.json()["code"]) == (400, "usage")
    (least,) = map(int, re.findall(r"give at least max_tokens (\d+)", refused.json()["hint"]))
    numbers = [least, *(least + (most - least) * share // 10 for share in (1, 3, 5, 8)), most - 1, most]
    lengths = []
    for number in numbers:
        answer = told(ready, route, {**values, "max_tokens": number})
        assert answer.status_code == 200, (number, answer.text)
        assert estimate(answer.text) <= number
        shown = items(answer.json(), key)
        assert set(map(str, shown)) <= set(map(str, every))
        assert key in ("projects", "files") or shown == first_of(every, shown)
        if key != "files":
            assert answer.json()["n_left_out"] == len(every) - len(shown)
        lengths.append(len(shown))
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-2] < lengths[-1] == len(every)


def test_projects_take_turns_and_each_says_how_many_it_lacks(ready: httpx.Client) -> None:
    wish = {"target": "@@total_cents", "project_id": ["other", "shop"]}
    whole = ready.get("/federated/related", params=wish).json()
    n_of = {project["project_id"]: len(project["edges"]) for project in whole["projects"]}
    answer = ready.get("/federated/related", params={**wish, "max_tokens": 500}).json()
    shown = {project["project_id"]: len(project["edges"]) for project in answer["projects"]}
    lacking = {project["project_id"]: project["n_left_out"] for project in answer["projects"]}
    assert lacking == {name: n_of[name] - shown[name] for name in n_of}
    assert answer["n_left_out"] == sum(lacking.values()) > 0
    assert min(shown.values()) > 0
    assert abs(shown["other"] - shown["shop"]) <= 1 or lacking["shop"] == 0


@pytest.mark.parametrize("number", ["0", "-1", "1e9", "many", "1000001"])
def test_a_wrong_number_is_refused(ready: httpx.Client, number: str) -> None:
    for route, values, _ in ROUTES:
        answer = told(ready, route, {**values, "max_tokens": number})
        assert answer.status_code == 422, (route, json.dumps(answer.json()))
