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
    *sorted((ROOT / "docs").rglob("*.md")),
]
DECISIONS = sorted(path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.name != "README.md")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SHELL = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
CODE_MAP_ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
STATE = re.compile(r"\d{4}-\d\d-\d\d · (accepted|superseded by )")
PARAGRAPHS = ["Question", "Choice", "Evidence", "What would change our mind"]
COMMAND = re.compile(r"python -m ((?:evals|training)[\w.]*)")
PATH_OF_OURS = re.compile(r"`((?:tests|src|docs|evals|training|web)/[\w/.*-]+)")
TEST_FILE = re.compile(r"`(tests/[\w/]+\.py)`")


def examples() -> list[object]:
    return [
        pytest.param(
            match.group(1), id=f"{path.name}:{path.read_text(encoding='utf-8')[: match.start()].count(chr(10))}"
        )
        for path in (ROOT / "README.md", ROOT / "docs" / "python-api.md")
        for match in PYTHON.finditer(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(path: Path) -> None:
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    links = [link for link in LINK.findall(text) if "://" not in link]
    assert [link for link in links if not is_there(path, link)] == []


def is_there(page: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = page.parent / name if name else page
    if not target.exists():
        return False
    return not heading or target.suffix != ".md" or heading in anchors(target)


def anchors(page: Path) -> set[str]:
    """Return the names under which GitHub links to the headings of a page."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_a_date_a_state_and_four_paragraphs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert STATE.match(text.split("\n\n")[1])
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == PARAGRAPHS
    assert [name for name in COMMAND.findall(text) if not is_module(name)] == []
    assert [name for name in PATH_OF_OURS.findall(text) if not any(ROOT.glob(name.rstrip("/.")))] == []


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__main__.py").exists()


def test_the_list_of_decisions_is_whole() -> None:
    text = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[(.+)\]\((\S+)\) \| \S+ \| \w+ \|$", text, re.MULTILINE))
    assert rows == {path.read_text(encoding="utf-8").partition("\n")[0][2:]: path.name for path in DECISIONS}


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
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 15_000


def test_each_benchmark_has_its_section_in_the_page_that_it_writes() -> None:
    rules = re.split(r"^(?=[\w-]+:)", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = {
        (rule.partition(":")[0], page) for rule in rules for page in re.findall(r"--page (docs/[\w-]+\.md)", rule)
    }
    assert len({page for _, page in written}) >= 3
    pages = sorted(path.name for path in (ROOT / "docs").glob("benchmarks*.md"))
    assert len(pages) <= 4, pages
    for target, page in written:
        assert f"<!-- Written by `make {target}`. -->" in (ROOT / page).read_text(encoding="utf-8"), (target, page)


@pytest.mark.parametrize("code", examples())
def test_python_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "tests" / "repos" / "shop", project)
    (project / ".fathom").mkdir(exist_ok=True)  # so that the project is this folder, not one further up
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(project)
    exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
