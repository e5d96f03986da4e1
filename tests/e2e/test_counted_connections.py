"""A question about connections reads the rows of its answer, however many files there are: steps are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import cast

import pytest
from tests.counted import Steps, TwoProjects, counting, n_calls_of, two_projects

from codefathom import Engine
from codefathom.search.graph.name_bindings import bindings_of
from codefathom.search.graph.reference_graph import ReferenceGraph
from codefathom.search.graph.resolve import Resolver
from codefathom.stores.catalog.catalog import Catalog
from codefathom.types import Symbol

FEW, MANY = 40, 160  # files beside those of the answer

SHARED = "def shared():\n    return 1\n\n\ndef of_file():\n    return shared()\n"
TARGETS = ("@@shared", "shop/core.py", "shop/core.py:2")
SEARCHES = ("who calls shared", "what imports shop/core.py", "who imports shop.core")


def write(folder: Path, n_files: int) -> None:
    """Write files that import one another and scripts with names of their own, and two that use one function."""
    files = {
        "shop/__init__.py": "",
        "shop/core.py": SHARED,
        "shop/user.py": "from shop.core import shared\n\n\ndef user():\n    return shared()\n",
        "shop/again.py": "from shop.core import shared as own\n\n\ndef again():\n    return own()\n",
    }
    for number in range(n_files):
        before = f"part{max(number - 1, 0)}"
        files[f"other/part{number}.py"] = (
            f"from other.{before} import run{number} as go\n\n\ndef run{number}():\n    return go()\n"
        )
        files[f"web/view{number}.ts"] = (
            f"import {{ a as b{number} }} from './{before}'\nexport function v() {{ b() }}\n"
        )
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> TwoProjects:
    return two_projects(tmp_path_factory, (FEW, MANY), write, ask_all)


def ask_all(folder: Path) -> None:
    with Engine.open(folder) as engine:
        for question in (*TARGETS, *SEARCHES):
            ask(engine, question)


def ask(engine: Engine, question: str) -> int:
    """Return the number of edges, or of hits."""
    if " " in question:
        return len(engine.search(question).hits)
    return len(engine.related(question).edges)


def steps_of(engine: Engine, steps: Steps, question: str) -> tuple[int, int]:
    """Return the number of edges or hits, and the steps of SQLite that they took."""
    before = steps.n_steps
    n = ask(engine, question)
    return n, steps.n_steps - before


@pytest.mark.parametrize("question", [*TARGETS, *SEARCHES])
def test_a_question_in_an_open_project_reads_the_rows_of_its_answer(
    projects: TwoProjects, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, taken = [], []
    for folder in projects:
        with counting(monkeypatch) as steps, Engine.open(folder) as engine:
            ask(engine, "@@user")  # what is kept for all questions is made by the first one
            ask(engine, "who calls again")
            n, n_steps = steps_of(engine, steps, question)
            found.append(n)
            taken.append(n_steps)
    assert found[0] == found[1] > 0
    assert taken[1] - taken[0] <= 50, f"{taken[1] - taken[0]} steps for {2 * (MANY - FEW)} files more"


def test_a_first_question_looks_at_the_imports_that_have_its_name(projects: TwoProjects) -> None:
    counts = []
    for folder in projects:
        with Engine.open(folder) as engine:
            counts.append(n_calls_of(cast(FunctionType, bindings_of), lambda: engine.related("@@shared")))
    assert counts[1] == counts[0] > 0, f"{counts} imports are looked at"


def test_a_second_map_of_the_same_files_reads_none_of_them(
    projects: TwoProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    for folder in projects:
        with counting(monkeypatch) as steps, Engine.open(folder) as engine:
            first = engine.map()
            before = steps.n_steps
            assert engine.map() == first
            assert first.files and first.n_files > FEW
            taken.append(steps.n_steps - before)
    assert taken[1] - taken[0] < 2 * (MANY - FEW)  # less than a step for each file more


def test_after_a_change_the_imports_of_one_file_are_read(
    projects: TwoProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (steps_after_a_change(folder, monkeypatch) for folder in projects)
    # The numbers and languages of all documents are read again, and the row of no import of theirs.
    assert many - few <= 45 * 2 * (MANY - FEW), f"{(many - few) / 2 / (MANY - FEW)} steps for each file more"


def steps_after_a_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the steps of SQLite of a question behind a change, which finds it."""
    text = "from shop.core import shared as late\n\n\ndef late_user():\n    return late()\n"
    with counting(monkeypatch) as steps, Engine.open(folder) as engine:
        ask(engine, "@@shared")
        for change in (text, "", text):  # an import that came, went and came again
            (folder / "shop" / "late.py").write_text(change)
            engine.index()
            before = steps.n_steps
            edges = engine.related("@@shared").edges
            n_steps = steps.n_steps - before
            assert ("shop/late.py" in {edge.path for edge in edges}) == bool(change)
        (folder / "shop" / "late.py").unlink()
        engine.index()
        assert "shop/late.py" not in {edge.path for edge in engine.related("@@shared").edges}
    return n_steps


@pytest.mark.parametrize("question", [*TARGETS, *SEARCHES])
def test_a_question_that_is_asked_again_resolves_nothing_again(
    projects: TwoProjects, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    resolve = Resolver.resolve

    def counted(self: Resolver, name: str, path: str) -> tuple[str, ...]:
        made.append(name)
        return resolve(self, name, path)

    with Engine.open(projects[0]) as engine:
        assert ReferenceGraph(engine.opened.catalog).links
        monkeypatch.setattr(Resolver, "resolve", counted)
        first = ask(engine, question)
        n_made = len(made)
        assert (ask(engine, question), len(made)) == (first, n_made)


def test_imports_of_all_names_are_resolved_in_the_language_of_a_name_alone(
    make_engine: Callable[[Mapping[str, str]], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {f"web/part{number}.ts": f"export * from './part{number + 1}'\n" for number in range(9)}
    python = {"shop/core.py": SHARED, "shop/all.py": "from shop.core import *\n"}
    paths: list[str] = []
    resolve = Resolver.resolve

    def noted(self: Resolver, name: str, path: str) -> tuple[str, ...]:
        paths.append(path)
        return resolve(self, name, path)

    with make_engine({**scripts, **python}) as engine:
        monkeypatch.setattr(Resolver, "resolve", noted)
        edges = engine.related("@@shared").edges
        assert ("shop/all.py", "imported by") in {(edge.path, edge.kind) for edge in edges}
        assert not [path for path in paths if path.endswith(".ts")]


def test_manifests_are_read_together(
    make_engine: Callable[[Mapping[str, str]], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"part{number}/package.json": f'{{"name": "part{number}", "main": "a.js"}}\n' for number in range(30)}
    files |= {f"part{number}/a.js": "export function shared() {}\n" for number in range(30)}
    files |= {f"use{number}.js": f"import {{ shared }} from 'part{number}'\nshared()\n" for number in range(3)}
    with make_engine(files) as engine:
        monkeypatch.setattr(Catalog, "lines", lambda *_: pytest.fail("a manifest is read alone"))
        for number in range(3):
            (edge,) = (edge for edge in engine.related(f"use{number}.js").edges if edge.kind == "imports")
            assert edge.path == f"part{number}/a.js"


def test_what_stands_around_a_use_is_read_where_its_value_has_a_type(
    make_engine: Callable[[Mapping[str, str]], Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"core.py": "class Core:\n    def run(self):\n        return 1\n", "typed.py": ""}
    files |= {f"use{number}.py": f"def use{number}(value):\n    return value.run()\n" for number in range(9)}
    files["typed.py"] = "from core import Core\n\n\ndef typed(value: Core):\n    return value.run()\n"
    read: list[str] = []
    symbols_of = Catalog.symbols_of

    def noted(self: Catalog, path: str) -> list[Symbol]:
        read.append(path)
        return symbols_of(self, path)

    with make_engine(files) as engine:
        monkeypatch.setattr(Catalog, "symbols_of", noted)
        edges = engine.related("core.py @@Core.run", direction="callers").edges
        assert {edge.path for edge in edges if edge.kind == "called by"} == files.keys() - {"core.py"}
        assert set(read) == {"core.py", "typed.py"}
