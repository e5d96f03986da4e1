"""The index in one file: of its owner (`fathom backup`, `restore`), and of a team (`export --snapshot`, `import`)."""

from __future__ import annotations

import os
import re
import time

from codefathom.cli.display.render import report_text
from codefathom.cli.face import Face
from codefathom.cli.options import BackupOptions, ExportOptions, ImportOptions
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.shapes import plain_shape, to_json
from codefathom.stores.catalog.snapshot_file import is_snapshot
from codefathom.text.printable import show_name, size
from codefathom.types import Backup, Snapshot


def backup(options: BackupOptions, face: Face) -> int:
    """Write the index to one file for its owner."""
    with face.open() as engine:
        _tell(engine.backup(options.file), f"wrote {show_name(options.file)}", face)
    return 0


def restore(options: BackupOptions, face: Face) -> int:
    """Put a backup in the place of the index, and bring it up to date. Return 2 if that paused."""
    with face.open(tells_extent=True) as engine:
        restored = engine.restore(options.file)
        _tell(restored, f"restored the index of {show_name(restored.root)}, made {_time(restored)}", face)
        return _bring_up_to_date(engine, face)


def write_snapshot(options: ExportOptions, face: Face) -> int:
    """Write the index to one file for other checkouts."""
    if not options.snapshot:
        raise UsageError("--sign needs --snapshot", hint="name a file with --snapshot")
    if options.format or options.output != "-":
        raise UsageError("--snapshot cannot be combined with --as or --output", hint="leave these out")
    with face.open(tells_extent=True) as engine:
        snapshot = engine.export_snapshot(options.snapshot, key_file=options.sign)
    _tell(snapshot, f"wrote {show_name(options.snapshot)}, {_signature(snapshot)}", face)
    return 0


def read_snapshot(options: ImportOptions, face: Face) -> int:
    """Put a snapshot in the place of the index, and bring it up to date. Return 2 if that paused."""
    if options.file == "-" or (os.path.exists(options.file) and not is_snapshot(options.file)):
        raise UsageError(
            "this file is not a snapshot, so fathom needs to know its format",
            hint="name the format with --as, or a file of `fathom export --snapshot`",
        )
    with face.open(tells_extent=True) as engine:
        snapshot = engine.import_snapshot(options.file, check=options.check)
        _tell(snapshot, f"imported a snapshot of {_origin(snapshot)}, {_signature(snapshot)}", face)
        if not face.common.json:
            face.note(_taken(snapshot))
        return _bring_up_to_date(engine, face)


def _bring_up_to_date(engine: Engine, face: Face) -> int:
    report = engine.index()
    if not face.common.json:
        face.write(report_text(report, whole=False))
    return 0 if report.is_complete else 2


def _tell(saved: Backup | Snapshot, text: str, face: Face) -> None:
    if face.common.json:
        face.write(to_json(plain_shape(saved)))
    else:
        face.note(f"{text}: {saved.n_documents:,} files, {saved.n_chunks:,} chunks, {size(saved.n_bytes)}")


def _time(saved: Backup | Snapshot) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(saved.made_at_ns / 1e9))
    except (OverflowError, ValueError, OSError):  # its maker may have written anything
        return "an unknown time"


def _signature(snapshot: Snapshot) -> str:
    return f"signed by {snapshot.key}" if snapshot.key else "without a signature"


def _origin(snapshot: Snapshot) -> str:
    commit = snapshot.commit[:12] if re.fullmatch("[0-9a-f]+", snapshot.commit) else ""
    return f"commit {commit}, made {_time(snapshot)}" if commit else _time(snapshot)


def _taken(snapshot: Snapshot) -> str:
    taken = f"{snapshot.n_taken:,} of its files are the same here"
    if snapshot.key:
        return taken
    made = f"{snapshot.n_checked:,} of them and {snapshot.n_vectors:,} vectors were computed again and are the same"
    return f"{taken}; their texts are equal, and {made}"
