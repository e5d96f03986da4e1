"""The counts of a result by language, kind, folder and test are those of the list that a filter leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from codefathom import Engine
from codefathom.search.filter.filter_options import condition_of
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.stores.conditions import combine
from codefathom.types import Facets, Where

BODY = "".join(f"    parcel = weigh(parcel, {n})\n" for n in range(160))  # more than one chunk, all of one symbol
LONG = "".join(f"def carry_{n}(parcel):\n{BODY}\n\n" for n in range(8))
CLASS = "class Scale:\n    def weigh(self, parcel):\n        return weigh(parcel)\n\n\nLIMIT = weigh\n"
FILES = {
    "air/long.py": LONG,
    "air/src/scale.py": CLASS,
    "air/src/more.go": "package air\n\nfunc Weigh(parcel int) int { return parcel }\n",
    "sea/long.py": LONG.replace("carry", "ship"),
    "sea/tests/test_scale.py": "def test_weigh():\n    assert weigh(1)\n",
    "weigh.py": "def weigh(parcel, n=0):\n    return parcel\n",
    **{
        f"land/{n}.py": f"from weigh import weigh\n\n\ndef drive_{n}(parcel):\n    return weigh(parcel, {n})\n"
        for n in range(120)
    },
    "notes.md": "# Scales\n\nWe weigh parcels.\n\n## At sea\n\nWe weigh them twice.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A project of several languages, with functions of many chunks that touch."""
    root = tmp_path_factory.mktemp("parcels")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(str(root)) as opened:
        yield opened


def condition(facet: str, value: str) -> Where | None:
    """Return the condition that a click on a value makes."""
    options = {"language": "language_filter", "kind": "kind_filter", "dir": "directory_filter"}
    if facet == "is_test":
        return parse_filter("is_test" if value == "true" else "not is_test")
    return condition_of({options[facet]: (value,)})


def n_listed(engine: Engine, query: str, **options: Any) -> int:
    """Return the number of places of a whole list."""
    result = engine.search(query, **{**options, "limit": 1_000})
    assert not result.rest.n
    return len(result.hits)


def check(engine: Engine, query: str, where: Where | None = None, **options: Any) -> Facets:
    """Check each count against the list that is kept to its value."""
    facets = engine.search(query, where=where, facets=True, **options).facets
    assert facets.n_places
    for facet, counts in facets.counts.items():
        for value, n in counts.items():
            kept = n_listed(engine, query, where=combine(where, condition(facet, value)), **options)
            assert kept == n if facets.is_whole else kept >= n, (query, facet, value)
    return facets


@pytest.mark.parametrize("limit", [1, 5, 200])
@pytest.mark.parametrize("level", ["chunk", "file"])
@pytest.mark.parametrize(
    ("query", "mode"), [("weigh", "regex"), ("weigh", "symbol"), ("what calls weigh", "auto"), ("twice", "lexical")]
)
def test_a_count_is_the_number_of_places_after_a_click(
    engine: Engine, query: str, mode: str, level: str, limit: int
) -> None:
    assert check(engine, query, mode=mode, level=level, limit=limit).is_whole


def test_neighbours_are_counted_as_the_narrowed_list_joins_them(engine: Engine) -> None:
    facets = check(engine, "weigh", mode="regex", limit=3)
    assert facets.counts["dir"].keys() == {"air", "sea", "land"}
    # A list of functions alone has more of them among its first places, which are joined.
    assert sum(facets.counts["kind"].values()) < n_listed(engine, "weigh", mode="regex")


def test_folders_are_those_below_the_chosen_one(engine: Engine) -> None:
    facets = check(engine, "weigh", condition_of({"directory_filter": ("air",)}), mode="regex")
    assert facets.counts["dir"].keys() == {"air/src"}
    assert facets.counts["is_test"].keys() == {"false"}


@pytest.mark.parametrize(
    ("query", "filter_text", "options"),
    [
        ("how are parcels weighed", "", {}),
        ("weigh", "", {"mode": "vector", "limit": 1}),
        ("weigh", "", {"mode": "regex", "level": "symbol"}),
        ("weigh", "", {"mode": "regex", "min_score": 0.1}),
        ("weigh", "lines > 3", {"mode": "regex"}),
        ("weigh", "text contains parcel", {"mode": "regex", "level": "file"}),
    ],
)
def test_what_is_not_certain_is_a_lower_bound(
    engine: Engine, query: str, filter_text: str, options: dict[str, Any]
) -> None:
    where = parse_filter(filter_text) if filter_text else None
    assert not check(engine, query, where, **options).is_whole


def test_nothing_is_counted_where_nobody_asks(engine: Engine) -> None:
    assert not engine.search("weigh").facets.counts
