"""Removing a folder with an index in it that was open in this process a moment ago."""

from __future__ import annotations

from pathlib import Path

from codefathom.stores.folder import Folder


def remove_folder(path: Path) -> None:
    """Remove a folder. `shutil.rmtree` fails where a thread of tantivy makes its lock file once more."""
    Folder(str(path.parent)).remove(path.name)
