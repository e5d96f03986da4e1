"""What a document shows to others: its language, what it defines, and what it imports, whatever lines these stand on.

While no document comes or goes, and none shows anything else than before, a use in a document that was not written
means the same as before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from codefathom.stores.catalog import packed_outlines, packed_references
from codefathom.types.choices import TYPE_KINDS

if TYPE_CHECKING:
    from codefathom.types.parsed_documents import ParsedDocument
    from codefathom.types.symbols import Reference


def shows_the_same(db: sqlite3.Connection, parsed: ParsedDocument) -> bool:
    """Return True if a document that is to be written shows others what the one before it shows."""
    document = parsed.document
    row = db.execute("SELECT id, language FROM documents WHERE path = ?", (document.path,)).fetchone()
    if row is None or row[1] != document.language:
        return False
    definitions = [(item.kind, item.name, item.qualified_name, item.signature) for item in parsed.symbols]
    imports = _forms(sorted((item for item in parsed.references if item.kind == "import"), key=lambda item: item.line))
    return list(map(_shown, definitions)) == _definitions(db, row[0]) and imports == _imports(db, row[0])


def _shown(definition: tuple[str, str, str, str]) -> tuple[str, ...]:
    """Return what of a definition matters to others: of types alone the signature, which names those above them."""
    kind, name, qualified_name, signature = definition
    return kind, name, qualified_name, signature if kind in TYPE_KINDS else ""


def _definitions(db: sqlite3.Connection, document_id: int) -> list[tuple[str, ...]]:
    columns = "kind, name, qualified_name, place"
    rows = db.execute(f"SELECT {columns} FROM symbols WHERE document_id = ? ORDER BY place", (document_id,)).fetchall()
    row = db.execute("SELECT CAST(packed AS BLOB) FROM outlines WHERE document_id = ?", (document_id,)).fetchone()
    texts = packed_outlines.unpacked(row[0]) if row else ()
    return [_shown((*values, packed_outlines.texts_at(texts, place).signature)) for *values, place in rows]


def _imports(db: sqlite3.Connection, document_id: int) -> list[tuple[str, ...]] | None:
    """Return the imports of a document; None where they cannot be read."""
    row = db.execute("SELECT CAST(packed AS BLOB) FROM refs WHERE document_id = ?", (document_id,)).fetchone()
    if row is None:
        return []
    try:
        return _forms(packed_references.imports_in(packed_references.inflated(row[0])))
    except (ValueError, IndexError, TypeError):  # damaged
        return None


def _forms(imports: Iterable[Reference]) -> list[tuple[str, ...]]:
    return [(item.name, item.qualifier, item.container) for item in imports]
