"""Hits as they are shown: they fulfil the filter, and the first ones do not depend on the number of hits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from codefathom import Engine
from codefathom.stores.conditions import FIELDS, matches, record_of
from codefathom.types import Chunk, Filter, FilterGroup, Level, Where

SOURCE = Path(__file__).parents[2] / "src" / "codefathom"
QUESTIONS = [
    "where are files ignored",
    "open the catalogue",
    "limit",
    "parse a filter expression",
    "retry after an error",
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A part of Codefathom's own source, with a function far longer than a chunk."""
    root = tmp_path_factory.mktemp("own")
    for folder in ("search", "stores", "source"):
        shutil.copytree(SOURCE / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    steps = "".join(f"    limit_{n} = read_limit({n})\n    check_limit(limit_{n})\n" for n in range(80))
    (root / "search" / "long.py").write_text(f"def all_limits():\n{steps}")
    (root / "README.md").write_text("# Limits\n\nEach limit has a default.\n")
    (root / ".fathom").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        with Engine.open(str(root)) as opened:
            opened.index()
            yield opened


# ---- filters

NUMBERS = st.sampled_from([1, 2, 5, 10, 20, 30, 41, 60, 100, 163, 1_000, 20_000])
TEXTS = {
    "path": ["search", "search/levels.py", "stores/base.py", ".py", "question/", "s"],
    "dir": ["search", "search/ranking", "stores/catalog", "stores"],
    "name": ["levels.py", "catalog", ".py", "README.md"],
    "ext": [".py", "md", ".tsv"],
    "language": ["python", "markdown", "text"],
    "module": ["search", "source"],
    "sub_module": ["ranking", "catalog", ""],
    "kind": ["function", "method", "class", "section", "block"],
    "symbol": ["Catalog", "cut_to_level", "_", "e"],
    "names": ["Catalog.lines", "matches", "_holds", "S"],
    "text": ["limit", "return", "raise", "class "],
}
PATTERNS = ["^s", "py$", "[ck]ata", "_", "limit", "(?m)^class", "e.*l"]


@st.composite
def conditions(draw: st.DrawFn) -> Filter:
    field = draw(st.sampled_from(list(FIELDS.values())))
    if field.kind == "time":
        operator = draw(st.sampled_from(["gt", "gte", "lt", "lte"]))
        return Filter(field.name, operator, draw(st.sampled_from(["2001-01-01", "2200-01-01"])))
    if field.kind == "flag":
        return Filter(field.name, draw(st.sampled_from(["eq", "ne"])), draw(st.booleans()))
    if field.kind == "number":
        operator = draw(st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in"]))
        several = st.lists(NUMBERS, max_size=3).map(tuple)
        return Filter(field.name, operator, draw(several if "in" in operator else NUMBERS))
    operator = draw(
        st.sampled_from(["eq", "ne", "contains", "not_contains", "starts_with", "ends_with", "regex", "in", "not_in"])
    )
    texts = st.sampled_from(TEXTS[field.name])
    several = st.lists(texts, max_size=3).map(tuple)
    value = st.sampled_from(PATTERNS) if operator == "regex" else several if "in" in operator[-2:] else texts
    return Filter(field.name, operator + draw(st.sampled_from(["", "_cased"])), draw(value))


WHERES: st.SearchStrategy[Where] = st.recursive(
    conditions(),
    lambda inner: st.builds(FilterGroup, st.sampled_from(["AND", "OR", "NOT"]), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=5,
)


def fulfils(where: Where, shown: Chunk, engine: Engine) -> bool:
    """True if a hit fulfils a condition; of a file, its symbols are those of its lines."""
    document = engine.opened.catalog.document(shown.path)
    assert document is not None
    parts = [shown]
    if shown.kind == "file":
        parts = [
            replace(shown, kind=part.kind, symbol=part.symbol, names=part.names)
            for _, part in engine.opened.catalog.chunks_of(shown.path)
        ]
    return any(matches(where, record_of(part, document)) for part in parts)


@given(where=WHERES, question=st.sampled_from(QUESTIONS), level=st.sampled_from(["chunk", "symbol", "file"]))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_every_hit_fulfils_the_filter(engine: Engine, where: Where, question: str, level: Level) -> None:
    hits = engine.search(question, limit=100, level=level, where=where, mode="hybrid").hits
    assume(hits)
    assert [hit.chunk for hit in hits if not fulfils(where, hit.chunk, engine)] == []


@pytest.mark.parametrize(
    ("level", "where", "place"),
    [
        ("symbol", Filter("lines", "gt", 100), ("search/long.py", 1, 161)),
        ("file", Filter("lines", "eq", 161), ("search/long.py", 1, 161)),
        ("file", FilterGroup("NOT", (Filter("lines", "ne", 161),)), ("search/long.py", 1, 161)),
        ("symbol", FilterGroup("AND", (Filter("text", "contains", "limit_79"),)), ("search/long.py", 1, 161)),
    ],
)
def test_a_place_longer_than_its_chunks_is_reached(
    engine: Engine, level: Level, where: Where, place: tuple[str, int, int]
) -> None:
    hits = engine.search("limit", level=level, where=where, mode="hybrid").hits
    assert place in [(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits]


def test_joined_neighbours_fulfil_the_filter(engine: Engine) -> None:
    hits = engine.search("limit check_limit", limit=100, where=Filter("lines", "lte", 60), mode="hybrid").hits
    assert "search/long.py" in {hit.chunk.path for hit in hits}
    assert max(hit.chunk.end_line - hit.chunk.start_line + 1 for hit in hits) <= 60


# ---- limits


@pytest.mark.parametrize("level", ["chunk", "symbol", "file"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_first_hits_do_not_depend_on_the_limit(engine: Engine, question: str, level: Level) -> None:
    most = engine.search(question, limit=300, level=level).hits
    for limit in (1, 5, 10, 60, 150):
        result = engine.search(question, limit=limit, level=level)
        assert result.hits == most[: len(result.hits)]
        # A first page has what its best candidates give, and says that there may be more.
        assert len(result.hits) == min(limit, len(most)) or (result.rest and limit > 100)
    scores = [hit.score for hit in most]
    assert scores == sorted(scores, reverse=True)


def test_many_hits_are_listed_where_many_are_wanted(engine: Engine) -> None:
    hits = engine.search("limit", limit=300, mode="hybrid").hits
    places = [(hit.chunk.path, hit.chunk.start_line) for hit in hits]
    assert len(set(places)) == len(places) > 150


def test_a_hit_is_not_longer_because_more_are_shown(engine: Engine) -> None:
    hits = engine.search("limit check_limit read_limit", limit=300).hits
    lengths = [hit.chunk.end_line - hit.chunk.start_line + 1 for hit in hits[10:]]
    assert max(lengths) <= 75
