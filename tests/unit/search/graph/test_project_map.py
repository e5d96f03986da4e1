"""Maps of projects, over real projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.errors import SourceError, UsageError
from codefathom.search.graph.project_map import MapPart, MapParts, ProjectMap, joined, map_text
from codefathom.search.verdict import Verdict

FILES = {
    "shop/money.py": "class Money:\n    def add(self, other):\n        pass\n\n\ndef round_up(cents):\n    pass\n",
    "shop/orders.py": "from shop.money import Money, round_up\n\n\ndef total(items):\n    return round_up(Money())\n",
    "shop/bills.py": "from shop.money import round_up\n\n\ndef bill(order):\n    return round_up(order)\n",
    "shop/letters.py": "def split(text):\n    return text\n\n\ndef _greeting():\n    return 'Dear'\n",
    "zoo/lions.py": "from zoo.keeper import feed\n\n\ndef roar():\n    feed('meat')\n    return 'a b'.split()\n",
    "zoo/keeper.py": "def feed(food):\n    return food\n",
    "tests/test_bills.py": "from shop.bills import bill\n\n\ndef test_bill():\n    assert bill(1)\n",
    "README.md": "# Shop\n\nSells things.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    yield from opened(tmp_path_factory.mktemp("project"), FILES)


def opened(root: Path, files: Mapping[str, str]) -> Iterator[Engine]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(str(root)) as engine:
        engine.index()
        yield engine


def ranks(project: ProjectMap) -> list[str]:
    return [file.path for file in sorted(project.files, key=lambda file: file.rank)]


def test_what_others_use_comes_first_and_tests_last(engine: Engine) -> None:
    order = ranks(engine.map())
    assert order[0] == "shop/money.py"
    assert set(order[-2:]) == {"README.md", "tests/test_bills.py"}
    assert set(order) == FILES.keys()


def test_the_files_stand_in_the_order_of_their_paths(engine: Engine) -> None:
    project = engine.map()
    assert [file.path for file in project.files] == sorted(FILES)
    assert all(list(file.symbols) == sorted(file.symbols, key=lambda symbol: symbol.line) for file in project.files)
    assert engine.map() == project


@pytest.mark.parametrize("max_tokens", [1, 5, 10, 20, 40, 80, 10_000])
def test_a_map_never_exceeds_its_budget(engine: Engine, max_tokens: int) -> None:
    project = engine.map(max_tokens=max_tokens)
    assert estimate(map_text(project.files)) == project.n_tokens <= max_tokens or not project.files
    assert project.n_files == len(FILES)


def test_what_is_used_stands_in_a_small_map(engine: Engine) -> None:
    text = map_text(engine.map(max_tokens=40).files)
    assert "def round_up(cents)" in text
    assert "_greeting" not in text


def test_a_longer_map_holds_the_shorter_one(engine: Engine) -> None:
    short, long = (map_text(engine.map(max_tokens=n).files).splitlines() for n in (30, 60))
    assert set(short) < set(long)


def test_a_file_in_work_draws_its_neighbours_in(engine: Engine) -> None:
    assert set(ranks(engine.map(files=["zoo/lions.py"]))[:2]) == {"zoo/lions.py", "zoo/keeper.py"}


def test_a_question_draws_its_hits_in(engine: Engine) -> None:
    assert set(ranks(engine.map("who feeds the lions"))[:2]) == {"zoo/lions.py", "zoo/keeper.py"}


def test_a_usual_name_is_no_use_of_a_file_that_is_not_imported(engine: Engine) -> None:
    order = ranks(engine.map(files=["zoo/lions.py"]))
    assert order.index("shop/letters.py") > order.index("shop/money.py")


def test_a_folder_keeps_the_map_to_itself(engine: Engine) -> None:
    project = engine.map(folders=["zoo/"])
    assert ([file.path for file in project.files], project.n_files) == (["zoo/keeper.py", "zoo/lions.py"], 2)


@pytest.mark.parametrize("limits", [{"files": ["shop/nowhere.py"]}, {"folders": ["nowhere"]}, {"files": ["shop"]}])
def test_what_is_not_indexed_is_named(engine: Engine, limits: dict[str, list[str]]) -> None:
    with pytest.raises(SourceError, match=next(iter(limits.values()))[0]):
        engine.map(**limits)


@pytest.mark.parametrize("max_tokens", [0, -1, 10**9])
def test_a_senseless_budget_is_an_error(engine: Engine, max_tokens: int) -> None:
    with pytest.raises(UsageError, match="max_tokens"):
        engine.map(max_tokens=max_tokens)


def test_no_name_makes_a_line_of_its_own(tmp_path: Path) -> None:
    for engine in opened(tmp_path, {"a\nb.py: def fake():": "x", "c.py": "def \u202ef():\n    pass\n"}):
        lines = map_text(engine.map().files).splitlines()
        assert [line for line in lines if not line.startswith("  ")] == [
            "$'a\\nb.py: def fake():'",
            "c.py",
        ]
        assert "\u202e" not in "".join(lines)


def test_a_name_stands_there_once_and_in_its_signature(tmp_path: Path) -> None:
    header = (
        "typedef enum {\n  RED,\n  BLUE\n} colour;\n\n#ifdef A\n#define SIZE(x) 1\n#else\n#define SIZE(x) 2\n#endif\n"
    )
    for engine in opened(tmp_path, {"paint.h": header}):
        symbols = engine.map().files[0].symbols
        assert [symbol.name for symbol in symbols] == ["colour", "SIZE"]
        assert all(symbol.name in symbol.signature for symbol in symbols)


def test_an_empty_project_has_an_empty_map(tmp_path: Path) -> None:
    for engine in opened(tmp_path, {}):
        assert (engine.map().files, engine.map().n_files) == ((), 0)


# ---- several projects


def content(name: str, n_parts: int, trust: float = 1.0) -> MapParts:
    return MapParts(
        tuple(MapPart(f"{name}{n}", "python", n + 1, None) for n in range(n_parts)),
        n_parts,
        Verdict(trust, False, False),
    )


@pytest.mark.parametrize(
    ("trusts", "first"),
    [
        ({"a": 1.0, "b": 1.0}, "abababab"),
        ({"a": 0.8, "b": 0.4}, "aabaabaa"),
        ({"a": 0.4, "b": 0.8}, "babbabba"),
        ({"a": 0.5, "b": 0.0}, "aaaaaaaa"),
        ({"a": 0.0, "b": 0.0}, "abababab"),
        ({"a": 0.9, "b": 0.3, "c": 0.3}, "aaabcaaa"),
    ],
)
def test_projects_take_turns_by_how_surely_they_answer(trusts: Mapping[str, float], first: str) -> None:
    parts = joined({name: content(name, 20, trust) for name, trust in trusts.items()}).parts
    assert "".join(part.path[0] for part in parts[:8]) == first


@given(sizes=st.lists(st.integers(0, 12), min_size=1, max_size=5), trusts=st.lists(st.floats(0, 1), min_size=5))
def test_nothing_is_lost_and_each_project_keeps_its_order(sizes: list[int], trusts: list[float]) -> None:
    contents = {f"p{n}": content("f", size, trusts[n]) for n, size in enumerate(sizes)}
    together = joined(contents)
    for name, own in contents.items():
        kept = [part.path.partition("/")[2] for part in together.parts if part.path.startswith(f"{name}/")]
        assert kept == [part.path for part in own.parts]
    assert together.n_files == sum(sizes)


# ---- main types of a project

PRESS = {
    "press/__init__.py": "from press.core.press import Press\n\n__all__ = ['Press']\n",
    "press/core/press.py": "from press.util import fold\n\n\nclass Press:\n    def go(self):\n        return fold(1)\n",
    "press/util.py": "def fold(sheet):\n    return sheet\n\n\ndef cut(sheet):\n    return sheet\n",
    "press/inks.py": "def mix(parts):\n    return parts\n\n\ndef stir(parts):\n    return parts\n\n\n"
    "class Ink:\n    pass\n",
    **{
        f"press/part{n}.py": "from press.inks import Ink, mix, stir\nfrom press.util import cut, fold\n\n\n"
        "def go(text):\n    stir(mix(text), stir(mix(text), mix(Ink())))\n    return fold(cut(fold(text)))\n"
        for n in range(6)
    },
    **{
        f"tests/test_{n}.py": "from press import Press\n\n\nclass Sheet:\n    pass\n\n\n"
        "def test_it():\n    assert Press() != Sheet()\n"
        for n in range(3)
    },
}

PAPER_TEST = "from press.paper import Paper\n\n\ndef test_it():\n    assert Paper()\n"


@pytest.fixture(scope="module")
def press(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    yield from opened(tmp_path_factory.mktemp("press"), PRESS)


def shown(project: ProjectMap) -> list[str]:
    return [symbol.name for file in project.files for symbol in file.symbols]


def test_main_types_of_a_project_stand_in_a_small_map(press: Engine) -> None:
    assert {"Press", "Ink"} <= set(shown(press.map(max_tokens=50)))


def test_types_of_tests_are_not_main_types(press: Engine) -> None:
    assert "Sheet" not in shown(press.map(max_tokens=150))
    assert "Sheet" in shown(press.map())


@pytest.mark.parametrize(
    ("text", "first"), [("There is paper.", "Ink"), ("Begin with a `Paper`.", "Paper"), ("Take `papers`.", "Ink")]
)
def test_a_type_that_documents_name_stands_before_one_that_is_used_more(
    text: str, first: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    documents = {f"docs/page{n}.md": f"# Page {n}\n\n{text}\n" for n in range(20)}
    paper = {"press/paper.py": "class Paper:\n    pass\n", "tests/test_paper.py": PAPER_TEST}
    for engine in opened(tmp_path_factory.mktemp("named"), {**PRESS, **documents, **paper}):
        sizes = {name: _tokens_until(engine, name) for name in ("Ink", "Paper")}
        assert min(sizes, key=sizes.__getitem__) == first


def _tokens_until(engine: Engine, name: str) -> int:
    return next(n for n in range(10, 300, 2) if name in shown(engine.map(max_tokens=n)))


def test_each_line_stands_once_in_a_map_with_main_types(press: Engine) -> None:
    project = press.map()
    lines = [(file.path, symbol.line) for file in project.files for symbol in file.symbols]
    assert len(lines) == len(set(lines))
    assert {file.path for file in project.files} == PRESS.keys()
    assert (project.n_left_out, project.n_symbols_left_out) == (0, 0)
