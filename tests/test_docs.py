"""What the documents say is there is there, and their examples run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
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
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 15_000


@pytest.mark.parametrize("code", examples())
def test_python_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "tests" / "repos" / "shop", project)
    (project / ".fathom").mkdir(exist_ok=True)  # so that the project is this folder, not one further up
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(project)
    exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
