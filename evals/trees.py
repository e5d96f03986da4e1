"""Trees of a wanted number of files, copied together from what lies on the machine."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

ENDINGS = frozenset(
    {".py", ".js", ".ts", ".tsx", ".go", ".rs", ".java", ".c", ".h", ".cc", ".cpp", ".cs", ".rb", ".php", ".kt"}
    | {".swift", ".scala", ".lua", ".hs", ".ex", ".sh", ".zig", ".md", ".rst", ".toml", ".yml", ".json"}
)
MOST_BYTES = 200_000
# Installed packages are a root of their own; below the standard library their folder has a name that no index enters.
LEFT_OUT = frozenset({"__pycache__", "node_modules", "build", "dist", "site-packages"})


def source_roots(corpora: Path) -> list[Path]:
    """Return the standard library with its site-packages, and the benchmark's repositories where they are."""
    library = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    repositories = sorted(path for path in corpora.iterdir() if path.is_dir()) if corpora.is_dir() else []
    inside = packages.is_relative_to(library)
    return [library, *([] if inside else [packages]), *repositories]


def copy_tree(roots: Sequence[Path], folder: Path, n_files: int) -> int:
    """Copy `n_files` files of the roots, a folder for each root, and return how many of them are distinct.

    Where the roots hold fewer, they are copied again into other folders.
    """
    n_distinct = n_copied = n_rounds = 0
    while n_copied < n_files:
        n_more = _copy_round(roots, folder, n_files - n_copied, n_rounds)
        if not n_more:  # the roots are empty
            break
        n_copied += n_more
        n_distinct = n_distinct or n_more
        n_rounds += 1
    return n_distinct


def _copy_round(roots: Sequence[Path], folder: Path, n_files: int, n_before: int) -> int:
    n_copied = 0
    for source, target in islice(_files(roots, folder, f"again{n_before}-" if n_before else ""), n_files):
        target.parent.mkdir(parents=True, exist_ok=True)
        # Empty lines in front change the content, so that no cache knows a repeated file.
        target.write_bytes(b"\n" * n_before + source.read_bytes())
        n_copied += 1
    return n_copied


def _files(roots: Sequence[Path], folder: Path, prefix: str) -> Iterator[tuple[Path, Path]]:
    """Take files from the roots in turn, so that a small tree is as mixed as a large one."""
    left = [(f"{prefix}part{number}", root, _walk(root)) for number, root in enumerate(roots)]
    while left:
        for entry in list(left):
            name, root, files = entry
            path = next(files, None)
            if path is None:
                left.remove(entry)
            else:
                yield path, folder / name / path.relative_to(root)


def _walk(root: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if path.suffix in ENDINGS and not path.is_symlink() and 0 < path.stat().st_size <= MOST_BYTES:
                yield path
