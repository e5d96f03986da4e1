"""Many processes over one project at the same time: some index, some search, ask, export, and one changes the files.

    python -m evals.trials.crowd [--processes 12] [--minutes 10] [--seed 1]

Every command is a process of its own, as people and agents start them. An error is an exit status of 2 or above, a
traceback, or a hit whose text no version of its file ever had. Exit status 1 when there was one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from threading import Event, Lock, Thread

N_FILES = 60
# As often as people do it: mostly questions.
_COMMANDS = (
    *(["search", "--json", "compute the total of orders"], ["search", "--json", "@@handler_7_0"]),
    *(["search", "--json", "--mode", "lexical", "retry"], ["search", "--json", "--mode", "regex", "handler_1\\d"]),
    *(["index", "-q"], ["index", "-q"], ["ask", "where is the total computed"], ["context", "total of orders"]),
    *(["symbols", "handler"], ["related", "@@handler_3_0"], ["status"], ["export", "--as", "jsonl"], ["doctor"]),
)
_LIMIT_S = 600


class Crowd:
    """What happened."""

    def __init__(self, root: Path, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self._root = root
        self._seed = seed
        self._lock = Lock()
        self._over = Event()
        self._versions = [0] * N_FILES
        for number in range(N_FILES):
            self._write(number, 0)

    def run(self, n_processes: int, seconds: float) -> None:
        """Let them all run for some time."""
        threads = [Thread(target=self._ask, args=(number,)) for number in range(n_processes - 1)]
        threads.append(Thread(target=self._change))
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self._over.set()
        for thread in threads:
            thread.join()

    def _ask(self, number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        while not self._over.is_set():
            command = chance.choice(_COMMANDS)
            try:
                done = subprocess.run(
                    [sys.executable, "-P", "-m", "codefathom", *command],
                    cwd=self._root,
                    capture_output=True,
                    text=True,
                    timeout=_LIMIT_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                self._note(f"{' '.join(command)}: not ended after {_LIMIT_S} s")
                continue
            with self._lock:
                self.done[command[0]] += 1
            if done.returncode > 1 or "Traceback" in done.stderr or "damaged" in done.stderr:
                self._note(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-500:]}")
            elif "--json" in command and done.returncode == 0:
                self._check(json.loads(done.stdout))

    def _check(self, result: dict[str, list[dict[str, object]]]) -> None:
        for hit in result["hits"]:
            number = int(str(hit["path"]).rpartition("/m")[2].removesuffix(".py"))
            first, last = int(str(hit["start_line"])), int(str(hit["end_line"]))
            possible = range(self._versions[number] + 1)
            if not any(_lines(number, version, first, last) == hit["content"] for version in possible):
                self._note(f"{hit['path']}:{first}-{last} shows what never stood there")

    def _change(self) -> None:
        chance = random.Random(self._seed)
        while not self._over.wait(0.5):
            number = chance.randrange(N_FILES)
            self._versions[number] += 1
            self._write(number, self._versions[number])

    def _write(self, number: int, version: int) -> None:
        path = self._root / f"pack{number % 5}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(_text(number, version))
        os.replace(new, path)

    def _note(self, error: str) -> None:
        with self._lock:
            self.errors.append(error)


def _text(number: int, version: int) -> str:
    parts = [f"class Model{number}:\n    version = {version}\n\n"]
    parts += [
        f"def handler_{number}_{k}(orders):\n    # Compute the total of orders, retry {version + k}\n"
        f"    return sum(orders) + {number * k}\n\n"
        for k in range(version % 7 + 3)
    ]
    return "".join(parts)


def _lines(number: int, version: int, first: int, last: int) -> str:
    return "".join(_text(number, version).splitlines(keepends=True)[first - 1 : last])


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fathom-crowd-"))
    for name in ("FATHOM_CACHE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = str(folder / name.lower())
    crowd = Crowd(folder / "project", options.seed)
    try:
        crowd.run(options.processes, 60 * options.minutes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for error in crowd.errors[:20]:
        print(error)
    counts = ", ".join(f"{name} {n}" for name, n in sorted(crowd.done.items()))
    print(f"{options.processes} processes, {options.minutes:g} minutes: {sum(crowd.done.values())} commands ({counts})")
    print(f"{len(crowd.errors)} errors")
    return 1 if crowd.errors else 0


if __name__ == "__main__":
    sys.exit(main())
