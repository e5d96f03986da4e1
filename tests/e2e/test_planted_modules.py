"""A repository that holds modules by the names of those that we import: none of them may run, all of them are found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import httpx
import pytest
from tests.documents import pdf, word
from tests.waiting import LONG_S, Started

import codefathom

FATHOM = str(Path(sys.executable).with_name("fathom"))
QUESTION = "how is the price of an order computed"

# What the children import, of all kinds: those that parse, those that carry out jobs, those that search.
CHILDREN = """
import json, sys
from codefathom.index import workers
from codefathom.engine import Engine
from codefathom.server import app, run
from codefathom.server.searches import search_child
from codefathom.server.jobs import job_child
with Engine.open(sys.argv[1]) as engine:
    engine.index()
    engine.search("price")
    engine.ask("how is the price of an order computed")
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""

# What Python itself imports for `python -m` before it reads a line of ours, with the working directory in front.
BEFORE_OURS = "import importlib.util, json, runpy, sys; print(json.dumps(sorted(sys.modules)))"

SOURCE = '''def price_{n}_{k}(order, rate):
    """Compute the price of an order, with tax."""
    total = sum(item.price * item.count for item in order.items)
    return total + total * rate + {k}


'''


def printed(program: str, *words: str) -> list[str]:
    """Run a program in a neutral place and return the names that it prints."""
    command = [sys.executable, "-P", "-c", program, *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LONG_S, env=surroundings())
    return [str(name) for name in json.loads(ran.stdout.splitlines()[-1])]


def surroundings(tmp_path: Path | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "PYTHON"))}
    folder = str(tmp_path) if tmp_path else ""
    own = {"HOME": folder, "XDG_CACHE_HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
    return kept | (own if folder else {})


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Every name that could be imported: of the standard library, of installed packages, of what children load."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "fathom.toml").touch()
    (folder / "a.py").write_text(SOURCE.format(n=1, k=1))
    loaded = printed(CHILDREN, str(folder))
    assert {"codefathom", "json", "tantivy", "tree_sitter", "uvicorn", "pydantic"} <= {*loaded}
    every = {*loaded, *sys.stdlib_module_names, *packages_distributions(), "sitecustomize", "usercustomize"}
    return {name for name in every if name.isidentifier() and name != "__main__"}


def plant(root: Path, names: set[str]) -> Path:
    """Write a project in which each of these modules writes its name to a file beside it; return that file."""
    marker = root.parent / f"{root.name}-ran"
    code = f"with open({str(marker)!r}, 'a') as file:\n    file.write(__name__ + chr(10))\n"
    root.mkdir(parents=True)
    (root / "fathom.toml").touch()
    for number, name in enumerate(sorted(names)):
        # As a package or as a module, by turns: `ctypes/` and `json.py` are both seen in the wild.
        path = root / name / "__init__.py" if number % 2 or name == "codefathom" else root / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{code}\n\ndef planted_{name}():\n    return 1\n")
    if "codefathom" in names:
        for inner in {path.stem for path in Path(codefathom.__file__).parent.iterdir()} - {"__init__", "__pycache__"}:
            (root / "codefathom" / f"{inner}.py").write_text(code)
    if "pydantic" in names:  # libraries look for plug-ins of distributions
        (root / "planted-1.0.dist-info").mkdir()
        groups = ("pydantic", "keyring.backends", "opentelemetry_context", "hypothesis", "pytest11")
        text = "".join(f"[{group}]\nplanted = sitecustomize\n" for group in groups)
        (root / "planted-1.0.dist-info" / "entry_points.txt").write_text(text)
        (root / "planted-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (root / "paper.pdf").write_bytes(pdf(["One"]))  # for these another process is started
    (root / "design.docx").write_bytes(word("One"))
    for n in range(20):  # enough for worker processes to be started
        (root / f"orders_{n}.py").write_text("".join(SOURCE.format(n=n, k=k) for k in range(400)))
    return marker


def ran(marker: Path) -> str:
    return marker.read_text() if marker.exists() else ""


def run(root: Path, *command: str, **environment: str) -> str:
    """Run a command in a folder and return what it says. Each file is parsed, also one that another test has had."""
    environment |= {"FATHOM_INDEX__SIBLINGS": "false"}
    done = subprocess.run(
        command, cwd=root, env=surroundings(root.parent) | environment, capture_output=True, text=True, timeout=LONG_S,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_command_runs_nothing_of_the_repository(tmp_path: Path, names: set[str]) -> None:
    root = tmp_path / "repository"
    marker = plant(root, names)
    said = run(root, FATHOM, "index")
    assert ran(marker) == ""
    assert "failed" not in said
    for name in ("json", "ctypes", "codefathom", "usercustomize"):
        assert f"planted_{name}" in run(root, FATHOM, "symbols", f"planted_{name}")
    assert "orders_" in run(root, FATHOM, "search", "price of an order with tax")
    assert "orders_" in run(root, FATHOM, "ask", QUESTION)
    assert "orders_" in run(root, FATHOM, "context", QUESTION)
    run(root, FATHOM, "doctor")
    assert ran(marker) == ""


@pytest.mark.parametrize("environment", [{}, {"PYTHONPATH": f"{os.pathsep}/nowhere{os.pathsep}."}])
def test_the_module_runs_nothing_that_python_itself_does_not(
    tmp_path: Path, names: set[str], environment: dict[str, str]
) -> None:
    """`python -m` puts the working directory first before any line of ours; what we import is not taken from it."""
    root = tmp_path / "repository"
    early = {*printed(BEFORE_OURS), "codefathom", "sitecustomize", "usercustomize"}
    early |= {name for name in names if name.startswith("_")} if environment else set()
    marker = plant(root, names - early)
    (root / "planted-1.0.dist-info" / "entry_points.txt").unlink()
    for words in (["index"], ["search", "price of an order with tax"], ["ask", QUESTION]):
        assert "orders_" in run(root, sys.executable, "-m", "codefathom", *words, **environment) or words == ["index"]
        assert ran(marker) == ""


@contextmanager
def served(root: Path) -> Iterator[httpx.Client]:
    """Run `fathom serve` in a folder, on a free port."""
    environment = surroundings(root.parent) | {"FATHOM_SERVER__DATA_DIR": str(root.parent / "data")}
    command = [FATHOM, "serve", "--port", "0"]
    with Started(command, cwd=root, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert address is not None, line + server.stderr.read()
            with httpx.Client(base_url=address[0], timeout=LONG_S) as client:
                yield client
        finally:
            server.kill()


def test_the_server_runs_nothing_of_the_folder_in_which_it_was_started(tmp_path: Path, names: set[str]) -> None:
    root = tmp_path / "repository"
    marker = plant(root, names)
    with served(root) as client:
        (project,) = (listed["id"] for listed in client.get("/projects").json()["projects"])
        told = client.post(f"/projects/{project}/index").text
        assert '"complete"' in told, told
        found = client.post("/search", json={"query": "price of an order with tax", "project_id": project}).json()
        assert found["hits"]
        answer = client.post("/ask", json={"question": QUESTION, "project_id": project})
        assert answer.status_code == 200, answer.text
        for route in ("/projects", "/health", "/monitoring"):
            client.get(route, headers={"accept": "application/json"})
    assert ran(marker) == ""


def test_a_program_that_uses_the_library_starts_its_children_elsewhere(tmp_path: Path, names: set[str]) -> None:
    """The program runs in the repository, as a notebook does; its own imports are made before."""
    root = tmp_path / "repository"
    marker = plant(root, names)
    program = (  # numpy, because the index before is too small to load it
        "import numpy, os, sys; sys.path.remove(sys.argv.pop()); from codefathom import Engine\n"
        "def index(path):\n"
        "    with Engine.open(path) as engine: return len(engine.index().added)\n"
        "index(sys.argv[1]); sys.path.insert(0, ''); os.chdir(sys.argv[2]); print(index('.'))"
    )
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "fathom.toml").touch()
    (tmp_path / "before" / "a.py").write_text(SOURCE.format(n=1, k=1))
    said = run(tmp_path, sys.executable, "-c", program, str(tmp_path / "before"), str(root), "")
    assert int(said) > len(names)
    assert ran(marker) == ""
