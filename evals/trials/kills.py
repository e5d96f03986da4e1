"""Kills an index run at hundreds of points and compares what the next run makes of it with an index made from nothing.

    python -m evals.trials.kills [--points 500] [--seed 1]

Half of the runs are killed in the moment before the n-th thing that Python does to a file (open, rename,
remove; n is drawn from all that a whole run does), half at a random time of it, which also hits SQLite and tantivy at
work. Half begin without an index, half with one that is behind: some files changed, some new, some gone. Compared are
texts, chunks, lines, symbols, counts, and the hits of six questions in four modes. Exit status 1 when something
differs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codefathom import Engine

N_FILES = 24
WORDS = [a + b for a in ("ba", "cor", "del", "fim", "gul", "han") for b in ("ta", "nix", "rom", "sel", "pud", "wek")]
# No two chunks may tie at the end of the candidates: which of them is taken then depends on their order in the index.
QUESTIONS = ("handler_7", "compute the total of orders", "Model12", "batanix and corpud", "hansel", "retry the fimrom")
MODES = ("hybrid", "lexical", "vector", "symbol")
_INDEX = """
import os, signal, sys
root, point = sys.argv[1], int(sys.argv[2])
from codefathom import Engine
import codefathom.index.indexing, codefathom.stores.cache
n = 0
def count(event, arguments):
    global n
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "sqlite3.connect"):
        n += 1
        if n == point:
            os.kill(os.getpid(), signal.SIGKILL)
print("on", flush=True)
sys.addaudithook(count)
with Engine.open(root) as engine:
    engine.index()
print(n, flush=True)
"""


def make(root: Path, variant: int) -> None:
    """Write a project; another variant gives a third of the files other texts, and some other names."""
    for number in range(N_FILES):
        own = variant if number % 3 == 0 else 0
        chance = random.Random(f"{number} {own}")
        parts = [
            f"class Model{number}:\n    def handler_{number}(self, orders):\n"
            f'        """Compute the total of orders {number} {own}."""\n        return sum(orders) + {own}\n\n'
        ]
        parts += [
            f"def load_{number}_{k}(path):\n    # retry {' '.join(chance.choices(WORDS, k=9))}\n"
            f"    return {chance.choice(WORDS)}(path) + {chance.choice(WORDS)}\n\n"
            for k in range(12)
        ]
        name = f"m{number}{'x' * (variant % 2) if number % 8 == 0 else ''}.py"
        path = root / f"pack{number % 3}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(parts))


def state(root: Path) -> dict[str, object]:
    """Bring the index up to date and return all that it shows."""
    with Engine.open(str(root)) as engine:
        engine.index()
        shown: dict[str, object] = {}
        for path in sorted(str(file.relative_to(root)) for file in root.rglob("*.py")):
            files = engine.files
            shown[path] = (files.lines(path), files.outline(path))
        for mode in MODES:
            for question in QUESTIONS:
                hits = engine.search(question, mode=mode).hits  # type: ignore[arg-type]
                shown[f"{mode} {question}"] = [
                    (hit.chunk.id, hit.chunk.start_line, hit.chunk.text, round(hit.score, 5)) for hit in hits
                ]
        status = engine.status()
        shown["counts"] = (status.n_documents, status.n_chunks, status.n_symbols, status.n_without_vector)
        shown["doctor"] = [check.name for check in engine.doctor() if not check.ok]
        return shown


def killed(root: Path, point: int, seconds: float) -> tuple[bool, int]:
    """Index in a process that dies at a point, or after some time; return whether it died, and what it counted."""
    command = [sys.executable, "-P", "-c", _INDEX, str(root), str(point)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd="/") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        if seconds:
            time.sleep(seconds)
            process.kill()
        counted = process.stdout.read()
        process.wait()
    return process.returncode < 0, int(counted or 0)


def _begin(root: Path, projects: list[Path], *, is_increment: bool) -> None:
    """Write the second variant; its index does not exist, or is that of the first."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(os.environ["FATHOM_CACHE_DIR"], ignore_errors=True)
    without_index = shutil.ignore_patterns(".fathom")
    shutil.copytree(projects[0 if is_increment else 1], root, ignore=without_index)
    if is_increment:
        with Engine.open(str(root)) as engine:
            engine.index()
        for path in root.rglob("*.py"):
            path.unlink()
        shutil.copytree(projects[1], root, ignore=without_index, dirs_exist_ok=True)


def trial(n_points: int, seed: int, folder: Path) -> tuple[int, list[str]]:
    """Return how many runs were killed, and what differed after them."""
    chance = random.Random(seed)
    projects = [folder / f"variant{variant}" for variant in range(2)]
    clean = []
    for variant, project in enumerate(projects):
        make(project, variant)
        (project / "fathom.toml").write_text("[index]\nworkers = 0\n")
        clean.append(state(project))
    root = folder / "project"
    n_killed, different = 0, []
    lengths: dict[bool, tuple[int, float]] = {}
    n = 0
    while n_killed < n_points:
        n += 1
        is_increment = n % 2 == 0
        _begin(root, projects, is_increment=is_increment)
        if is_increment not in lengths:
            began = time.monotonic()
            lengths[is_increment] = killed(root, 0, 0.0)[1], time.monotonic() - began
            continue
        n_steps, whole_s = lengths[is_increment]
        times = chance.choice((1, 1, 2))
        for _ in range(times):
            by_point = chance.random() < 0.5
            point, seconds = (chance.randint(1, n_steps), 0.0) if by_point else (0, chance.random() * whole_s)
            n_killed += killed(root, point, seconds)[0]
        if (found := state(root)) != clean[1]:
            keys = [key for key in clean[1] if found.get(key) != clean[1][key]]
            different.append(f"run {n} (seed {seed}, {'increment' if is_increment else 'new'}): {keys[:5]}")
        if n % 50 == 0:
            print(f"{n_killed} killed, {len(different)} different", flush=True)
    return n_killed, different


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fathom-kills-"))
    for name, place in (("FATHOM_CACHE_DIR", "cache"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")):
        os.environ[name] = str(folder / place)
    try:
        n_killed, different = trial(options.points, options.seed, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in different:
        print(line)
    print(f"{n_killed} runs killed: {len(different)} differed from an index made from nothing")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
