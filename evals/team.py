"""The index of a team: what taking over a snapshot costs beside a first index, in processor time, and how large it is.

A tree is copied twice; in the second copy a few files differ, as in another branch. The first copy is indexed and
written as a snapshot, signed and not. The second takes it over, each time as a user who has no cache and no index yet.
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

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from evals.benchmark import bench_folder, development, lay
from evals.report import machine, number, table, write_section
from evals.run import REPOSITORY

N_CHANGED = 10  # files
PAGE = """\
# The index of a team

A snapshot of an index (`fathom export --snapshot`) that is taken over in another checkout (`fathom import`), by \
a user without a cache, when {n_changed} files differ: the median of {repeats} runs on {machine}.
"First" is the processor time of a first index there, of all its processes together. The others are `fathom import`, \
with all that it takes in, divided by that: of a signed snapshot, of one without a signature that is compared by a \
sample, and with `--check all`. "Export" is writing the snapshot of an index that is up to date.

{table}
"""
_HEADS = ("repository", "files", "first (s)", "signed", "sample", "check all", "export", "index (MB)", "snapshot (MB)")


class Costs(NamedTuple):
    """What one round cost."""

    n_files: int
    first_s: float
    signed_s: float
    sample_s: float
    all_s: float
    export_s: float
    index_bytes: int
    snapshot_bytes: int


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", action="append", default=[], help="only these repositories")
    parser.add_argument("--folder", default=None, help="where to work")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--page", default="")
    arguments = parser.parse_args(words)
    trees = Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora")
    rows = []
    for corpus in development(bench_folder(), trees, arguments.corpus):
        rounds = []
        for _ in range(arguments.repeats):
            with TemporaryDirectory(prefix="fathom-team-", dir=arguments.folder) as folder:
                rounds.append(measure(lay(corpus, Path(folder)), Path(folder)))
        rows.append([corpus.name, *_cells(rounds)])
        print(rows[-1], flush=True)
    text = table(_HEADS, rows)
    print(text)
    if arguments.page:
        page = PAGE.format(n_changed=N_CHANGED, repeats=arguments.repeats, machine=machine(), table=text)
        write_section(Path(arguments.page), "make bench-team", page)
    return 0


def measure(first: Path, folder: Path) -> Costs:
    """Return the costs of one round in a folder of its own."""
    second = folder / "second"
    shutil.copytree(first, second, symlinks=True)
    files = [path for path in _files(second) if path.stat().st_size]
    for path in files[:: len(files) // N_CHANGED + 1]:
        path.write_bytes(path.read_bytes() + b"\n")
    key = Ed25519PrivateKey.generate()
    (folder / "key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    signed, unsigned = str(folder / "signed"), str(folder / "unsigned")
    _cpu_s(first, folder / "maker", "index")
    export_s = _cpu_s(first, folder / "maker", "export", "--snapshot", unsigned)
    _cpu_s(first, folder / "maker", "export", "--snapshot", signed, "--sign", str(folder / "key"))
    return Costs(
        n_files=len(files),
        first_s=_anew(second, folder, "index"),
        signed_s=_anew(second, folder, "import", signed, keys=public),
        sample_s=_anew(second, folder, "import", unsigned),
        all_s=_anew(second, folder, "import", unsigned, "--check", "all"),
        export_s=export_s,
        index_bytes=(first / ".fathom" / "catalog.db").stat().st_size,
        snapshot_bytes=Path(unsigned).stat().st_size,
    )


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())


def _anew(root: Path, folder: Path, *words: str, keys: str = "") -> float:
    """Return the seconds of a command for a user who has nothing yet."""
    for path in (root / ".fathom", folder / "reader"):
        shutil.rmtree(path, ignore_errors=True)
    return _cpu_s(root, folder / "reader", *words, keys=keys)


def _cpu_s(root: Path, user: Path, *words: str, keys: str = "") -> float:
    environ = {**os.environ, "FATHOM_CACHE_DIR": str(user / "cache"), "FATHOM_STATE_DIR": str(user / "state")}
    command = [sys.executable, "-m", "codefathom", words[0], "-q", "--source-dir", str(root), *words[1:]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        check=True,
        env=environ | ({"FATHOM_TEAM__KEYS": keys} if keys else {}),
        timeout=600,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cells(rounds: Sequence[Costs]) -> list[str]:
    def ratio(field: str) -> str:
        return number(median(getattr(one, field) / max(one.first_s, 1e-9) for one in rounds), ".2f")

    return [
        str(rounds[0].n_files),
        number(median(one.first_s for one in rounds)),
        *(ratio(field) for field in ("signed_s", "sample_s", "all_s", "export_s")),
        number(rounds[0].index_bytes / 1e6),
        number(rounds[0].snapshot_bytes / 1e6),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
