"""Tables in memory."""

from typing import Any


class Database:
    """Keeps rows of named tables and finds them again."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {}

    def insert(self, table: str, **values: Any) -> str:
        """Add a row and return its id."""
        rows = self.tables.setdefault(table, [])
        rows.append({"id": str(len(rows) + 1), **values})
        return rows[-1]["id"]

    def find(self, table: str, **wanted: Any) -> dict[str, Any] | None:
        """Return the first row that has all these values."""
        for row in self.tables.get(table, []):
            if all(row.get(name) == value for name, value in wanted.items()):
                return row
        return None
