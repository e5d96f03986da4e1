"""Times from a save to the first search that finds it: `python -m evals.following`, on an idle machine.

Searches do not look for changed files here (`search.refresh = "never"`), so that only the watching can bring a change.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from codefathom import Engine
from codefathom.config.configuration import load_settings
from evals.metrics import percentile
from evals.report import machine
from evals.server import serving
from evals.trees import copy_tree, source_roots

LIMIT_S = 60.0
_REST_S = 1.0  # between two saves
_SETTINGS = {"search.refresh": "never"}


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--saves", type=int, default=30)
    options = parser.parse_args()
    print(f"{machine()}; {options.files} files, {options.saves} saves; seconds from a save to a search that finds it")
    for name, following in {"fathom index --watch": _by_command, "fathom serve": _by_server}.items():
        with TemporaryDirectory() as scratch:
            root = Path(scratch).resolve() / "project"
            copy_tree(source_roots(Path(".bench-corpora")), root, options.files)
            (root / "fathom.toml").touch()
            with following(root) as is_there:
                times = [_time(root, number, is_there) for number in range(options.saves)]
        print(
            f"{name}: median {percentile(times, 50):.2f}, 95 of 100 {percentile(times, 95):.2f}, max {max(times):.2f}"
        )


def _time(root: Path, number: int, is_there: Callable[[str], bool]) -> float:
    """Save a file that has not been there, or has been another one, and return the time until it is there."""
    time.sleep(_REST_S)
    name = f"follow_zebra_{number}"
    (root / f"saved{number % 3}.py").write_text(f"def {name}(herd):\n    return herd.{name}_size\n")
    saved = time.perf_counter()
    while not is_there(name):
        if time.perf_counter() - saved > LIMIT_S:
            raise TimeoutError(f"{name} was not there after {LIMIT_S} s")
        time.sleep(0.01)
    return time.perf_counter() - saved


@contextmanager
def _by_command(root: Path) -> Iterator[Callable[[str], bool]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_"))}
    command = [sys.executable, "-m", "codefathom", "index", "--watch", "-C", str(root), "-q"]
    environment = kept | {"HOME": str(root.parent)}
    # The searches of this process must know the index that the other one makes.
    os.environ["XDG_CACHE_HOME"] = environment["XDG_CACHE_HOME"] = str(root.parent / "cache")
    os.environ["XDG_STATE_HOME"] = environment["XDG_STATE_HOME"] = str(root.parent / "state")
    with Engine.open(str(root), settings=load_settings(str(root), overrides=_SETTINGS)) as engine:
        engine.index()
        with subprocess.Popen(command, env=environment) as process:
            try:
                time.sleep(10 * _REST_S)
                yield lambda name: any(name in hit.chunk.text for hit in engine.search(name, limit=1).hits)
            finally:
                process.terminate()


@contextmanager
def _by_server(root: Path) -> Iterator[Callable[[str], bool]]:
    with serving(root.parent) as server, httpx.Client(base_url=server.address, timeout=LIMIT_S) as client:
        project = (
            client.post("/projects", json={"path": str(root), "settings": _SETTINGS}).raise_for_status().json()["id"]
        )
        client.post("/index", json={"codebase_path": str(root)}, timeout=900).raise_for_status()
        client.post(f"/projects/{project}/watch").raise_for_status()
        time.sleep(10 * _REST_S)

        def is_there(name: str) -> bool:
            result = client.post("/search", json={"query": name, "project_id": project, "limit": 1}).raise_for_status()
            return any(name in hit["content"] for hit in result.json()["hits"])

        yield is_there


if __name__ == "__main__":
    main()
