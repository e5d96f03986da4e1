"""The shop project, copied and indexed, and a way to run `fathom` in it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import codefathom
from codefathom.cli import main

PACKAGE = Path(codefathom.__file__).parent
SHOP = Path(__file__).parents[1] / "repos" / "shop"
# A PNG's signature, and bytes that are no text: tracked files should be readable, so it is made here.
BINARY = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


def copy_shop(folder: Path) -> Path:
    project = folder / "project"
    shutil.copytree(SHOP, project)
    (project / "docs" / "logo.png").write_bytes(BINARY)
    return project


@pytest.fixture
def quiet_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings, caches or variables of whoever runs the tests."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    return home


@pytest.fixture
def run(quiet_surroundings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def runner(words: list[str], folder: Path) -> Ran:
        monkeypatch.chdir(folder)
        capsys.readouterr()
        code = main(words)
        return Ran(code, *capsys.readouterr())

    return runner


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One indexed copy for all commands that only read."""
    project = copy_shop(tmp_path_factory.mktemp("indexed"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        assert main(["index", "-q", "-C", str(project)]) == 0
    yield project


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A copy without an index."""
    return copy_shop(tmp_path)


# What differs between machines and runs: numbers that are measured or tuned, and places.
_MEASURED = [
    (re.compile(r"\b(codefathom|SQLite) \d[\w.]*"), r"\1 #"),
    (re.compile(r'"version":"[\w.]+"'), '"version":"#"'),
    (re.compile(r'"(seconds|indexed_at|n_bytes)":[\d.]+'), r'"\1":#'),
    (re.compile(r"\b\d+(\.\d+)? (ms|s|kB|B|MB)\b"), r"# \2"),
    # An extra may be installed here or not.
    (re.compile(r"(?:not )?(installed: .+?)(?:; pip install 'codefathom\[\w+\]')?(?=[\"\n])"), r"[not] \1"),
    (re.compile(r'"(?!value")(\w+)":( ?)\d+\.\d+(e-\d+)?'), r'"\1":\2#'),
    (re.compile(r"(?<=  )\d\.\d\d$", re.MULTILINE), "#"),
    (re.compile(r"(^    \w+|confidence) \d+\.\d+", re.MULTILINE), r"\1 #"),
]


def normalised(text: str, project: Path, home: Path) -> str:
    for command in (Path(sys.executable).parent / "fathom", Path(sys.executable).parent / "fathom.exe"):
        text = text.replace(str(command), "<fathom>")
    for place, name in ((project, "<project>"), (home, "<home>"), (PACKAGE, "<package>")):
        text = text.replace(str(place.resolve()), name).replace(str(place), name)
    for pattern, replacement in _MEASURED:
        text = pattern.sub(replacement, text)
    return text
