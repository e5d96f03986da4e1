from __future__ import annotations

import json
from pathlib import Path


def save(ledger: list[tuple[int, str]], path: Path) -> None:
    """Write all moves, and keep the file as it was when that fails."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(ledger))
    beside.replace(path)
