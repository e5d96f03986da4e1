"""`fathom backup` and `fathom restore`: the index in one file, and back."""

from __future__ import annotations

import time

from codefathom.cli.display.render import report_text
from codefathom.cli.face import Face
from codefathom.cli.options import BackupOptions
from codefathom.shapes import plain_shape, to_json
from codefathom.text.printable import show_name, size
from codefathom.types import Backup


def backup(options: BackupOptions, face: Face) -> int:
    """Write the index to one file."""
    with face.open() as engine:
        _tell(engine.backup(options.file), f"wrote {show_name(options.file)}", face)
    return 0


def restore(options: BackupOptions, face: Face) -> int:
    """Put a backup in the place of the index, and bring it up to date. Return 2 if that paused."""
    with face.open(tells_extent=True) as engine:
        restored = engine.restore(options.file)
        made_at = time.strftime("%Y-%m-%d %H:%M", time.localtime(restored.made_at_ns / 1e9))
        _tell(restored, f"restored the index of {show_name(restored.root)}, made {made_at}", face)
        report = engine.index()
    if not face.common.json:
        face.write(report_text(report, whole=False))
    return 0 if report.is_complete else 2


def _tell(made: Backup, text: str, face: Face) -> None:
    if face.common.json:
        face.write(to_json(plain_shape(made)))
    else:
        face.note(f"{text}: {made.n_documents:,} files, {made.n_chunks:,} chunks, {size(made.n_bytes)}")
