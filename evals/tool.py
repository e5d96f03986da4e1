"""What the runner asks of a tool. Standard library only: a peer's adapter runs in that peer's own environment."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from evals.metrics import Found

TOOLS = ("fathom", "semble", "bm25s", "ripgrep")


class Size(NamedTuple):
    """What an index holds; None where the tool has no such thing."""

    n_chunks: int | None
    n_bytes: int | None  # on disk


class Tool(Protocol):
    """One search tool over one folder at a time."""

    def version(self) -> str:
        """Name and version, for the table."""
        ...

    def index(self, root: Path) -> bool:
        """Make an index of a folder from nothing; False when the tool works without one."""
        ...

    def size(self) -> Size:
        """Return what the index holds, written to disk where the tool can do that. Not timed."""
        ...

    def update(self) -> None:
        """Take in what changed in the folder since `index`, by the tool's cheapest way."""
        ...

    def search(self, question: str, limit: int) -> Sequence[Found]:
        """Return places, best first; paths relative to the folder or absolute."""
        ...

    def command(self, question: str) -> list[str] | None:
        """Return a command whose whole process answers from the present index; None when there is none."""
        ...


def load_tool(name: str, scratch: Path) -> Tool:
    """Return the adapter of a tool; `scratch` is an empty folder for what it writes."""
    return cast(Tool, import_module(f"evals.adapters.{name}").make(scratch))


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
