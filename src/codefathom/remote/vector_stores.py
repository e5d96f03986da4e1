"""From the settings to the store of a project's vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from codefathom.config.settings import StoreSettings
from codefathom.errors import SettingsError, without_login
from codefathom.providers.base import Embedder
from codefathom.stores.base import VectorStore
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.folder import Folder
from codefathom.system.adapters import VECTOR_STORES, load

if TYPE_CHECKING:
    from codefathom.stores.vectors.candidates import StoreOptions


class IndexedProject(NamedTuple):
    """A project whose vectors are to be stored."""

    root: str
    index_folder: Folder
    store: StoreSettings
    variables: Mapping[str, str]  # of the environment


def vector_store(place: IndexedProject, catalog: Catalog, embedder: Embedder) -> VectorStore:
    """Return the view of the vectors of a model. Raises SettingsError for a store whose library is not installed."""
    name, kind = vector_folder(embedder), place.store.vectors
    folder, owner = place.index_folder.below(name), f"{catalog.identity} {name}"
    adapter = load("store.vectors", kind, VECTOR_STORES)
    if kind == "flat":
        store: VectorStore = adapter(folder, embedder.dimensions, owner)
        return store
    # A search with the default imports none of them.
    from codefathom.stores.rescored import RescoredStore, RowsOf
    from codefathom.stores.vectors.candidates import StoreSetup

    _check_address(place.store.url)
    options = _options(place)
    setup = StoreSetup(folder, embedder.dimensions, options, place.variables.get(VECTOR_STORES[kind].key_variable, ""))
    rows = RowsOf(catalog, embedder.name, owner, options.project, embedder.dimensions)
    return RescoredStore(adapter(setup), rows)


def _check_address(url: str) -> None:
    """Raise SettingsError for an http address that cannot be one: libraries of stores say so in many ways, and late."""
    from urllib.parse import urlsplit

    try:
        is_sound = not url.startswith(("http://", "https://")) or urlsplit(url).port != 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise SettingsError(
            f"{without_login(url)!r} is not a valid URL", hint="write store.url such as http://localhost:6333"
        )


def vector_folder(embedder: Embedder) -> str:
    """Return a name for each model: vectors of two models never meet, and going back to a model costs nothing."""
    name = blake2b(f"{embedder.name}:{embedder.dimensions}".encode(), digest_size=4).hexdigest()
    return f"vectors-{name}"


def _options(place: IndexedProject) -> StoreOptions:
    from codefathom.stores.vectors.candidates import StoreOptions

    store = place.store
    return StoreOptions(
        url=store.url,
        collection=store.collection,
        project=store_project(place.root, store),
        exact=store.exact,
        hnsw_m=store.hnsw_m,
        hnsw_ef_construct=store.hnsw_ef_construct,
        hnsw_ef=store.hnsw_ef,
        on_disk=store.on_disk,
        batch=store.batch,
        timeout_s=store.timeout_s,
    )


def store_project(root: str, store: StoreSettings) -> str:
    """Return the name of a project among others in one collection: the same for each build in this folder."""
    if store.project:
        return store.project
    digest = blake2b(root.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    name = os.path.basename(root).encode("utf-8", "replace").decode()  # a name that is no text is none in a store
    return f"{name or 'root'}-{digest}"
