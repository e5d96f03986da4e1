"""What each command costs in a project with more files: steps of SQLite and calls are counted, no time is measured.

The files are alike, so what grows with them grows by the same number for each: a command that compared each file with
each other one would need hundreds of steps for each of them here. The numbers of each command are those that were
counted, and a half more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.counted import TwoProjects, counting, two_projects

from codefathom import Engine
from codefathom.project.inspection import doctor, status
from codefathom.search.graph.project_map import MapRequest, map_parts
from codefathom.system.mounts import keeps_folder_times

pytestmark = pytest.mark.skipif(not keeps_folder_times(os.getcwd()), reason="this disk keeps no times of folders")

FEW, MANY = 60, 240  # files of the same kind beside those of the answer


def write(folder: Path, n_files: int) -> None:
    """Write files in folders of ten that import the one before and use a name of their own, and two of a shop."""
    files = {
        "shop/__init__.py": "",
        "shop/core.py": "def shared():\n    return 1\n\n\nclass Zebra:\n    def stripes(self):\n        shared()\n",
        "shop/user.py": "from shop.core import shared\n\n\ndef user():\n    return shared()\n",
    }
    for number in range(n_files):
        before = max(number - 1, 0)
        files[f"other{number // 10}/part{number}.py"] = (
            f"from other{before // 10}.part{before} import run{before}\n\n\ndef run{number}():\n"
            f"    value = 'the text of number {number}'\n    return run{before}(value)\n"
        )
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


DIFF = """--- a/shop/core.py
+++ b/shop/core.py
@@ -1,2 +1,2 @@
 def shared():
-    return 2
+    return 1
"""


class Command(NamedTuple):
    """What a user asks for, and the steps of SQLite, and calls, that each file more may cost."""

    ask: Callable[[Engine], object]
    steps: int
    calls: int


COMMANDS: Mapping[str, Command] = {
    "search": Command(lambda engine: engine.search("stripes of a zebra").hits, 11, 46),
    "search by words": Command(lambda engine: engine.search("zebra stripes", mode="lexical").hits, 2, 4),
    "search by meaning": Command(lambda engine: engine.search("stripes of a zebra", mode="vector").hits, 14, 37),
    "search by symbol": Command(lambda engine: engine.search("Zebra", mode="symbol").hits, 8, 9),
    "search by expression": Command(lambda engine: engine.search(r"class Zeb\w+", mode="regex").hits, 2, 8),
    "filter": Command(lambda engine: engine.search("zebra path:shop/").hits, 15, 15),
    "@path": Command(lambda engine: engine.search("@shop/core.py stripes").hits, 24, 42),
    "@@symbol": Command(lambda engine: engine.search("@@Zebra").hits, 14, 16),
    "who calls": Command(lambda engine: engine.search("who calls shared").hits, 2, 9),
    "what imports": Command(lambda engine: engine.search("what imports shop/core.py").hits, 2, 33),
    "related to a symbol": Command(lambda engine: engine.related("@@shared").edges, 2, 9),
    "related to a file": Command(lambda engine: engine.related("shop/core.py").edges, 2, 33),
    "impact": Command(lambda engine: engine.impact(diff=DIFF).reached, 2, 38),
    "context": Command(lambda engine: engine.context("stripes of a zebra"), 19, 111),
    "outline": Command(lambda engine: engine.files.outline("shop/core.py"), 0, 0),
    "lines": Command(lambda engine: engine.files.lines("shop/core.py", 1, 3), 0, 0),
    "symbols": Command(lambda engine: engine.symbols("Zebra"), 8, 9),
    "map again": Command(lambda engine: engine.map().files, 2, 84),
    "files": Command(lambda engine: engine.files.listed(), 23, 50),
    "status": Command(lambda engine: status(engine.opened), 116, 148),
    "doctor": Command(lambda engine: doctor(engine.opened), 165, 165),
    "map anew": Command(lambda engine: map_parts(engine.opened.catalog, MapRequest()).parts, 140, 707),
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> TwoProjects:
    return two_projects(tmp_path_factory, (FEW, MANY), write, ask_all)


def ask_all(folder: Path) -> None:
    with Engine.open(folder) as engine:
        for command in COMMANDS.values():
            command.ask(engine)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_costs_no_more_for_each_file(
    projects: TwoProjects, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = COMMANDS[name]
    few, many = (cost(folder, command, monkeypatch) for folder in projects)
    n_files = MANY - FEW
    assert many.steps - few.steps <= command.steps * n_files, f"{(many.steps - few.steps) / n_files} steps a file"
    assert many.calls - few.calls <= command.calls * n_files, f"{(many.calls - few.calls) / n_files} calls a file"


class Cost(NamedTuple):
    steps: int
    calls: int


def cost(folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Cost:
    """Return the cost in an open project, which has answered others: what they share is made."""
    with counting(monkeypatch) as steps, Engine.open(folder) as engine:
        engine.search("number")
        engine.related("@@user")
        engine.map()
        before = steps.n_steps, steps.n_calls
        assert command.ask(engine)
        return Cost(steps.n_steps - before[0], steps.n_calls - before[1])


def test_a_status_lists_no_folder_that_did_not_change(projects: TwoProjects, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (listed_folders(folder, monkeypatch) for folder in projects)
    assert many - few < (MANY - FEW) // 10


def listed_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    with counting(monkeypatch) as steps, Engine.open(folder) as engine:
        assert not status(engine.opened).pending
    return steps.functions["scandir"]
