"""Every lexical store keeps the contract."""

from __future__ import annotations

from pathlib import Path

from codefathom.stores.base import LexicalStore
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.testing import LexicalStoreContract


class TestTantivy(LexicalStoreContract):
    def open(self, folder: Path) -> LexicalStore:
        return LexicalView.open(str(folder / "lexical"))
