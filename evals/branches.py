"""Switching between two branches of a large repository: what each index run reads, parses and embeds.

A repository is made with two branches that differ in some files. Each run is a process of its own; what it parsed and
embedded is counted in the user's cache, where every parse result that was made is kept, and every vector of a model
that is not the bundled one (`--model`), which keeps none there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from evals.report import machine, number, table, write_section

PAGE = """\
# Branches of one repository

Two branches of a repository of {n_files:,} files that differ in {n_changed} files, on {machine}. The first run \
indexes `main`, then the branch is switched in the same folder. The last three runs read a revision from the object \
store (`fathom index --rev`), which has an index of its own that begins with a copy of the one of the folder. "Parsed" \
and "embedded" are those that were never seen before; time is that of the processor.

{table}

The command: `python -m evals.branches --page docs/benchmarks-operations.md` (a part of `make bench-worktrees`).
"""
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


class Step(NamedTuple):
    """One index run."""

    name: str
    n_read: int  # files that the run found added, changed or stamped anew
    n_removed: int
    n_parsed: int  # files
    n_embedded: int  # chunks
    cpu_s: float


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table, and write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--changed", type=int, default=50)
    parser.add_argument("--model", default="", help="embedding model, such as model2vec:FOLDER; else the bundled one")
    parser.add_argument("--page", default="")
    arguments = parser.parse_args(words)
    if arguments.model:
        os.environ["FATHOM_EMBED__MODEL"] = arguments.model
    with TemporaryDirectory(prefix="fathom-branches-") as folder:
        repository = make_repository(Path(folder) / "repository", arguments.files, arguments.changed)
        steps = list(measure(repository, Path(folder)))
    heads = ("run", "files read", "removed", "parsed", "chunks embedded", "time ÷ first")
    rows = [[step.name, *map(str, step[1:5]), number(step.cpu_s / max(steps[0].cpu_s, 1e-9), ".2f")] for step in steps]
    text = table(heads, rows)
    print(f"first run: {steps[0].cpu_s:.1f} s\n{text}")
    if arguments.page:
        page = PAGE.format(n_files=arguments.files, n_changed=arguments.changed, machine=machine(), table=text)
        write_section(Path(arguments.page), "python -m evals.branches", page)
    return 0


def measure(repository: Path, folder: Path) -> Iterator[Step]:
    """Yield the runs: the first one, a switch and the way back, then revisions."""
    yield _step("first, `main`", repository, folder)
    for branch in ("feature", "main", "feature"):
        git(repository, "switch", "--quiet", branch)
        yield _step(f"switched to `{branch}`", repository, folder)
    for revision in ("main", "feature", "main"):
        yield _step(f"`--rev {revision}`", repository, folder, revision)


def make_repository(root: Path, n_files: int, n_changed: int) -> Path:
    """Make a repository with the branches `main` and `feature`; on `feature` some files differ."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "-b", "main")
    chance = random.Random(5)
    for file in range(n_files):
        path = root / f"package_{file % 50}" / f"module_{file}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(_source(file, chance))
    _commit(root)
    git(root, "switch", "--quiet", "-c", "feature")
    for file in range(0, n_files, max(n_files // n_changed, 1)):
        path = root / f"package_{file % 50}" / f"module_{file}.py"
        path.write_text(path.read_text() + f"\n\ndef only_on_feature_{file}(value):\n    return value - {file}\n")
    _commit(root)
    git(root, "switch", "--quiet", "main")
    return root


def _source(number_of_file: int, chance: random.Random) -> str:
    functions = []
    for index in range(4):
        words = ["".join(chance.choices("bcdfgklmnprst", k=4)) + "a" for _ in range(6)]  # so that no two are alike
        lines = "".join(f"    {word} = value * {chance.randrange(1000)}\n" for word in words)
        functions.append(f"def {words[0]}_{number_of_file}_{index}(value):\n{lines}    return {' + '.join(words)}\n")
    return "\n\n".join(functions)


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    subprocess.run(["git", "-C", str(folder), *words], check=True, timeout=600, env=os.environ | ENVIRONMENT)


def _commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "A commit")


def _step(name: str, root: Path, folder: Path, revision: str = "") -> Step:
    environ = {**os.environ, "FATHOM_CACHE_DIR": str(folder / "cache"), "FATHOM_STATE_DIR": str(folder / "state")}
    n_parsed, n_embedded = made(folder / "cache")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "codefathom", "index", "--json", "-q", "-C", str(root)]
    words += ["--rev", revision] if revision else []
    run = subprocess.run(words, check=True, env=environ, timeout=600, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(run.stdout)
    return Step(
        name,
        len(report["added"]) + len(report["changed"]) + report["n_touched"],
        len(report["removed"]),
        made(folder / "cache")[0] - n_parsed,
        made(folder / "cache")[1] - n_embedded,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )


def made(cache: Path) -> tuple[int, int]:
    """Return the number of parse results and of vectors that were ever made with a cache."""
    files = list(cache.glob("cache-*.db"))
    if not files:
        return 0, 0
    connection = sqlite3.connect(files[0])
    try:
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("parsed", "vectors")]
    finally:
        connection.close()
    return counts[0], counts[1]


if __name__ == "__main__":
    raise SystemExit(main())
