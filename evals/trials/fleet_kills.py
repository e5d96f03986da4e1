"""A fleet on three nodes of Ray, of which actors, nodes and the gateway are killed while questions run.

    python -m evals.trials.fleet_kills [--kills 51] [--minutes 60]

The nodes are processes of this machine with addresses of their own. Rooms of this package are the repositories, with a
shard each. Two readers ask without a pause: one in this process, one over HTTP at a `fathom serve`. Each answer is
compared with that of one machine. In turn SIGKILL goes to an actor, to a node (its raylet and its actor), and to the
gateway (`fathom serve` with the processes that search for it), which is started again; the next kill comes when all of
it is there again. The head of the cluster stays: without it Ray has no cluster. Exit status 1 when an answer was wrong,
a repository was lost, or a question failed while its reader's gateway was there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from codefathom import Engine
from codefathom.fleet import fleet_run
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.fleet import Fleet
from evals.fleet_nodes import OTHERS, add_node, end, start_head

_PACKAGE = Path(fleet_run.__file__).parents[1]
_ROOMS = ("search", "stores", "question", "text", "mcp", "answer")
_QUESTIONS = (
    "where is the confidence of a search calculated",
    "LexicalView",
    "which words of a question are rare",
    "stop words of a question repo:text,search",
    "budget of tokens",
    "tools of an agent",
)
_LIMIT_S = 300.0  # for what takes seconds on an idle machine
_KINDS = ("actor", "node", "gateway")
_UNCACHED = {"FATHOM_SERVER__CACHE_ENTRIES": "1"}  # so each answer comes from the shards


@dataclass
class _Reader:
    """The answers that one reader got."""

    n_right: int = 0
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    n_partial: int = 0
    longest_partial_s: float = 0.0
    longest_gap_s: float = 0.0  # between two whole answers
    partial_since: float = 0.0  # 0: the last answer was whole
    whole_at: float = field(default_factory=time.monotonic)

    def add(self, question: str, paths: list[str], expected: list[str], *, is_partial: bool) -> None:
        """Count an answer."""
        now = time.monotonic()
        if is_partial:
            self.n_partial += 1
            self.partial_since = self.partial_since or now
            self.longest_partial_s = max(self.longest_partial_s, now - self.partial_since)
            return
        self.partial_since = 0.0
        self.longest_gap_s, self.whole_at = max(self.longest_gap_s, now - self.whole_at), now
        if paths == expected:
            self.n_right += 1
        else:
            self.wrong.append(f"{question}: {paths} instead of {expected}")


class _Gateway:
    """A `fathom serve` that can be killed."""

    def __init__(self, root: str, cluster: str) -> None:
        self._words = [sys.executable, "-m", "codefathom", "serve", root, "--cluster", cluster]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        words = [*self._words, "--port", self.address.rpartition(":")[2]]
        self._process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        _until(self.is_ready)
        self.project = json.loads(urlopen(f"{self.address}/projects").read())["projects"][0]["id"]

    def is_ready(self) -> bool:
        """Return True if `/readyz` says that each shard is answered for."""
        try:
            return bool(urlopen(f"{self.address}/readyz", timeout=30).status == 200)
        except (URLError, OSError):
            return False

    def search(self, question: str) -> tuple[list[str], bool]:
        """Return the paths of the hits, and whether the answer is partial. Raises OSError."""
        body = json.dumps({"query": question, "project_ids": [self.project], "limit": 10}).encode()
        request = Request(f"{self.address}/search", body, {"content-type": "application/json"})
        with urlopen(request, timeout=_LIMIT_S) as response:
            result = json.loads(response.read())
        partial = any(project.get("partial") for project in result["projects"])
        return [f"{hit['path']}:{hit['start_line']}" for hit in result["hits"]], partial

    def kill(self) -> None:
        """Kill it with the processes that it has started; those that search are groups of their own."""
        children = _children_of(self._process.pid)
        for process in (self._process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()


class _Trial:
    """The cluster, the fleet, and who asks it."""

    def __init__(self, work: Path) -> None:
        self.nodes = start_head()
        self.others = {number: add_node(self.nodes, number) for number in OTHERS}
        self.nodes.wait_for_nodes()
        fleet_run.MOST_BYTES = 1  # a shard for each repository
        for name in _ROOMS:
            shutil.copytree(_PACKAGE / name, work / name, ignore=shutil.ignore_patterns("__pycache__"))
        with Fleet.make("rooms") as fleet:
            fleet.add([str(work / name) for name in _ROOMS])
            fleet.index()
            self.root = fleet.root
        with Engine.open(self.root) as here:
            self.expected = {question: _paths(here.search(question, limit=10)) for question in _QUESTIONS}
            settings = here.settings
        search = settings.search._replace(fleet_cluster=self.nodes.address)
        self.there = Engine.open(self.root, settings=settings._replace(search=search))
        self.there.search("warm up")
        self.machines = RayCluster.connect(self.nodes.address).machines
        self.gateway = _Gateway(self.root, self.nodes.address)
        self.inside, self.outside = _Reader(), _Reader()
        self.is_over, self.is_down = Event(), Event()

    @contextmanager
    def questions_running(self) -> Iterator[None]:
        """Ask inside and outside during the block."""
        threads = [Thread(target=self._ask, args=item, daemon=True) for item in self._askers()]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join(_LIMIT_S)

    def _askers(self) -> tuple[tuple[_Reader, Callable[[str], tuple[list[str], bool]]], ...]:
        def search(question: str) -> tuple[list[str], bool]:
            result = self.there.search(question, limit=10)
            return _paths(result), result.partial is not None

        return (self.inside, search), (self.outside, self._at_gateway)

    def _at_gateway(self, question: str) -> tuple[list[str], bool]:
        return self.gateway.search(question)

    def _ask(self, reader: _Reader, search: Callable[[str], tuple[list[str], bool]]) -> None:
        while not self.is_over.is_set():
            for question, expected in self.expected.items():
                try:
                    paths, is_partial = search(question)
                except Exception as error:
                    if reader is self.inside or not self.is_down.is_set():
                        reader.failed.append(f"{question}: {error!r}")
                    time.sleep(0.2)
                    continue
                reader.add(question, paths, expected, is_partial=is_partial)

    def kill(self, kind: str, number: int) -> None:
        """Kill one of a kind, and wait until all is there again."""
        if kind == "gateway":
            self.is_down.set()
            self.gateway.kill()
            self.gateway.start()
            self.is_down.clear()
            return
        place = OTHERS[number % len(OTHERS)]
        node = self.others[place]
        os.kill(self._process_of(node.node_id), signal.SIGKILL)
        if kind == "node":
            self.nodes.remove_node(node, allow_graceful=False)
            _until(lambda: node.node_id not in self.machines.usable())
            self.others[place] = add_node(self.nodes, place)
            _until(lambda: self.others[place].node_id in self.machines.usable())
        _until(lambda: self._process_of(self.others[place].node_id) > 0)
        n_right = self.inside.n_right
        _until(lambda: self.inside.n_right > n_right + len(_QUESTIONS) and self.gateway.is_ready())

    def _process_of(self, node: str) -> int:
        import ray

        try:
            return int(ray.get(self.machines.actor(node).__ray_call__.remote(lambda _: os.getpid()), timeout=60))
        except ray.exceptions.RayError:
            self.machines.has_died(node)
            return 0

    def lost(self) -> list[str]:
        """Return the repositories in which nothing is found any more."""
        return [name for name in _ROOMS if not self.there.search(f"import repo:{name}", limit=1).hits]

    def close(self) -> None:
        """End all of it."""
        self.gateway.kill()
        self.there.close()
        end(self.nodes)


def main() -> int:
    """Kill, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=51)
    parser.add_argument("--minutes", type=float, default=60.0, help="no kill begins after so long")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fathom-kills-") as scratch:
        places = {"FATHOM_STATE_DIR": f"{scratch}/state", "XDG_DATA_HOME": f"{scratch}/data"}
        os.environ |= {**places, **_UNCACHED}
        trial = _Trial(Path(scratch))
        try:
            return _run(trial, options.kills, options.minutes * 60)
        finally:
            trial.close()


def _run(trial: _Trial, n_kills: int, most_s: float) -> int:
    kills = Counter[str]()
    began = time.monotonic()
    with trial.questions_running():
        for number in range(n_kills):
            if time.monotonic() - began > most_s:
                break
            kind = _KINDS[number % len(_KINDS)]
            trial.kill(kind, number // len(_KINDS))
            kills[kind] += 1
            print(f"{time.monotonic() - began:.0f} s: {number + 1} kills, the last one of the {kind}", file=sys.stderr)
    inside, outside, lost = trial.inside, trial.outside, trial.lost()
    for line in (*inside.wrong, *outside.wrong, *inside.failed, *outside.failed)[:20]:
        print(line, file=sys.stderr)
    rows = {
        "kills of an actor, a node, the gateway": ", ".join(str(kills[kind]) for kind in _KINDS),
        "right answers, asked in a process and at `fathom serve`": f"{inside.n_right}, {outside.n_right}",
        "wrong answers": f"{len(inside.wrong)}, {len(outside.wrong)}",
        "failed questions, without those to a killed gateway": f"{len(inside.failed)}, {len(outside.failed)}",
        "partial answers": f"{inside.n_partial}, {outside.n_partial}",
        "longest time with partial answers": f"{inside.longest_partial_s:.1f} s, {outside.longest_partial_s:.1f} s",
        "longest time without a whole answer": f"{inside.longest_gap_s:.1f} s, {outside.longest_gap_s:.1f} s",
        "lost repositories": str(len(lost)),
    }
    for name, value in rows.items():
        print(f"| {name} | {value} |")
    return 1 if inside.wrong or outside.wrong or inside.failed or outside.failed or lost else 0


def _paths(result: Any) -> list[str]:
    return [f"{hit.chunk.path}:{hit.chunk.start_line}" for hit in result.hits]


def _children_of(process: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    pairs = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split("\n")
    parents = {int(line.split()[0]): int(line.split()[1]) for line in pairs if line.strip()}
    found: list[int] = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def _until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + _LIMIT_S
    while not happens():
        if time.monotonic() > end:
            raise TimeoutError(f"{happens} did not come true in {_LIMIT_S} s")
        time.sleep(0.1)


if __name__ == "__main__":
    raise SystemExit(main())
