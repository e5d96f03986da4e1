"""A file that a question or an issue names is found, however much else is about its words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.search.question.planner import overruled
from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import understand
from codefathom.search.ranking.fuse import Fusion
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, gather

FILES = {
    "celery/__init__.py": "",
    "celery/utils/__init__.py": "from .time import rate\n",
    "celery/utils/time.py": "def rate(value):\n    return value\n",
    "docs/celery.utils.time.rst": "celery.utils.time\n=================\n\nAll of celery.utils.time.\n",
    "shop/quartz.py": "A = 1\n",
    "shop/vault.py": "B = 1\n",
    "shop/cashier.py": "from shop.vault import B\n\n\ndef pay_all():\n    return B\n",
    "shop/utils.py": "def one():\n    return 1\n",
    "web/utils.py": "def two():\n    return 2\n",
}
# Each holds every word of the questions below, and `py` in a name that it defines.
OTHERS = {
    f"lib/part{n}.py": (
        f"def py_{n}(title):\n    # The total of a cart is rounded where the tax is added to the order that is used.\n"
    )
    for n in range(150)
}
ISSUE = """The total of a cart is rounded where the tax is added{}

When the tax is added to the order, the total of the cart is rounded. The order is used with a title and a cart, and the
total of the order is what the tax of the cart is added to. {}
Where the title of the cart is used, the total is rounded, and where the order is used it is not.

- the cart
- the order
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"FATHOM_{name}_DIR", str(tmp_path / name.lower()))
    root = tmp_path / "project"
    for path, text in (FILES | OTHERS).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(str(root)) as opened:
        yield opened


def places(engine: Engine, question: str, limit: int = 50) -> list[str]:
    return [hit.chunk.path for hit in engine.search(question, limit=limit, level="file").hits]


@pytest.mark.parametrize(
    ("in_title", "in_body"),
    [
        (" in quartz.py", ""),
        (" (shop.quartz)", ""),
        ("", "See https://example.org/o/r/blob/4f2a/shop/quartz.py#L1-L2."),
        ("", "It begins in `shop/quartz.py`."),
        ("", "We call shop.quartz.total there."),
        ("", "It is in quartz, we think."),
    ],
)
def test_an_issue_finds_the_file_that_it_names(engine: Engine, in_title: str, in_body: str) -> None:
    assert "shop/quartz.py" not in places(engine, ISSUE.format("", ""))
    found = places(engine, ISSUE.format(in_title, in_body))
    assert "shop/quartz.py" in found
    if ".py" in in_title:
        assert found[0] == "shop/quartz.py"


@pytest.mark.parametrize(
    "names",
    [
        'Traceback (most recent call last):\n  File "/srv/shop/cashier.py", line 5, in pay\n    return B\nValueError',
        "It begins in `shop/cashier.py`.",
        "It begins in pay_all.",
        "",
    ],
)
def test_what_is_imported_where_an_issue_points_is_a_candidate(engine: Engine, names: str) -> None:
    engine.index()
    sources = engine.opened.sources
    query = understand(parse_query(ISSUE.format("", f"\n{names}\n")), sources.catalog, sources.lexical)
    assert ("shop/vault.py" in query.files) is bool(names)


def test_the_sum_of_two_rankings_orders_alone_where_it_is_set(engine: Engine) -> None:
    engine.index()
    sources = engine.opened.sources
    parsed = parse_query(ISSUE.format("", "It begins in pay_all."))
    query = understand(parsed, sources.catalog, sources.lexical)
    for ranking, is_there in (("learned", True), ("fused", False)):
        request = SearchRequest(parsed, fusion=Fusion(method="weighted", ranking=ranking))
        pool = gather(Lookup(request, overruled("hybrid", parsed), query), sources)
        assert ("shop/vault.py" in {one.chunk.path for one in pool.candidates}) is is_there


def test_a_short_question_finds_the_file_that_it_names(engine: Engine) -> None:
    assert places(engine, "quartz.py title is used where the total is rounded")[0] == "shop/quartz.py"
    assert places(engine, "where is quartz.py used")[0] == "shop/quartz.py"


def test_a_name_of_two_files_finds_both(engine: Engine) -> None:
    assert {"shop/utils.py", "web/utils.py"} <= set(places(engine, "where is utils.py used", limit=4))


@pytest.mark.parametrize(
    ("module", "path"),
    [("celery.utils.time", "celery/utils/time.py"), ("celery.utils", "celery/utils/__init__.py")],
)
def test_the_name_of_a_module_finds_its_file(engine: Engine, module: str, path: str) -> None:
    result = engine.search(module)
    assert result.hits[0].chunk.path == path
    assert result.plan.why == "it names a module; its file comes first"


def test_a_filter_holds_for_a_file_that_is_named(engine: Engine) -> None:
    assert "shop/quartz.py" not in places(engine, "quartz.py title path:lib/")


def test_a_pasted_issue_is_not_told_to_ask(engine: Engine) -> None:
    plan = engine.search(ISSUE.format("", "Why is that so?")).plan
    assert "fathom ask" not in plan.why


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"lib/part{n}.py x{n}.py a.b{n}.c" for n in range(2_900)),
        "title\n\n\n\n\n\n" + "(a|b)*\\.py$ " * 7_000,
        "\n" * 50 + "a/" * 45_000 + "quartz.py",
    ],
)
def test_a_hostile_text_is_answered(engine: Engine, text: str) -> None:
    assert engine.search(text, limit=50).plan.route
