"""What the documents say is there is there, and their examples run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from codefathom.cli.arguments import parse

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE_MAP_ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
TEST_FILE = re.compile(r"`(tests/[\w/]+\.py)`")


def examples() -> list[object]:
    return [
        pytest.param(
            match.group(1), id=f"{path.name}:{path.read_text(encoding='utf-8')[: match.start()].count(chr(10))}"
        )
        for path in (ROOT / "README.md", ROOT / "docs" / "python-api.md")
        for match in PYTHON.finditer(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_resolve(path: Path) -> None:
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    assert [target for target in targets if target and not (path.parent / target).exists()] == []


def test_the_readme_shows_what_it_is_how_to_get_it_and_what_it_prints_at_once() -> None:
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30])
    [command] = re.findall(r"^```sh\n(.+)\n```$", first, re.MULTILINE)
    install, _, search = command.partition(" && ")
    assert install == "pip install ."
    assert parse(shlex.split(search)[1:]).command == "search"
    assert "docs/recording.svg" in first
    assert "`make test`" in first
    assert re.search(r"^```text\n\S+:\d+-\d+  ", first, re.MULTILINE)


def test_the_commands_of_the_readme_are_understood() -> None:
    lines = [
        line for block in SHELL.findall((ROOT / "README.md").read_text(encoding="utf-8")) for line in block.splitlines()
    ]
    commands = [line.rpartition(" && ")[2] for line in lines if re.search(r"(^| && )fathom ", line)]
    assert len(commands) >= 15
    for command in commands:
        assert not parse(shlex.split(command, comments=True)[1:]).wants_help


def test_code_map_names_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    code_map = text.partition("## Code map")[2].partition("\n## ")[0]
    named = CODE_MAP_ROW.findall(code_map)
    assert [name for name in named if not (ROOT / "src" / "codefathom" / name).exists()] == []
    there = {path.name for path in (ROOT / "src" / "codefathom").glob("*.py")} - {"__init__.py"}
    assert there - set(named) == set()


def test_invariants_name_tests_that_are_there() -> None:
    named = TEST_FILE.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_architecture_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize("code", examples())
def test_python_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "tests" / "repos" / "shop", project)
    (project / ".fathom").mkdir(exist_ok=True)  # so that the project is this folder, not one further up
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(project)
    exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
