"""A symbol that was read by its first line, as its grammar lost it, says so on every face that lists symbols."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

from codefathom import Engine
from codefathom.cli import main
from codefathom.types import FoundSymbol

# The grammar of Kotlin does not read two annotations before a modifier, and gives up what is too broken.
FILES = {
    "shelf.kt": """\
fun shown(): Int = 1

@Shown
@Sized(width = 3)
private fun small() {
    draw()
}

class Shelf {
    fun add() {}
}
""",
    "broken.kt": "fun lonely() {\n}\n" + "(" * 20_001 + "\n",
    "desk.py": "def desk():\n    return 1\n",
}
MARKED = {"shown": False, "small": True, "Shelf": False, "add": False, "lonely": True, "desk": False}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "fathom.toml").touch()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    with Engine.open(str(folder)) as engine:
        engine.index()
    return folder


def marks(symbols: list[FoundSymbol]) -> Mapping[str, bool]:
    return {item.symbol.name: item.by_head for item in symbols}


def of_json(listed: list[dict]) -> Mapping[str, bool]:
    return {item["name"]: item["by_head"] for item in listed}


def test_every_list_of_symbols_says_which_are_known_by_their_heads(
    project: Path, server: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    server.post("/projects", json={"path": str(project)}).raise_for_status()

    def printed(*options: str) -> str:
        main(["symbols", *options])
        return capsys.readouterr().out

    def listed(path: str, **options: str) -> list[dict]:
        return server.get(path, params=options).raise_for_status().json()["symbols"]

    def of_lines(text: str) -> Mapping[str, bool]:
        lines = text.splitlines()
        return {name: any(f" {name}" in line and "(by its head)" in line for line in lines) for name in MARKED}

    with Engine.open(str(project)) as engine:
        faces: Mapping[str, Callable[[], Mapping[str, bool]]] = {
            "Python": lambda: marks(list(engine.symbols())),
            "Python, by file": lambda: marks([item for path in FILES for item in engine.files.outline(path)]),
            "text": lambda: of_lines(printed()),
            "JSON": lambda: of_json(json.loads(printed("--json"))["symbols"]),
            "text of several": lambda: of_lines(printed("--in", str(project))),
            "HTTP": lambda: of_json(listed("/symbols", project_id="house")),
            "HTTP, several": lambda: of_json(listed("/federated/symbols", project_id="house", query="")),
        }
        assert {name: face() for name, face in faces.items()} == dict.fromkeys(faces, MARKED)


def test_status_counts_just_the_marked_ones(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        assert engine.status().n_by_head == sum(MARKED.values())
