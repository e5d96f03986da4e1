"""Memory of a server that many projects are asked of: `python -m evals.many_projects --projects 10 TREE`."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.load import Clients, ask_all
from evals.report import table
from evals.server import Server, sentences, serving

_OF_EACH = 40  # searches in each project
_AT_ONCE = 4


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print a table: after each project that is asked too, the bytes of the server and its processes."""
    parser = argparse.ArgumentParser(prog="python -m evals.many_projects")
    parser.add_argument("tree", type=Path, help="a folder with files of Python, of which each project is a copy")
    parser.add_argument("--projects", type=int, default=10)
    arguments = parser.parse_args(words)
    with TemporaryDirectory(prefix="fathom-projects-") as name:
        laid = dict(_copies(arguments.tree, Path(name), arguments.projects))
        texts = [text for path in sorted(arguments.tree.rglob("*.py")) for text in sentences(path)]
        with serving(Path(name)) as server:
            counts = server.add(laid)
            print(f"{len(laid)} projects with {max(counts.values())} files each")
            rows = [("0", f"{server.held() / 1e6:.0f}"), *_asked(server, list(laid), texts)]
    print(table(("projects asked", "memory (MB)"), rows))
    return 0


def _copies(tree: Path, folder: Path, n: int) -> Iterator[tuple[str, Path]]:
    for number in range(1, n + 1):
        copy = folder / f"copy-{number}"
        shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(".fathom", "__pycache__"))
        (copy / "fathom.toml").touch()
        yield copy.name, copy


def _asked(server: Server, names: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Ask one project more after each row, besides those before it."""
    words = cycle(texts)
    for n in range(1, len(names) + 1):
        asked = ({"query": next(words), "project_id": name} for _ in range(_OF_EACH) for name in names[n - 1 : n])
        replies = ask_all(server.address, "/search", islice(asked, _OF_EACH), Clients(_AT_ONCE))
        assert all(reply.status == 200 for reply in replies)
        yield str(n), f"{server.held() / 1e6:.0f}"


if __name__ == "__main__":
    sys.exit(main())
