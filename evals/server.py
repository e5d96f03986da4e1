"""A server to measure, in a process of its own, with projects and searches for it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from threading import Event, Thread

import httpx

from evals.benchmark import lay, standard_library
from evals.memory import PROC, bytes_held, family
from evals.run import REPOSITORY

PARTS = ("src", "tests", "docs", "evals", "training")
THIRD = "third"
_LOOK_S = 0.1
_STRIDE = 7_919  # a prime


@dataclass(frozen=True, slots=True)
class Cpu:
    """Processor time: of the server itself, and of the processes that search for it."""

    server_s: float
    searching_s: float

    def __sub__(self, before: Cpu) -> Cpu:
        return Cpu(self.server_s - before.server_s, self.searching_s - before.searching_s)


@dataclass
class Jobs:
    """What was indexed meanwhile."""

    n_done: int = 0


class Server:
    """A running server."""

    def __init__(self, address: str, pid: int) -> None:
        self.address = address
        self._pid = pid

    def add(self, laid: dict[str, Path]) -> dict[str, int]:
        """Add trees as projects and index them, but for the third; return how many files each has."""
        counts = {}
        with httpx.Client(base_url=self.address, timeout=900) as client:
            for name, tree in laid.items():
                client.post("/projects", json={"path": str(tree), "name": name}).raise_for_status()
                if name != THIRD:
                    answer = client.post("/index", json={"codebase_path": str(tree)}).raise_for_status()
                    counts[name] = int(answer.json()["total_files"])
        return counts

    @contextmanager
    def indexing(self) -> Iterator[Jobs]:
        """Have the third project indexed from nothing again and again while the block runs, already when it begins."""
        jobs, has_begun, may_end = Jobs(), Event(), Event()
        thread = Thread(target=self._index, args=(jobs, has_begun, may_end))
        thread.start()
        has_begun.wait()
        try:
            yield jobs
        finally:
            may_end.set()
            thread.join()

    def _index(self, jobs: Jobs, has_begun: Event, may_end: Event) -> None:
        with httpx.Client(base_url=self.address, timeout=900, headers={"accept": "application/json"}) as client:
            while not may_end.is_set():
                job = client.post(f"/projects/{THIRD}/index", json={"full": True}).json()["id"]
                while (state := client.get(f"/jobs/{job}").json()["state"]) in {"queued", "running"}:
                    if state == "running":
                        has_begun.set()
                    if may_end.wait(_LOOK_S):
                        client.post(f"/jobs/{job}/cancel")
                jobs.n_done += state == "done"
                has_begun.set()

    def held(self) -> int:
        """Return the memory of the server and its processes; 0 where the system has no /proc."""
        return bytes_held(self._pid)

    def cpu(self) -> Cpu:
        """Return the processor time used so far; 0 where the system has no /proc."""
        of_search = [pid for pid in family(self._pid) if b"search_child" in _read(pid, "cmdline")]
        return Cpu(_cpu_s(self._pid), sum(map(_cpu_s, of_search)))


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Run a server with its usual settings for the time of the block; its files lie in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_"))}
    own = {
        "HOME": str(folder),
        "FATHOM_SERVER__DATA_DIR": str(folder / "data"),
        "FATHOM_SERVER__ALLOWED_ROOTS": str(folder),
    }
    said = folder / "log"
    with said.open("w") as log:
        command = [sys.executable, "-m", "codefathom", "serve", "--port", "0"]
        with subprocess.Popen(command, env=kept | own, stderr=log, cwd=folder) as process:
            try:
                while not (found := re.search(r"http://\S+:\d+", said.read_text())):
                    if process.poll() is not None:
                        raise RuntimeError(said.read_text())
                    time.sleep(_LOOK_S)
                yield Server(found[0], process.pid)
            finally:
                process.terminate()


def trees(folder: Path) -> dict[str, Path]:
    """Lay out this repository, the standard library, and the library once more with files that no cache knows."""
    ours = folder / "codefathom"
    for part in PARTS:
        ignored = shutil.ignore_patterns("__pycache__", "model", "static")
        shutil.copytree(REPOSITORY / part, ours / part, ignore=ignored)
    library, third = lay(standard_library(), folder), folder / THIRD
    for path in library.rglob("*.py"):
        target = third / path.relative_to(library)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"\n\n" + path.read_bytes())
    for tree in (ours, library, third):
        (tree / "fathom.toml").touch()
    return {"codefathom": ours, "stdlib": library, THIRD: third}


def queries(laid: dict[str, Path]) -> Iterator[object]:
    """Yield searches without end, each another one: first sentences of the documentation of definitions."""
    texts = [question.text for question in standard_library().questions]
    for tree in laid.values():
        texts += [text for path in sorted(tree.rglob("*.py")) for text in sentences(path)]
    distinct = list(dict.fromkeys(texts))
    # Neighbours come from different files.
    mixed = [distinct[(number * _STRIDE) % len(distinct)] for number in range(len(distinct))]
    projects = cycle(name for name in laid if name != THIRD)
    n_round = 0
    while True:
        for text in mixed:
            yield {"query": f"{text} {n_round or ''}".strip(), "project_id": next(projects)}
        n_round += 1


def sentences(path: Path) -> Iterator[str]:
    """Yield the first lines of the documentation in a Python file that have three words or more."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            line = (ast.get_docstring(node) or "").partition("\n")[0]
            if len(line.split()) > 2:
                yield line[:200]


def _read(pid: int, name: str) -> bytes:
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:  # it has ended, or there is no /proc
        return b""


def _cpu_s(pid: int) -> float:
    fields = _read(pid, "stat").rpartition(b") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0
