"""The sources of the page: the same limits as for Python, and types that are those of the server."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from tests.waiting import LONG_S

from .conftest import missing

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
FILES = sorted((WEB / "src").rglob("*.ts*"))
GENERATED = {"src/api/types.ts"}
# A table of names is one statement, and not a function.
FUNCTION = re.compile(
    r"^( *)(?:export )?(?:default )?(?:async )?function \w+|^( *)(?:export )?const \w+ = (?:async )?\("
)
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 80


def name_of(path: Path) -> str:
    return path.relative_to(WEB).as_posix()


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lengths(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each function and how many it has; prettier closes it where it began."""
    for number, line in enumerate(lines):
        found = FUNCTION.match(line)
        if found:
            indent = found[1] or found[2] or ""
            end = next((n for n in range(number, len(lines)) if re.match(rf"{indent}\}}", lines[n])), number)
            yield number + 1, end - number + 1


def test_the_description_of_the_interface_is_fresh() -> None:
    fresh = generator().api_description()
    assert (WEB / "openapi.json").read_text(encoding="utf-8") == fresh, "run: make docs"


def test_the_types_are_those_of_the_description(tmp_path: Path) -> None:
    if not (WEB / "node_modules").is_dir():
        missing("the packages of the page are not installed: make web")
    made = tmp_path / "types.ts"
    command = [str(WEB / "npm"), "exec", "--offline", "--", "openapi-typescript", "openapi.json", "-o", str(made)]
    subprocess.run(command, cwd=WEB, check=True, capture_output=True, timeout=LONG_S)
    fresh = made.read_text(encoding="utf-8")
    assert (WEB / "src" / "api" / "types.ts").read_text(encoding="utf-8") == fresh, "run: make docs"


def test_files_are_short() -> None:
    counted = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert len(counted) > 20
    assert {name: n for name, n in counted.items() if n > MAX_FILE_LINES and name not in GENERATED} == {}


def test_no_function_is_very_long() -> None:
    found = {
        f"{name_of(path)}:{line}": n
        for path in FILES
        for line, n in lengths(path.read_text(encoding="utf-8").splitlines())
    }
    assert len(found) > 50
    assert {place: n for place, n in found.items() if n > MAX_FUNCTION_LINES} == {}


def test_texts_stand_in_the_texts() -> None:
    """No words between tags: they would be English in Chinese too."""
    words = re.compile(r">\s*([A-Z][a-z]+(?: [a-z]+)*)\s*</")
    found = [
        f"{name_of(path)}: {text}"
        for path in FILES
        if path.suffix == ".tsx"
        for text in words.findall(path.read_text(encoding="utf-8"))
    ]
    assert [item for item in found if not item.endswith(": Codefathom")] == []
