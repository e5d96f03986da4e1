"""Memory for what is large: `python -m evals.large --bytes 1073741824 --files 100000`.

Makes a file of so many bytes, or a tree of so many files, indexes it with `fathom index` from nothing, and prints the
most bytes that the process and its children held at once: the sum of their resident sizes, looked at every 0.1 s.
"""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.memory import bytes_resident, run_watched
from evals.run import REPOSITORY
from evals.trees import copy_tree, source_roots


def main(words: Sequence[str] | None = None) -> int:
    """Make what is asked for, index it, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m evals.large", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--bytes", type=int, default=0, help="size of one file of Python code")
    parser.add_argument("--files", type=int, default=0, help="number of files of a tree")
    parser.add_argument(
        "--fathom", default=str(Path(sys.executable).with_name("fathom")), help="the command to measure"
    )
    parser.add_argument("--folder", default=None, help="where to work; needs about four times the bytes of the sources")
    arguments = parser.parse_args(words)
    with TemporaryDirectory(prefix="fathom-large-", dir=arguments.folder) as folder:
        if arguments.bytes:
            write_large_file(Path(folder, "file", "large.py"), arguments.bytes)
            print(f"a file of {arguments.bytes} bytes: {measured(arguments.fathom, Path(folder, 'file'))}", flush=True)
        if arguments.files:
            roots = source_roots(Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora"))
            copy_tree(roots, Path(folder, "tree"), arguments.files)
            print(f"a tree of {arguments.files} files: {measured(arguments.fathom, Path(folder, 'tree'))}", flush=True)
    return 0


def write_large_file(path: Path, n_bytes: int) -> None:
    """Write code of the standard library, again and again, no two copies alike."""
    path.parent.mkdir(parents=True)
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for text in _texts():
            written += file.write(text)
            if written >= n_bytes:
                break


def _texts() -> Iterator[str]:
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    for number in count():
        for source in sources:
            yield source.read_text(encoding="utf-8", errors="replace").replace("self", f"self{number}") + "\n"


def measured(command: str, root: Path) -> str:
    """Index a folder and return what it took."""
    own = {"FATHOM_CACHE_DIR": str(root.parent / f"{root.name}-cache"), "FATHOM_CONFIG": str(root.parent / "none.toml")}
    own["FATHOM_SOURCE__MAX_FILE_BYTES"] = "4000000000"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")} | own
    started = time.perf_counter()
    code, peak = run_watched([command, "index", "-q"], env=environment, cwd=root, held=bytes_resident)
    seconds = time.perf_counter() - started
    return f"exit code {code}, {seconds:.0f} s, {(peak or 0) / 2**20:.0f} MiB of memory at most"


if __name__ == "__main__":
    sys.exit(main())
