"""A copy of a project without its index, to compare answers with those of an index that is made anew."""

from __future__ import annotations

import shutil
from pathlib import Path


def fresh_copy(root: Path) -> Path:
    """Return a folder with the files of a project as they are now; the copy before it is gone."""
    copy = root.parent / "copy" / "project"
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".fathom"))
    return copy
