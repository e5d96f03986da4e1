"""What history costs: processor time and room of an index of commits, and what one new commit adds to a search.

    python -m evals.history_cost REPOSITORY [--most 10000]

REPOSITORY is a folder of git. A clone that shares its objects is made beside the index, in a folder that is removed at
the end. Processor time is that of all processes, git included: it does not depend on what else the machine does. One
new commit is a search of the commits with one that is new, less the same search without; the median of five.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import codefathom

_QUESTION = "why was the retry limit changed"
_N_COMMITS = 5
_NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com", "-c", "commit.gpgsign=false")


class Cost(NamedTuple):
    """Seconds that a command took."""

    processor_s: float
    clock_s: float


def main() -> None:
    """Print the costs of the history of one repository."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--most", type=int, default=10_000, help="commits, the latest first")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        _run(["git", "clone", "-q", "--shared", "--no-checkout", str(options.repository.resolve()), str(clone)])
        environment = {**os.environ, "FATHOM_INDEX_DIR": str(Path(folder, "index"))}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder, "compiled"))  # as an installed package has them
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        _run([sys.executable, "-m", "compileall", "-q", *codefathom.__path__], None, environment)
        (clone / "fathom.toml").write_text(f"[history]\ncommits = {options.most}\n", encoding="utf-8")
        whole = _run(_fathom("search", "--commits", _QUESTION), clone, environment)
        n_bytes = sum(file.stat().st_size for file in Path(folder, "index").rglob("*") if file.is_file())
        counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=clone, capture_output=True, check=True)
        n_commits = min(int(counted.stdout), options.most)
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        print(
            f"{n_commits} commits: {whole.processor_s:.1f} s of processor time, {whole.clock_s:.1f} s by the clock "
            f"(load of the machine at the end: {load:.1f})"
        )
        print(f"room: {n_bytes / 1e6:.1f} MB, {n_bytes / n_commits / 1e3:.2f} kB a commit")
        each = [_one_new_commit(clone, environment, number) for number in range(_N_COMMITS)]
        print(f"one new commit: {median(each):.2f} s of processor time ({min(each):.2f} to {max(each):.2f})")


def _one_new_commit(clone: Path, environment: dict[str, str], number: int) -> float:
    _run(["git", *_NOBODY, "commit", "-q", "--allow-empty", "-m", f"Change the retry limit {number}"], clone)
    command = _fathom("search", "--commits", _QUESTION)
    return _run(command, clone, environment).processor_s - _run(command, clone, environment).processor_s


def _fathom(*words: str) -> list[str]:
    return [sys.executable, "-m", "codefathom", *words]


def _run(command: Sequence[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> Cost:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(used, time.perf_counter() - began)


if __name__ == "__main__":
    main()
