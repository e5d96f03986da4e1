"""The second index of one repository: what a worktree costs beside the first, in processor time and in room.

A tree is copied twice; in the second copy a few files differ, as in another branch. Each is indexed by a process of its
own with caches of its own: the first from nothing, the second with what the first has left, then the second once more
without the copy of a sibling's index (`index.siblings = false`).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from evals.benchmark import bench_folder, development, lay
from evals.report import machine, number, table, write_section
from evals.run import REPOSITORY

N_CHANGED = 10  # files
PAGE = """\
# Worktrees

The second index of one repository beside the first, when {n_changed} files differ: the median of {repeats} runs on \
{machine}.
A worktree, a clone and a copy are the same to Codefathom: it takes the index of the project that has most of the \
files, reads and compares every file, and indexes what differs. "Without" is the same with `index.siblings = false`, \
where only parse results come from the cache that all projects of a user share.

{table}

Room is what the files of the second index take, without those that are hard links to files of the first: those of the \
index of words, as long as neither changes. The catalogue is one file of SQLite, which changes in place. It is cloned: \
a disk that can share parts of files (Btrfs, XFS, bcachefs) keeps one copy of what is equal, which this table does not \
see; on others (ext4) it is a copy. What would share it there, with figures, is in \
[the decision](decisions/worktree-index.md).
"""


class Cost(NamedTuple):
    """What one index cost."""

    cpu_s: float
    disk_bytes: int


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", action="append", default=[], help="only these repositories")
    parser.add_argument("--folder", default=None, help="where to work: its disk counts")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--page", default="")
    arguments = parser.parse_args(words)
    trees = Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora")
    rows = []
    for corpus in development(bench_folder(), trees, arguments.corpus):
        runs = []
        for _ in range(arguments.repeats):
            with TemporaryDirectory(prefix="fathom-worktrees-", dir=arguments.folder) as folder:
                runs.append(list(measure(lay(corpus, Path(folder)), Path(folder))))
        first, second, without = zip(*runs, strict=True)
        rows.append([corpus.name, *_cells(first, second, without)])
        print(rows[-1], flush=True)
    heads = ("repository", "first (s)", "second ÷ first", "without", "first (MB)", "second ÷ first (room)", "without")
    text = table(heads, rows)
    print(text)
    if arguments.page:
        page = PAGE.format(n_changed=N_CHANGED, repeats=arguments.repeats, machine=machine(), table=text)
        write_section(Path(arguments.page), "make bench-worktrees", page)
    return 0


def measure(first: Path, folder: Path) -> Iterator[Cost]:
    """Yield the cost of the first index, of the second, and of the second without a sibling."""
    second = folder / "second"
    shutil.copytree(first, second, symlinks=True)
    files = [
        path for path in sorted(second.rglob("*")) if path.is_file() and path.stat().st_size and not path.is_symlink()
    ]
    for path in files[:: len(files) // N_CHANGED + 1]:
        path.write_bytes(path.read_bytes() + b"\n")
    yield _cost(first, folder, {})
    shutil.copytree(folder / "cache", folder / "cache-of-first")
    yield _cost(second, folder, {})
    shutil.rmtree(second / ".fathom")
    shutil.rmtree(folder / "cache")
    (folder / "cache-of-first").rename(folder / "cache")  # else it would know the files that differ
    yield _cost(second, folder, {"FATHOM_INDEX__SIBLINGS": "false"})


def _cost(root: Path, folder: Path, variables: dict[str, str]) -> Cost:
    environ = {**os.environ, "FATHOM_CACHE_DIR": str(folder / "cache"), "FATHOM_STATE_DIR": str(folder / "state")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "codefathom", "index", "-q", "--source-dir", str(root)]
    subprocess.run(words, check=True, env=environ | variables, timeout=600, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    own = (path.stat() for path in (root / ".fathom").rglob("*") if path.is_file())
    return Cost(cpu_s, sum(512 * status.st_blocks for status in own if status.st_nlink == 1))


def _cells(first: Sequence[Cost], second: Sequence[Cost], without: Sequence[Cost]) -> list[str]:
    def ratio(costs: Sequence[Cost], field: str) -> str:
        pairs = zip(costs, first, strict=True)
        return number(median(getattr(one, field) / max(getattr(base, field), 1e-9) for one, base in pairs), ".2f")

    return [
        number(median(cost.cpu_s for cost in first)),
        ratio(second, "cpu_s"),
        ratio(without, "cpu_s"),
        number(median(cost.disk_bytes for cost in first) / 1e6),
        ratio(second, "disk_bytes"),
        ratio(without, "disk_bytes"),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
