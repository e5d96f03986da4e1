"""Questions that mean what they say: signs, expressions, imports, and a question from a pipe."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.fathom import run_fathom

from codefathom import Engine
from codefathom.errors import UsageError

FILES = {
    "net/socket.cpp": "#include <vector>\nnamespace net {\nint Socket::open(int port) { ++port; return port; }\n}\n",
    "notes.md": "# Notes\n\nThe network is written in C++.\n",
    "app/views.py": (
        "import os\nfrom shop.orders import Order\n\n\ndef show(user_name):\n    return Order(user_name)\n\n\n"
        "def other(request):\n    needle_value = request.find('x')\n    return needle_value\n"
    ),
    "shop/orders.py": "class Order:\n    def __init__(self, owner):\n        self.owner = owner\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    return root


def fathom(project: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run_fathom(*words, cwd=project, input=stdin, text=True)


@pytest.mark.parametrize(
    ("question", "path"),
    [("C++", "notes.md"), ("++", "notes.md"), ("::", "net/socket.cpp"), ("user_name", "app/views.py")],
)
def test_it_is_found(project: Path, question: str, path: str) -> None:
    with Engine.open(str(project)) as engine:
        assert path in [hit.chunk.path for hit in engine.search(question).hits]
        assert engine.search(question).hits[0].chunk.path in {path, "net/socket.cpp"}


def test_a_match_is_named_and_marked(project: Path) -> None:
    ran = fathom(project, "search", "--mode", "regex", r"needle\w+")
    head, reason, *lines = ran.stdout.splitlines()
    assert head.startswith("app/views.py:1-11  ") and " other " in head
    assert reason.strip() == "2 matches, the first in line 10"
    assert [line for line in lines if line.startswith(">")] == ["> 10      needle_value = request.find('x')"]


def test_a_question_from_a_pipe(project: Path) -> None:
    for command in ("search", "context", "ask"):
        piped = fathom(project, command, "-", stdin="who needs needle_value\n")
        assert (piped.returncode, piped.stdout) == (0, fathom(project, command, "who needs needle_value").stdout)
    empty = fathom(project, "search", "-")
    assert (empty.returncode, empty.stdout) == (2, "")
    assert "stdin contains no text" in empty.stderr


def test_imports_are_listed_as_symbols(project: Path) -> None:
    listed = json.loads(fathom(project, "symbols", "--kind", "import", "--json").stdout)["symbols"]
    assert [(item["path"], item["qualified_name"], item["kind"]) for item in listed] == [
        ("app/views.py", "os", "import"),
        ("app/views.py", "shop.orders.Order", "import"),
        ("net/socket.cpp", "vector", "import"),
    ]
    with Engine.open(str(project)) as engine:
        (order,) = engine.symbols("order", kind="import")
        assert (order.symbol.name, order.symbol.name_line) == ("Order", 2)
        assert engine.n_symbols(kind="import") == 3
        assert engine.symbols(kind="import", path="net")[0].symbol.name == "vector"
        with pytest.raises(UsageError, match="no kind of symbol is called 'nonsense'"):
            engine.symbols(kind="nonsense")
        assert [item.symbol.name for item in engine.symbols("order", kind="cls")] == ["Order"]
