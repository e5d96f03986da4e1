"""A question about connections reads the rows of its answer, however many files there are: steps are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_counted_steps import Steps, counting, grow_older

from codefathom import Engine

FEW, MANY = 40, 160  # files beside those of the answer

SHARED = "def shared():\n    return 1\n\n\ndef of_file():\n    return shared()\n"
TARGETS = ("@@shared", "shop/core.py", "shop/core.py:2")
SEARCHES = ("who calls shared", "what imports shop/core.py", "who imports shop.core")


def project(folder: Path, n_files: int) -> Path:
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
    grow_older(folder)
    with Engine.open(folder) as engine:
        engine.index()
    return folder


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    few, many = (project(tmp_path_factory.mktemp(str(n)) / "project", n) for n in (FEW, MANY))
    for folder in (few, many):  # what is loaded once in a process is loaded before it counts
        with Engine.open(folder) as engine:
            for question in (*TARGETS, *SEARCHES):
                ask(engine, question)
    return few, many


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
    projects: tuple[Path, Path], question: str, monkeypatch: pytest.MonkeyPatch
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
