"""The first index of a worktree, a clone or a copy of a project begins with the index of the other one.

Which folders belong together is not asked of git: among the indexes that this user has made, the one that has the most
of the files is chosen, by their paths and sizes. Nothing but time can be lost: only documents whose files are here with
the same bytes are taken over.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import NamedTuple

from codefathom.errors import FathomError
from codefathom.facts.reasons import COPY_DIFFERS, Note
from codefathom.project.location import Location, index_place
from codefathom.project.opening import OpenedProject
from codefathom.providers.base import Embedder
from codefathom.remote.vector_stores import vector_folder
from codefathom.source.scan import scan
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.stores.catalog.sibling_copy import FilesHere, SiblingSource, copy_sibling, share_of
from codefathom.stores.folder import Folder, index_folder
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.stores.lock import WriterLock
from codefathom.stores.registry import IndexPlace, Registry
from codefathom.stores.vectors.flat_vectors import FlatVectorStore

_LEAST_FILES = 300  # a smaller project is indexed as fast from the cache of parse results
_MOST_SIBLINGS = 100  # that are looked into, the latest first: a millisecond each
_N_COMPARED = 200  # files
_LEAST_SHARE = 0.5


class _Candidate(NamedTuple):
    place: IndexPlace
    folder: Folder
    share: float  # of our files that it has


def begin_with_sibling(opened: OpenedProject) -> str:
    """Put a copy of the most similar index in the place of an empty one, and return the root of its project.

    "" where there is none, or it cannot be copied: then the index is made from nothing. Needs the writer lock; the
    opened project must be opened anew.
    """
    files = scan(opened.recipe.tree, opened.recipe.rules).files
    if len(files) < _LEAST_FILES:
        return ""
    compared = {file.path: file.size for file in files[:: len(files) // _N_COMPARED + 1]}
    best = max(_candidates(opened, compared), key=lambda item: item.share, default=None)
    if best is None or best.share < _LEAST_SHARE:
        return ""
    with suppress(OSError, FathomError, sqlite3.Error):
        here = FilesHere(opened.recipe.tree, {file.path: file.size for file in files})
        _take(best, opened.place, opened.embedder, here)
        return best.place.root
    return ""


def _candidates(opened: OpenedProject, sizes: Mapping[str, int]) -> Iterator[_Candidate]:
    """Yield the other indexes of this user that mask secrets as this one is to do."""
    registry = Registry(opened.place.state_dir)
    ours = os.path.realpath(opened.place.index_dir)
    for place in islice(registry.places(), _MOST_SIBLINGS):
        if os.path.realpath(place.folder) == ours:
            continue
        with suppress(OSError, FathomError), trusted(place, registry) as catalog:
            if catalog.get_meta("masked") == opened.recipe.secrets:
                yield _Candidate(place, index_folder(place.folder, place.root), share_of(catalog, sizes))


@contextmanager
def trusted(place: IndexPlace, registry: Registry) -> Iterator[Catalog]:
    """Open the catalogue of another project to read. Raises IndexingError for one that this user does not know."""
    file = index_folder(place.folder, place.root).file(CATALOGUE)
    with closing(Catalog.open(file, read_only=True)) as catalog:
        if not catalog.is_marked_with(registry.word(place._replace(catalogue=file.path))):
            raise FathomError(f"the index in {place.folder!r} was not made here")
        yield catalog


def _take(sibling: _Candidate, place: Location, embedder: Embedder, here: FilesHere) -> None:
    registry, word = Registry(place.state_dir), os.urandom(16).hex()
    ours, theirs = (folder.file(CATALOGUE) for folder in (place.index_folder, sibling.folder))
    lock = WriterLock(sibling.folder)
    is_still = lock.acquire()  # else somebody writes it: a copy of its catalogue is whole, its views may not fit
    try:
        with trusted(sibling.place, registry) as catalog:
            if catalog.soundness.damage():
                raise catalog.soundness.damaged(Note(COPY_DIFFERS))
            identity = catalog.identity
            copy_sibling(SiblingSource(catalog, theirs, is_still), ours, word, here)
        registry.add(index_place(place), word)
        if is_still:
            _take_views(sibling.folder, place.index_folder, identity, embedder)
    finally:
        lock.release()


def _take_views(source: Folder, target: Folder, identity: str, embedder: Embedder) -> None:
    """Take over what the views have; what cannot be taken is made from the catalogue."""
    with suppress(OSError, FathomError):
        LexicalView(target.below("lexical"), identity).take(source.below("lexical"))
    name = vector_folder(embedder)
    with suppress(OSError, FathomError):
        FlatVectorStore(target.below(name), embedder.dimensions).take(source.below(name))
