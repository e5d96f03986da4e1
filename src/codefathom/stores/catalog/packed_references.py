"""The references of a document as one value: imports, then uses, each text once, then columns of numbers; deflated.

Beside it stand the numbers of the names that the document uses: they lead from a name to the documents that are read.
Pure.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, islice, pairwise
from typing import Any, Literal
from zlib import crc32

from codefathom.types.symbols import Reference

_KINDS: tuple[Literal["import", "call", "type"], ...] = ("import", "call", "type")
_MOST_BYTES = 100_000_000  # of the references of one document, unpacked
_BETWEEN = b"\n"  # JSON has none
_ERRORS = "surrogatepass"


def packed(references: Iterable[Reference]) -> bytes:
    """Return references in few bytes, ordered by line. What `inflated` gives of them is the same on each machine."""
    rows = sorted(references, key=_line)
    places = [place for place, row in enumerate(rows) if row.kind == "import"]
    imports = _columns([rows[place] for place in places], places)
    uses = [row for row in rows if row.kind != "import"]
    content = _BETWEEN.join((imports, _columns(uses, [_KINDS.index(row.kind) for row in uses])))
    return zlib.compress(content, 6)


def inflated(data: bytes, most: int = _MOST_BYTES) -> bytes:
    """Return the bytes that the checksum is made of, at most so many; none for what is not whole."""
    try:
        return zlib.decompressobj().decompress(data, most)
    except zlib.error:
        return b""


def checksum(path: str, content: bytes) -> int:
    """Return the checksum of inflated references and of the path of their document."""
    return crc32(content, crc32(f"{path}\n".encode("utf-8", _ERRORS)))


def unpacked(content: bytes) -> list[Reference]:
    """Return the references of inflated bytes, by line."""
    uses = iter(uses_in(content))
    references: list[Reference] = []
    for place, reference in _imports(content):
        references.extend(islice(uses, place - len(references)))
        references.append(reference)
    return [*references, *uses]


def imports_in(content: bytes) -> list[Reference]:
    """Return the imports of inflated bytes, by line."""
    return [reference for _, reference in _imports(content)]


def uses_in(content: bytes, names: AbstractSet[str] | None = None) -> list[Reference]:
    """Return the calls and type uses of inflated bytes, by line; with names, those that say one of them."""
    texts, rows = _rows(content.partition(_BETWEEN)[2])
    if names is not None:
        numbers = {number for number, text in enumerate(texts) if text in names}
        rows = (row for row in rows if row[1] in numbers)
    return [
        Reference(_KINDS[kind], texts[own], line, texts[container], count, texts[qualifier])
        for kind, own, line, container, count, qualifier in rows
    ]


def mentions_in(content: bytes) -> set[tuple[str | None, str]]:
    """Return the names of uses in inflated bytes, each with the symbol around it, and those of imports with None."""
    imports, _, uses = content.partition(_BETWEEN)
    texts, _, names, *_ = json.loads(imports.decode("utf-8", _ERRORS))
    own_texts, _, own_names, _, containers, *_ = json.loads(uses.decode("utf-8", _ERRORS))
    mentions: set[tuple[str | None, str]] = {(None, texts[name]) for name in names}
    mentions.update(
        (own_texts[around], own_texts[name]) for around, name in set(zip(containers, own_names, strict=True))
    )
    return mentions


def number_of(name: str) -> int:
    """Return the number of a name. Two names can have the same: what is read of a document tells."""
    return crc32(name.encode("utf-8", _ERRORS))


def used_names(references: Iterable[Reference]) -> bytes:
    """Return the numbers of the names that calls and types use, ascending, each in four bytes."""
    numbers = sorted({number_of(name) for name in {item.name for item in references if item.kind != "import"}})
    return struct.pack(f"<{len(numbers)}I", *numbers)


def numbers_in(names: bytes) -> Sequence[int]:
    """Return the numbers of `used_names`; none of what cannot be numbers."""
    return struct.unpack(f"<{len(names) // 4}I", names) if len(names) % 4 == 0 else ()


def _columns(rows: Sequence[Reference], own: Sequence[int]) -> bytes:
    """Return references as the texts in them, and columns of which one is given."""
    numbers: dict[str, int] = {}
    columns: tuple[Sequence[int], ...] = (
        own,
        [numbers.setdefault(row.name, len(numbers)) for row in rows],
        [after - before for before, after in pairwise((0, *(row.line for row in rows)))],
        [numbers.setdefault(row.container, len(numbers)) for row in rows],
        [row.count for row in rows],
        [numbers.setdefault(row.qualifier, len(numbers)) for row in rows],
    )
    text = json.dumps([list(numbers), *columns], ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", _ERRORS)


def _rows(part: bytes) -> tuple[list[str], Iterable[tuple[Any, ...]]]:
    """Return the texts, and of each reference its own number, name, line, container, count and qualifier."""
    texts, own, names, steps, *rest = json.loads(part.decode("utf-8", _ERRORS))
    return texts, zip(own, names, accumulate(steps), *rest, strict=True)


def _imports(content: bytes) -> Iterator[tuple[int, Reference]]:
    """Yield the imports, each with its place among all references."""
    texts, rows = _rows(content.partition(_BETWEEN)[0])
    for place, own, line, container, count, qualifier in rows:
        yield place, Reference("import", texts[own], line, texts[container], count, texts[qualifier])


def _line(reference: Reference) -> int:
    return reference.line
