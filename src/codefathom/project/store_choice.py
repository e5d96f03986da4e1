"""The store in force: that of the settings, else the one that the vectors were moved to."""

from __future__ import annotations

import re

from codefathom.config.settings import Settings, StoreSettings
from codefathom.errors import UsageError, without_login
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch
from codefathom.system.adapters import VECTOR_STORES

KEPT_STORE = "store"  # key in the catalogue
# Schemes of targets: the store, and what its address begins with. An address of PostgreSQL stays as it is.
_SCHEMES = {
    "qdrant": ("qdrant", "http"),
    "qdrant+http": ("qdrant", "http"),
    "qdrant+https": ("qdrant", "https"),
    "chroma": ("chroma", "http"),
    "chroma+http": ("chroma", "http"),
    "chroma+https": ("chroma", "https"),
    "postgresql": ("postgres", "postgresql"),
    "postgres": ("postgres", "postgresql"),
}


def store_in_force(settings: Settings, catalog: Catalog) -> StoreSettings:
    """Return the store of the settings, or the one the vectors were moved to where the settings choose none."""
    kept = catalog.get_meta(KEPT_STORE)
    if not kept or is_chosen(settings):
        return settings.store
    vectors, _, url = kept.partition(" ")
    return settings.store._replace(vectors=vectors, url=url or settings.store.url)


def is_chosen(settings: Settings) -> bool:
    """Return True if the settings choose a store."""
    return "store.vectors" in settings.origins


def keep_store(catalog: Catalog, store: StoreSettings) -> None:
    """Keep the store that the vectors were moved to. Needs the writer lock."""
    catalog.write(Batch(meta={KEPT_STORE: f"{store.vectors} {store.url}"}))


def store_named(target: str, store: StoreSettings) -> StoreSettings:
    """Return the settings with the store that a target names, such as "faiss" or "qdrant://localhost:6333".

    "" is the store of the settings. Raises UsageError.
    """
    if not target:
        return store
    if target in VECTOR_STORES:
        is_for_it = target == store.vectors or not VECTOR_STORES[store.vectors].key_variable
        return store._replace(vectors=target, url=store.url if is_for_it else "")
    scheme, _, rest = target.partition("://")
    kind, begin = _SCHEMES.get(scheme, ("", ""))
    if kind not in VECTOR_STORES or not rest:
        forms = [*VECTOR_STORES, *(f"{name}://HOST:PORT" for name, (kind, _) in _SCHEMES.items() if kind == name)]
        raise UsageError(f"unknown store: {without_login(target)!r}", hint=f"write one of {', '.join(forms)}")
    if re.search("//[^/@]*:[^/@]*@", target):
        raise UsageError(
            f"the address {without_login(target)!r} contains a password, which would be kept with the index",
            hint=f"leave it out, and set {VECTOR_STORES[kind].key_variable}",
        )
    is_folder = kind == "qdrant" and rest.startswith(("/", "~"))
    return store._replace(vectors=kind, url=rest if is_folder else f"{begin}://{rest}")


def shown_store(store: StoreSettings) -> str:
    """Return a store as a user writes it."""
    has_server = bool(VECTOR_STORES[store.vectors].key_variable)
    return f"{store.vectors} at {without_login(store.url)}" if store.url and has_server else store.vectors
