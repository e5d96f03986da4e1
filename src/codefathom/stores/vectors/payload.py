"""The form in which stores of other makers keep a chunk: id, unit vector and payload."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, cast

from codefathom.stores.conditions import normalise, path_fields
from codefathom.stores.vectors.candidates import Payload
from codefathom.types import Chunk, Filter, Where

# The errors raised when an answer is read whose form is not that of its protocol.
WRONG_FORM = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
MAX_ANSWER_BYTES = 1 << 26  # of one answer of a server
_MAX_NUMBER = 1 << 62
_NAMESPACE = uuid.UUID("6f0b0f0e-2f5c-5d5f-9a44-0c6a3f6f5d10")  # of all ids
# Of a request of JSON: servers take 32 MB (Qdrant) or 40 MB (Chroma) by default. A chunk may be longer, but few are.
_MOST_BYTES, _BYTES_OF_NUMBER, _BYTES_OF_PAYLOAD = 20_000_000, 12, 4_000
# The fields a store can filter by, as they are called in a condition and in the payload. Their values are lower case.
FILTERED = {"language": "language", "ext": "extension"}


def point_id(project: str, chunk: Chunk) -> str:
    """Return a UUIDv5 of project and content: path, text and n-th occurrence of the text in its file."""
    return str(uuid.uuid5(_NAMESPACE, f"{project}\0{chunk.id}"))


def payload_of(project: str, chunk: Chunk, modified_s: float = 0.0) -> Payload:
    """Return the fields of a chunk that a store shows; secrets in it are masked as in the index.

    `modified_s`: time stamp of its file, in seconds since 1970.
    """
    fields = path_fields(chunk.path)
    return {
        "project": project,
        "file_path": _clean(chunk.path),
        "file_dir": _clean(fields["dir"]),
        "file_name": _clean(fields["name"]),
        "extension": _clean(fields["ext"]),
        "language": chunk.language,
        "chunk_type": chunk.kind,
        "symbol": _clean(chunk.symbol),
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "mtime": modified_s,
        "content": _clean(chunk.text),
    }


def key_of(value: object) -> int:
    """Return a whole number that a server names, such as the key of a row. Raises TypeError, ValueError."""
    if type(value) is not int:
        raise TypeError("this is not a whole number")
    if abs(value) > _MAX_NUMBER:
        raise ValueError("this number is too large")
    return value


def similarity_of(value: object) -> float:
    """Return a finite number that a server names. Raises TypeError, ValueError, OverflowError."""
    if type(value) not in (int, float):
        raise TypeError("this is not a number")
    number = float(cast(float, value))
    if not isfinite(number):
        raise ValueError("this number is not finite")
    return number


def _clean(text: str) -> str:
    """Return a text that any database takes: no half characters, no NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def fields_of_condition(where: Where | None) -> Mapping[str, Sequence[str]] | None:
    """Return the part of a condition that a store can test itself, None without one: each field has one of the values.

    It lets pass at least what the condition lets pass.
    """
    if where is None:
        return None
    fields: dict[str, Sequence[str]] = {}
    for part in _all_needed(normalise(where)):
        if part.field in FILTERED and part.operator.removesuffix("_cased") in {"eq", "in"}:
            values = part.value if isinstance(part.value, tuple) else (part.value,)
            fields.setdefault(FILTERED[part.field], [str(value).lower() for value in values])
    return fields or None


def _all_needed(where: Where) -> Iterator[Filter]:
    """Yield the conditions that must each hold."""
    if isinstance(where, Filter):
        yield where
    elif where.operator == "AND":
        for part in where.filters:
            yield from _all_needed(part)


def pages(values: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield values in their order, so many at a time as one request may hold."""
    for start in range(0, len(values), size):
        yield list(values[start : start + size])


def unit_rows(vectors: Sequence[bytes], dimensions: int) -> Any:
    """Return int8 rows as float32 rows of length 1, in the shape (rows, dimensions); a zero row stays zero."""
    import numpy as np  # noqa: PLC0415 -- only a store of other makers needs it

    rows = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(-1, dimensions).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.maximum(lengths, 1e-12)


def unit_lists(vectors: Sequence[bytes], dimensions: int) -> list[list[float]]:
    """Return int8 rows as unit rows of numbers with seven digits: as JSON they take half the room of all digits."""
    rounded: list[list[float]] = unit_rows(vectors, dimensions).astype(float).round(7).tolist()
    return rounded


def points_at_once(batch: int, dimensions: int) -> int:
    """Return the number of points that one request of JSON may hold, at most `batch`."""
    return max(min(batch, _MOST_BYTES // (_BYTES_OF_NUMBER * dimensions + _BYTES_OF_PAYLOAD)), 1)


def mean_row(vectors: Sequence[bytes], dimensions: int) -> Any:
    """Return the mean of int8 rows, each of length 1, as a float32 row of length 1 and shape (1, dimensions)."""
    import numpy as np  # noqa: PLC0415 -- only a store of other makers needs it

    mean = unit_rows(vectors, dimensions).sum(axis=0, keepdims=True)
    return (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
