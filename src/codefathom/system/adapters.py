"""Adapters by the names of the settings, imported when one is chosen.

A new vector store is one module, its contract test (`testing/vector_store.py`) and one line here.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from codefathom.errors import SettingsError
from codefathom.system.extras import install_line


class Adapter(NamedTuple):
    """A class that a setting chooses."""

    target: str  # module:class
    extra: str = ""  # the extra of the package that brings its library
    key_variable: str = ""  # environment variable that may hold the key for its server


# The first is a `VectorStore`, made with (folder of its own, dimensions, owner). Each of the others is a
# `CandidateStore`, made with a `StoreSetup`.
VECTOR_STORES = {
    "flat": Adapter("codefathom.stores.vectors.flat_vectors:FlatVectorStore"),
    "faiss": Adapter("codefathom.stores.vectors.faiss_vectors:FaissStore", "faiss"),
    "duckdb": Adapter("codefathom.stores.vectors.duckdb_vectors:DuckdbStore", "duckdb"),
    "qdrant": Adapter("codefathom.stores.vectors.qdrant_vectors:QdrantStore", "qdrant", "QDRANT_API_KEY"),
    "postgres": Adapter("codefathom.stores.vectors.postgres_vectors:PostgresStore", "postgres", "PGPASSWORD"),
    "chroma": Adapter("codefathom.stores.vectors.chroma_vectors:ChromaStore", "", "CHROMA_API_KEY"),
}


def load(setting: str, name: str, adapters: dict[str, Adapter]) -> Any:
    """Return the class of an adapter. Raises SettingsError for an unknown name or a library that is not installed."""
    adapter = adapters.get(name)
    if adapter is None:
        raise SettingsError(f"{setting} cannot be {name!r}", hint=f"choose one of {', '.join(adapters)}")
    module, _, class_name = adapter.target.partition(":")
    try:
        return getattr(importlib.import_module(module), class_name)
    except ModuleNotFoundError as error:
        if not adapter.extra:
            raise
        raise SettingsError(
            f"{setting} = {name!r} needs the library {error.name!r}, which is not installed",
            hint=install_line(adapter.extra),
        ) from error
