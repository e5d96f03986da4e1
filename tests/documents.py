"""Documents made for tests: PDF, Word, notebook, HTML; nothing of them is copied from elsewhere."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import docx


def pdf(pages: Iterable[str], *, trailer: str = "") -> bytes:
    """Return a PDF with these lines on its pages."""
    texts = list(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(texts):
        shown = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 72 720 Td 14 TL {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{item}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} /Root 1 0 R "
    return data + f"{end}{trailer}>>\nstartxref\n{len(data)}\n%%EOF\n".encode()


def png(width: int, height: int, rows: bytes = b"") -> bytes:
    """Return a red PNG of this size; with `rows` it claims the size and has them alone."""
    head = width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0"
    content = zlib.compress(rows or (b"\0" + b"\xc0\x30\x30" * width) * height)
    parts = ((b"IHDR", head), (b"IDAT", content), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(part).to_bytes(4) + name + part + zlib.crc32(name + part).to_bytes(4) for name, part in parts
    )


# No password fits the two entries: pdfium asks for one.
_OWNER, _USER, _ID = "11" * 32, "22" * 32, "00" * 16
LOCKED = f"/ID [<{_ID}> <{_ID}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{_OWNER}> /U <{_USER}> >> "


def word(*blocks: str | tuple[int, str] | Sequence[Sequence[str]]) -> bytes:
    """Return a Word document: texts are paragraphs, (level, title) headings, lists of rows tables."""
    document = docx.Document()
    for block in blocks:
        if isinstance(block, str):
            document.add_paragraph(block)
        elif isinstance(block, tuple):
            document.add_heading(block[1], block[0])
        else:
            table = document.add_table(len(block), len(block[0]))
            for row, cells in zip(table.rows, block, strict=True):
                for cell, text in zip(row.cells, cells, strict=True):
                    cell.text = text
    data = BytesIO()
    document.save(data)
    return data.getvalue()


def with_part(data: bytes, name: str, content: bytes) -> bytes:
    """Return an archive in which one part is another one, or is added."""
    changed = BytesIO()
    with ZipFile(BytesIO(data)) as before, ZipFile(changed, "w", ZIP_DEFLATED) as after:
        for part in before.namelist():
            if part != name:
                after.writestr(part, before.read(part))
        after.writestr(name, content)
    return changed.getvalue()


def part_of(data: bytes, name: str) -> bytes:
    """Return one part of an archive."""
    with ZipFile(BytesIO(data)) as archive:
        return archive.read(name)


def code(source: str, *outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a code cell."""
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": list(outputs), "metadata": {}}


def prose(source: str) -> dict[str, Any]:
    """Return a Markdown cell."""
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def notebook(*cells: Mapping[str, Any], language: str = "python") -> bytes:
    """Return a notebook of format 4."""
    metadata = {"kernelspec": {"name": language, "language": language}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode()
