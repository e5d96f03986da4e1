"""Codefathom itself, through `Engine`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import codefathom
from codefathom import Engine
from codefathom.errors import UsageError
from evals.metrics import Found
from evals.tool import Size, folder_bytes


class Fathom:
    """Indexes into a scratch folder, so that the searched tree stays as it is."""

    def __init__(self, scratch: Path) -> None:
        # Also read by the processes that `command` starts.
        os.environ["FATHOM_INDEX_DIR"] = str(scratch / "index")
        os.environ["FATHOM_CACHE_DIR"] = str(scratch / "cache")
        os.environ["FATHOM_CONFIG"] = str(scratch / "no-settings.toml")
        self.scratch = scratch
        self.engine: Engine | None = None

    def version(self) -> str:
        """Name and version."""
        return f"fathom {codefathom.__version__}"

    def index(self, root: Path) -> bool:
        """Make the index from nothing, with empty caches."""
        self._close()
        shutil.rmtree(self.scratch / "cache", ignore_errors=True)
        self.engine = Engine.open(str(root))
        if Path(self.engine.root) != root.resolve():
            raise RuntimeError(f"{root} lies inside the project {self.engine.root}")
        self.engine.index(full=True)
        return True

    def size(self) -> Size:
        """The folder of the index."""
        engine = self._engine()
        return Size(engine.status().n_chunks, folder_bytes(Path(engine.index_dir)))

    def update(self) -> None:
        """Index what changed."""
        self._engine().index()

    def search(self, question: str, limit: int) -> Sequence[Found]:
        """Search by the default mode; a question that is refused (`@name` without such a file) finds nothing."""
        try:
            hits = self._engine().search(question, limit=limit).hits
        except UsageError:
            return []
        return [Found(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits]

    def command(self, question: str) -> list[str]:
        """Run the installed script; one word after `--`, as a person would quote it."""
        return [str(Path(sys.executable).with_name("fathom")), "search", "--", question]

    def _engine(self) -> Engine:
        assert self.engine is not None, "index first"
        return self.engine

    def _close(self) -> None:
        if self.engine is not None:
            self.engine.close()
            shutil.rmtree(self.engine.index_dir, ignore_errors=True)


def make(scratch: Path) -> Fathom:
    """Return the tool."""
    return Fathom(scratch)
