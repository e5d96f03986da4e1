"""The words of a code lens count what `related` lists, and cost the rows of their answer: steps are counted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol.types import CodeLens
from tests.counted import Steps, TwoProjects, counting, grow_older, two_projects

from codefathom import Engine
from codefathom.lsp.callers import Callers, counted
from codefathom.lsp.editor_answers import EditorAnswers
from codefathom.lsp.positions import UTF16
from codefathom.lsp.shown_files import ShownFiles
from codefathom.question.extents import MOST_ITEMS

FEW, MANY = 10, 60  # files beside those of the answer
ONE = "class One:\n    def run(self):\n        return 1\n\n\ndef shared():\n    return One().run()\n"
OURS = Path(__file__).parents[2] / "src" / "codefathom"


def write(folder: Path, n_files: int) -> None:
    """Write a function that each file calls, and a method whose name each file has for one of its own."""
    files = {"shop/__init__.py": "", "shop/one.py": ONE}
    for number in range(n_files):
        files[f"shop/part{number}.py"] = (
            f"from shop.one import shared\n\n\nclass Part{number}:\n    def run(self):\n        return shared()\n"
        )
        files[f"tests/test_{number}.py"] = "from shop.one import shared\n\n\ndef test_it():\n    assert shared()\n"
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> TwoProjects:
    return two_projects(tmp_path_factory, (FEW, MANY), write, lambda folder: ask_all(folder, "shop/one.py"))


def ask_all(folder: Path, path: str) -> dict[str, str]:
    with Engine.open(str(folder)) as engine:
        return dict(titles(engine, path))


def titles(engine: Engine, path: str) -> Iterator[tuple[str, str]]:
    """Yield the symbol and the words of each lens of a file; each is a request of its own."""
    for lens in callers(engine).lenses(path):
        yield target_of(lens), title(engine, lens)


def target_of(lens: CodeLens) -> str:
    data: Any = lens.data
    return str(data[0])


def callers(engine: Engine) -> Callers:
    files = ShownFiles(engine, {}, UTF16)
    return Callers(EditorAnswers(engine, files), files)


def title(engine: Engine, lens: CodeLens) -> str:
    command = callers(engine).resolved(lens).command
    return command.title if command else ""


def expected(engine: Engine, target: str) -> set[str]:
    edges = [
        edge
        for edge in engine.related(target, direction="callers", limit=MOST_ITEMS).edges
        if edge.kind != "imported by"
    ]
    calls = [edge for edge in edges if edge.kind == "called by"]
    return {counted(calls, "caller"), counted(edges, "user")}


def test_the_counts_are_those_of_related_in_a_small_project(projects: TwoProjects) -> None:
    with Engine.open(str(projects.few)) as engine:
        words = dict(titles(engine, "shop/one.py"))
        assert words == {
            "shop/one.py @@One": "1 user",
            "shop/one.py @@One.run": "1 caller by name",
            "shop/one.py @@shared": f"{FEW} callers, {FEW} tests",
        }
        assert all(text in expected(engine, target) for target, text in words.items())


def test_the_counts_are_those_of_related_in_a_larger_project(tmp_path: Path) -> None:
    for room in ("lsp", "search", "text", "question"):
        shutil.copytree(OURS / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    with Engine.open(str(tmp_path)) as engine:
        engine.index()
        for path in ("search/graph/reference_graph.py", "lsp/shown_files.py", "text/printable.py"):
            words = list(titles(engine, path))
            assert len(words) > 1
            for target, text in words:
                with Engine.open(str(tmp_path)) as other:  # that has no graph of a question before
                    assert text in expected(other, target), target


def steps_of(folder: Path, symbol: str, monkeypatch: pytest.MonkeyPatch, *, n_before: int = 0) -> Steps:
    """Return the steps of one lens, in a process that has answered some others of the same symbol."""
    with counting(monkeypatch) as steps, Engine.open(str(folder)) as engine:
        lens = next(lens for lens in callers(engine).lenses("shop/one.py") if target_of(lens).endswith(f"@@{symbol}"))
        for _ in range(n_before):
            title(engine, lens)
        functions, n_steps = steps.functions.copy(), steps.n_steps
        title(engine, lens)
        steps.functions -= functions
        steps.n_steps -= n_steps
        return steps


def test_a_lens_reads_no_file_of_a_caller(projects: TwoProjects, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (steps_of(folder, "shared", monkeypatch) for folder in projects)
    assert many.functions["open"] == few.functions["open"]
    assert many.functions["BufferedReader.read"] == few.functions["BufferedReader.read"]


def test_a_usual_name_is_read_once(projects: TwoProjects, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (steps_of(folder, "One.run", monkeypatch, n_before=1) for folder in projects)
    assert many.n_steps - few.n_steps <= MANY - FEW  # of some 100 for each further file


def test_what_was_saved_since_is_counted(tmp_path: Path) -> None:
    write(tmp_path, 2)
    grow_older(tmp_path)
    with Engine.open(str(tmp_path)) as engine:
        engine.index()
        assert dict(titles(engine, "shop/one.py"))["shop/one.py @@shared"] == "2 callers, 2 tests"
        (tmp_path / "shop" / "part1.py").write_text("")
        engine.take_in(["shop/part1.py"])  # as the server does when an editor saves
        assert dict(titles(engine, "shop/one.py"))["shop/one.py @@shared"] == "1 caller, 2 tests"
