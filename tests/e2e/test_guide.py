"""Every example of docs/guide.md and docs/models.md runs and prints what the page says; `…` stands for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.e2e.test_ask import CLAIM, sse
from tests.golden.conftest import copy_shop
from tests.protocols.server import Turn, serving
from tests.waiting import LONG_S

DOCS = Path(__file__).parents[2] / "docs"
GUIDE, MODELS = DOCS / "guide.md", DOCS / "models.md"
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# `fathom` of the environment that runs the tests, also where that is not installed.
SHIM = '#!/bin/sh\nexec "{python}" -m codefathom "$@"\n'


class Step(NamedTuple):
    """One command or program, and what it prints."""

    language: str
    code: str
    expected: str


def sections(page: Path) -> dict[str, str]:
    """Text of each section by its title."""
    text = page.read_text(encoding="utf-8")
    outside = FENCED.sub(lambda block: " " * len(block.group()), text)  # what a command prints may look like a title
    found = [*SECTION.finditer(outside)]
    ends = [*(after.start() for _, after in pairwise(found)), len(text)]
    return {match.group(1): text[match.end() : end] for match, end in zip(found, ends, strict=True)}


def shell_steps(block: str) -> list[Step]:
    """A line behind `$ ` is a command, one that ends with a backslash goes on; the rest is what it prints.

    A block without such a line is a script that prints nothing.
    """
    if not block.startswith("$ "):
        return [Step("sh", block, "")]
    commands: list[tuple[list[str], list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append(([line[2:]], []))
        elif commands[-1][0][-1].endswith("\\") and not commands[-1][1]:
            commands[-1][0].append(line)
        else:
            commands[-1][1].append(line)
    return [Step("sh", "\n".join(code), "\n".join(printed)) for code, printed in commands]


def steps(section: str) -> list[Step]:
    """All that a section runs, in order; a `text` block is what the Python block before it prints."""
    blocks = [(match.group(1), match.group(2)) for match in FENCED.finditer(section)]
    found: list[Step] = []
    for (language, code), (following, printed) in pairwise([*blocks, ("", "")]):
        if language == "sh":
            found.extend(shell_steps(code))
        elif language == "python":
            found.append(Step("python", code, printed if following == "text" else ""))
        elif language == "toml":
            found.append(Step("toml", code, "…"))
        else:
            assert language == "text", f"a block of {language or 'no language'} would not be run"
    return found


def wanted(expected: str) -> re.Pattern[str]:
    """A pattern in which a line of `…` stands for any lines, and `…` in a line for any part of it."""
    lines = []
    for line in expected.strip("\n").splitlines():
        anything = line.strip() == "…"
        lines.append(r"(?:.*\n)*?" if anything else ".*?".join(map(re.escape, line.rstrip().split("…"))) + r"\n")
    return re.compile("".join(lines))


def surroundings(folder: Path) -> dict[str, str]:
    """An environment with `fathom` and `python`, and without the settings of whoever runs the tests."""
    commands = folder / "bin"
    commands.mkdir()
    for name, script in (("fathom", SHIM), ("python", '#!/bin/sh\nexec "{python}" "$@"\n')):
        (commands / name).write_text(script.format(python=sys.executable))
        (commands / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    folders = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    home = {name: str(folder) for name in folders}
    return {**kept, **home, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"}


@pytest.mark.parametrize("title", sections(GUIDE))
def test_examples_print_what_the_page_says(title: str, tmp_path: Path) -> None:
    check(sections(GUIDE)[title], copy_shop(tmp_path), surroundings(tmp_path))


@pytest.mark.parametrize("title", sections(MODELS))
def test_examples_with_a_model_print_what_the_page_says(title: str, tmp_path: Path) -> None:
    with serving(Turn([sse(CLAIM)])) as served:
        model = {"FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{served.base_url}/v1"}
        check(sections(MODELS)[title], copy_shop(tmp_path), {**surroundings(tmp_path), **model})


def check(section: str, project: Path, environ: dict[str, str]) -> None:
    for step in steps(section):
        words = ["sh", "-c", step.code] if step.language == "sh" else [sys.executable, "-c", step.code]
        if step.language == "toml":  # settings that are taken
            (project.parent / "user.toml").write_text(step.code, encoding="utf-8")
            words = ["sh", "-c", f"FATHOM_CONFIG='{project.parent}/user.toml' fathom config show"]
        ran = subprocess.run(words, cwd=project, env=environ, capture_output=True, timeout=LONG_S, check=False)
        # What stands in the page is what a reader sees: errors too, where there is nothing else to see.
        failed = ran.returncode not in (0, 1)
        out = (ran.stdout + (ran.stderr if failed else b"")).decode()
        out = "".join(f"{line.rstrip()}\n" for line in out.strip("\n").splitlines())
        assert wanted(step.expected).fullmatch(out), f"{step.code}\nprints\n{out}\n{ran.stderr.decode()}"
        assert b"Traceback" not in ran.stderr
        assert step.language == "sh" or ran.returncode == 0, ran.stderr.decode()


def test_each_section_runs_something() -> None:
    assert [title for title, text in sections(GUIDE).items() if not steps(text)] == []


def test_the_page_shows_every_command() -> None:
    run = "\n".join(step.code for section in sections(GUIDE).values() for step in steps(section))
    shown = set(re.findall(r"\bfathom ([a-z]+|--[a-z-]+)", run))
    asked = {"search", "symbols", "related", "context", "index", "status", "export", "import", "--rag", "--query-index"}
    assert asked - shown == set()


@pytest.mark.parametrize(
    ("expected", "printed", "fits"),
    [
        ("one\n…\nfour", "one\ntwo\nthree\nfour\n", True),
        ("one\n…", "one\n", True),
        ("after … s", "after 0.1 s\n", True),
        ("one\n…\nfour", "one\ntwo\n", False),
        ("a … c", "a\nc\n", False),
        ("", "one\n", False),
    ],
)
def test_an_ellipsis_stands_for_anything_and_nothing_else_does(expected: str, printed: str, fits: bool) -> None:
    assert bool(wanted(expected).fullmatch(printed)) == fits
