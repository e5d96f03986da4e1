"""Write token vectors as the weights file of the package: int8 rows with a scale each."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codefathom.providers.local.bundled import MAGIC


def write_model(path: Path, words: Sequence[str], rows: NDArray[np.float32]) -> str:
    """Write the file and return the name of the model, which ends in a hash of what is in it."""
    scales = (np.abs(rows).max(axis=1) / 127).astype("<f4")
    small = np.round(rows / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    vocabulary = "\n".join(words).encode()
    vocabulary += b" " * (-len(vocabulary) % 4)  # the scales are read in place
    content = vocabulary + scales.tobytes() + small.tobytes()
    name = f"fathom-static-1:{blake2b(content, digest_size=4).hexdigest()}"
    header = json.dumps(
        {"name": name, "dimensions": rows.shape[1], "tokens": len(words), "vocabulary_bytes": len(vocabulary)}
    ).encode()
    header += b" " * (-(12 + len(header)) % 4)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MAGIC + struct.pack("<I", len(header)) + header + content)
    return name
