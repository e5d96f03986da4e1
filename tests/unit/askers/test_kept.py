"""A project that is kept to places in it: each kind of question is answered from these only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.askers.parts import WrittenPart, found

from codefathom import Engine
from codefathom.askers.kept import KeptProject
from codefathom.errors import SourceError, UsageError
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.types import Filter

FILES = {
    "src/price.py": "def price_of(order):\n    return order.total\n",
    "src/pay.py": "from src.price import price_of\n\ndef pay(order):\n    return price_of(order)\n",
    "web/page.py": "from src.price import price_of\n\ndef page(order):\n    return price_of(order)\n",
    "web/price_tag.py": "def price_tag(order):\n    return order.tag\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("kept")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(str(root), is_root=True) as engine:
        engine.index()
        yield engine


def kept(engine: Engine, *places: str) -> KeptProject:
    return KeptProject(engine, tuple(f"{engine.root}/{place}" for place in places))


def paths(engine: Engine, places: tuple[str, ...], question: Question) -> list[str]:
    result: Any = result_of(kept(engine, *places), question)
    items = result.hits if question.kind == "search" else getattr(result, "edges", None) or getattr(result, "files", ())
    return sorted({getattr(item, "path", "") or item.chunk.path for item in items})


@pytest.mark.parametrize("kind", ["search", "context", "map"])
@pytest.mark.parametrize(
    ("places", "within"),
    [(("src",), ["src/pay.py", "src/price.py"]), (("web/price_tag.py",), ["web/price_tag.py"]), ((), sorted(FILES))],
)
def test_what_is_found_lies_in_the_places(
    engine: Engine, kind: Any, places: tuple[str, ...], within: list[str]
) -> None:
    question = Question(
        "price of an order", kind, anyway=kind == "context", max_tokens=4_000 if kind == "map" else None
    )
    assert paths(engine, places, question) == within


def test_a_filter_holds_beside_the_places(engine: Engine) -> None:
    pay = Filter("path", "contains", "p")
    only = Filter("name", "eq", "pay.py")
    assert paths(engine, ("src",), Question("price of an order", where=only)) == ["src/pay.py"]
    assert paths(engine, ("src",), Question("price of an order", where=pay)) == ["src/pay.py", "src/price.py"]
    assert paths(engine, ("src",), Question("price order", "context", where=only, anyway=True)) == ["src/pay.py"]


def test_symbols_are_counted_in_the_places(engine: Engine) -> None:
    def names(*places: str, **more: Any) -> tuple[list[str], int]:
        page = result_of(kept(engine, *places), Question("", "symbols", **more))
        return [item.symbol.name for item in page.symbols], page.n_symbols

    assert names("src") == (["pay", "price_of"], 2)
    assert names("src/pay.py", "web") == (["pay", "page", "price_tag"], 3)
    assert names("src/pay.py", "web", limit=1, offset=1) == (["page"], 3)
    assert names("src", path="src/pay.py") == (["pay"], 1)
    assert names("src", path="web") == ([], 0)
    assert names()[1] == 4


def test_connections_are_those_of_the_places(engine: Engine) -> None:
    def edges(target: str, *places: str, **more: Any) -> Any:
        return result_of(kept(engine, *places), Question(target, "related", **more))

    whole = edges("src/price.py")
    assert {edge.path for edge in whole.edges} == {"src/pay.py", "web/page.py"}
    own = edges("src/price.py", "src")
    assert {edge.path for edge in own.edges} == {"src/pay.py"}
    assert {edge.path for edge in edges("@@price_of", "web").edges} == {"web/page.py"}
    first = edges("src/price.py", "src", limit=1)
    assert (len(first.edges), first.rest.n, first.offset) == (1, len(own.edges) - 1, 0)
    second = edges("src/price.py", "src", limit=1, offset=1)
    assert (second.edges, second.offset) == (own.edges[1:2], 1)
    with pytest.raises(UsageError) as refused:
        edges("src/price.py", "web")
    assert str(refused.value) == "'src/price.py' is not in the places that are asked about"
    assert refused.value.hint == "give a path inside the searched paths"


def test_a_map_is_kept_to_what_folders_and_places_share(engine: Engine) -> None:
    def files(*folders: str) -> list[str]:
        return paths(engine, ("src", "web/page.py"), Question("", "map", folders=folders, max_tokens=4_000))

    assert files() == ["src/pay.py", "src/price.py", "web/page.py"]
    assert files("web") == ["web/page.py"]
    assert files("src/") == ["src/pay.py", "src/price.py"]
    assert files(".") == ["src/pay.py", "src/price.py", "web/page.py"]
    with pytest.raises(UsageError) as refused:
        result_of(kept(engine, "src"), Question("", "map", folders=("web", "docs")))
    assert (str(refused.value), refused.value.hint) == (
        "none of the searched paths is inside web, docs",
        "give a path inside the searched paths",
    )


def test_files_changes_and_answers(engine: Engine) -> None:
    listed = result_of(kept(engine, "web"), Question("", "files")).files
    assert [item.path for item in listed] == ["web/page.py", "web/price_tag.py"]
    with pytest.raises(UsageError) as refused:
        result_of(kept(engine, "web"), Question("HEAD", "impact"))
    assert (str(refused.value), refused.value.hint) == (
        "a change is asked about in a whole project",
        "leave out the paths",
    )
    with pytest.raises(SourceError) as elsewhere:
        result_of(kept(engine, "web"), Question("price", "ask", pinned=("src/pay.py",)))
    assert str(elsewhere.value) == "'src/pay.py' is not in the places that are asked about"
    assert elsewhere.value.hint == "give a path inside the searched paths"
    answer = result_of(kept(engine, "web"), Question("price of an order", "ask", anyway=True))
    assert {source.path.partition("/")[0] for source in answer.sources} == {"web"}
    pinned = result_of(kept(engine, "web"), Question("price", "ask", pinned=("web/price_tag.py",), anyway=True))
    assert "web/price_tag.py" in {source.path for source in pinned.sources}


def test_places_are_taken_in_by_the_project_unless_somebody_else_has_done_that() -> None:
    part = WrittenPart("/p", search=found(), symbols=found())
    result_of(KeptProject(part, ("/p/src",)), Question("q"))
    result_of(KeptProject(part, ("/p/src",)), Question("q", limit=3))
    assert [(question.files, question.where) for question in part.questions] == [(("/p/src",), None)] * 2
    outer = KeptProject(part)
    outer.take_in(["a.py"])
    assert part.taken_in == [["a.py"]]
    assert (outer.root, outer.folder, outer.first_run, outer.settings) == ("/p", "/p", None, part.settings)
    assert outer.contains()("anything")
    inside = KeptProject(part, ("/p/src", "/p/a.py")).contains()
    assert [path for path in ("src", "src/x.py", "a.py", "srcs/x.py", "b.py") if inside(path)] == [
        "src",
        "src/x.py",
        "a.py",
    ]
    outer.close()
    assert part.is_closed
