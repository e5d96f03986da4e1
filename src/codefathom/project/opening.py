"""From a path and its settings to opened back ends: the only place that chooses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from copy import copy
from dataclasses import replace
from hashlib import blake2b
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING

from codefathom.config.model_names import BUNDLED, is_on_disk, shown_model
from codefathom.config.settings import Settings, StoreSettings
from codefathom.errors import DamagedError, IndexingError, ProviderError, SettingsError, UnwritableError
from codefathom.facts.reasons import Note
from codefathom.index.chunk import ChunkLimits
from codefathom.index.plan import Recipe, TokenLimits
from codefathom.project.kept_rules import scan_rules, with_kept
from codefathom.project.location import Location, index_place, source_folder
from codefathom.project.store_choice import store_in_force
from codefathom.providers.base import ChatModel, Embedder, Reranker
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.remote.vector_stores import IndexedProject, vector_folder, vector_store
from codefathom.search.ranking.fuse import Fusion
from codefathom.search.retrieve import Sources
from codefathom.source.origin import Originals, opened_folders, origin_of
from codefathom.stores.base import VectorStore
from codefathom.stores.catalog.catalog import CATALOGUE, Catalog
from codefathom.stores.catalog.records import MadeVectors
from codefathom.stores.catalog.schema import format_to_bring_up, not_brought_up
from codefathom.stores.folder import Folder
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.stores.lock import UseLock, WriterLock, held_lock
from codefathom.stores.registry import Registry
from codefathom.stores.tree_file import TreeFile
from codefathom.stores.vectors.flat_vectors import quantise
from codefathom.stores.views import Views
from codefathom.stores.write_errors import writing_error

if TYPE_CHECKING:
    from codefathom.index.doubt import Doubt
    from codefathom.index.indexing import Stages
    from codefathom.index.purposes import PurposeModel
    from codefathom.index.reparse import ModelParser
    from codefathom.index.tally import ErrorLimit
    from codefathom.project.upgrading import Upgrade
    from codefathom.remote.chat_models import Connections
    from codefathom.search.ranking.rerank import WeightedReranker
    from codefathom.source.scan import FileTree
    from codefathom.stores.cache import Cache
    from codefathom.stores.catalog.records import StoredDocument
    from codefathom.types import Chunk, Failure, Hit, IndexReport, Progress

_BATCH_HERE = 32  # texts for a model on this machine, some seconds' work; a server is asked for `embed.batch` at once


class OpenedProject:
    """The opened index of one project: catalogue, views and embedder. Safe to read from several threads."""

    def __init__(
        self,
        place: Location,
        on_wait: Callable[[str], None] = lambda _: None,
        wrap_model: Callable[[ChatModel], ChatModel] = lambda model: model,
        is_patient: bool = False,  # see `Connections`
    ) -> None:
        self.place = place
        self._on_wait, self._wrap_model, self._is_patient = on_wait, wrap_model, is_patient
        self._recipe = _recipe(place)
        self.tree = TreeFile(place.index_folder)
        self._lock = Lock()  # of the two below
        self._connections: Connections | None = None
        self._models: dict[str, ChatModel] = {}
        folder = place.index_folder
        self._registry = Registry(place.state_dir)
        self._use = UseLock(folder, is_taken=place.revision is not None)
        self.opening_notes: list[Note] = []  # what the user was told while it was opened
        self.catalog, self.unwritable = self._opened_catalog(folder)
        self._is_known = self._knows() or (self.unwritable is None and self._claims())
        if not self._is_known and self.unwritable is None and self.catalog.integrity_problem():
            self.catalog = self.catalog.renewed()
            self._is_known = self._claims()
        self.embedder = self._embedder()  # of the settings
        self.store = self._store()
        # See `project/upgrading.py`.
        self._first = BundledEmbedder() if self.upgrades and is_slow(place.settings) else self.embedder
        self._make_vectors()
        lexical = self._opened_words(folder)
        self.views = self._views(lexical, self._first)
        self._upgrade = self._to_upgrade(lexical) if self._first is not self.embedder else None
        read = (self.catalog, lexical, self.views.vectors, self._first, self._reranking())
        self._sources = Sources(*read, project=place.name, are_short_whole=bool(place.settings.index.min_tokens))

    upgrades = True  # the bundled model answers while a slow one is at work

    def _opened_catalog(self, folder: Folder) -> tuple[Catalog, UnwritableError | None]:
        return _catalog(folder, self._note)

    def _note(self, note: Note) -> None:
        self.opening_notes.append(note)
        self._on_wait(str(note))

    def _make_vectors(self) -> None:
        """Have the catalogue make the vectors of the bundled model, and store them only for a store of other makers."""
        model = self._first
        if not isinstance(model, BundledEmbedder):
            return

        def vectors_of(chunks: Sequence[Chunk]) -> list[bytes]:
            from codefathom.index.prepare import embedded_text

            return quantise(model.embed(list(map(embedded_text, chunks)), "document"))

        # While it stands in for a slow model, its view is flat in any case.
        is_flat = model is not self.embedder or self.store.vectors == "flat"
        self.catalog.make_vectors(MadeVectors(model.name, vectors_of, are_stored=not is_flat))

    def _opened_words(self, folder: Folder) -> LexicalView:
        return LexicalView.open(folder.below("lexical"), self.catalog.identity)

    @property
    def recipe(self) -> Recipe:
        """All that decides which files are read and what becomes of them."""
        recipe = self._current(self._recipe)
        if not self._is_known:
            return recipe
        rules = with_kept(recipe.rules, self.catalog, self.place.settings)
        return recipe if rules == recipe.rules else recipe._replace(rules=rules)

    def _current(self, recipe: Recipe) -> Recipe:
        """Return the recipe with the commit that a branch names now; a run keeps to that."""
        revision = self.place.revision
        return recipe if revision is None else recipe._replace(revision=revision.tree(self.place.settings.source.dir))

    def repository_of(self, path: str) -> tuple[str, FileTree | None]:
        """Return how the paths of the repository of a file begin in a fleet, with its files; "" in a project."""
        return "", None

    @property
    def is_known(self) -> bool:
        """True if the index was made or checked by this user; else nothing in it is to be believed."""
        if not self._is_known:
            self._is_known = self._knows()  # another process may have checked it
        return self._is_known

    def with_settings(self, settings: Settings) -> OpenedProject:
        """Return the same index with other settings for questions."""
        other = copy(self)
        other.place = replace(self.place, settings=settings)
        return other

    def files_with(self, word: str) -> Sequence[str] | None:
        """Return the paths of the files in which a word stands, as `files_with_word`."""
        from codefathom.search.expression_files import files_with_word

        return files_with_word(word, self.views.lexical, self.catalog)

    @property
    def generation(self) -> int:
        """Number of changes of the index, by whatever process; 0 before the first run, or the first check."""
        return self.catalog.generation if self.is_known else 0

    def marked(self, hits: tuple[Hit, ...], generation: int) -> tuple[Hit, ...]:
        """Say of each hit whether its file still is as it was indexed; unchanged files are not read for that.

        The hits were found when the catalogue had this generation: what was written since is another text.
        """
        documents = self.catalog.documents_at({hit.chunk.path for hit in hits})
        recipe = self._current(self._recipe)
        documents.sort(key=attrgetter("path"))  # each folder is opened once
        with opened_folders(recipe.tree) as tree:
            originals = Originals(origin_of(tree, recipe.rules, self.catalog))
            same = {document.path for document in documents if originals.of(document).state == "same"}
        same -= self.catalog.written_after(same, generation)  # after all that was read
        return tuple(hit if hit.chunk.path in same else replace(hit, stale=True) for hit in hits)

    def remember(self) -> bool:
        """Mark the index, which was compared with the tree, as known; return whether it stays so after this process."""
        word = os.urandom(16).hex()
        self.catalog.mark(word)
        self._is_known = True
        return self._registry.add(index_place(self.place), word)

    @property
    def is_moved(self) -> bool:
        """True if another process has moved the vectors to another store."""
        return self._store() != self.store

    def _store(self) -> StoreSettings:
        settings = self.place.settings
        return store_in_force(settings, self.catalog) if self._is_known else settings.store

    def _knows(self) -> bool:
        return self.catalog.is_marked_with(self._registry.word(index_place(self.place)))

    def _claims(self) -> bool:
        """Take an empty index for one that is made here."""
        word = os.urandom(16).hex()
        if not self.catalog.claim(word):
            return False
        self._registry.add(index_place(self.place), word)
        return True

    @property
    def sources(self) -> Sources:
        """The sources of a search."""
        return self._sources if self._upgrade is None else self._upgrade.sources(self._sources)

    def _views(self, lexical: LexicalView, embedder: Embedder) -> Views:
        # The bundled model's vectors only stand in for those of a slow one; they need no store of other makers.
        store = self.store if embedder is self.embedder else self.store._replace(vectors="flat")
        return Views(self.catalog, lexical, self.vector_store(store, embedder), embedder.name)

    def vector_store(self, store: StoreSettings, embedder: Embedder | None = None) -> VectorStore:
        """Return a store of the vectors of a model, by default of the one that the settings name."""
        place = self.place
        project = IndexedProject(place.root, place.index_folder, store, place.variables)
        return vector_store(project, self.catalog, embedder or self.embedder)

    def _to_upgrade(self, lexical: LexicalView) -> Upgrade:
        from codefathom.project.upgrading import Upgrade, UpgradedIndex, UpgradeLimits
        from codefathom.providers.batching import BatchLimits

        place, embed = self.place, self.place.settings.embed
        n_texts = min(embed.batch, _BATCH_HERE) if is_on_disk(embed.model) else embed.batch
        limits = UpgradeLimits(BatchLimits(n_texts, embed.batch_tokens, embed.max_tokens), _error_limit(place.settings))
        index = UpgradedIndex(self.catalog, self.views, place.index_folder)
        return Upgrade(self.embedder, self._views(lexical, self.embedder), index, limits)

    @contextmanager
    def writing(self, lock: WriterLock | None = None) -> Iterator[Stages]:
        """Hold the writer lock and give what an index run needs. A lock that is given is held already.

        Raises LockedError when another process holds it, UnwritableError.
        """
        from codefathom.index.indexing import Stages

        settings = self.place.settings
        with held_lock(lock or self.lock()), self._written(), closing(self._cache()) as cache:
            self.views.reload()  # the last writer may have been another process
            yield Stages(
                catalog=self.catalog,
                views=self.views,
                embedder=self._first,
                cache=cache,
                recipe=self.recipe,
                memory=self.tree,
                n_workers=n_workers(settings.index.workers),
                embed_batch=settings.embed.batch,
                error_limit=_error_limit(settings),
                model_parser=self._model_parser(),
                doubt=self._doubt(cache),
                keeps_vectors=not isinstance(self._first, BundledEmbedder),
            )
            if self._upgrade is not None:
                self._upgrade.follow(cache)

    def _written(self) -> AbstractContextManager[None]:
        if self.unwritable is not None:
            raise self.unwritable
        return self.catalog.soundness.held()

    def lock(self) -> WriterLock:
        """Return the writer lock, which nobody holds by this."""
        return WriterLock(self.place.index_folder)

    def _doubt(self, cache: Cache) -> Doubt | None:
        """Return the check of an index that is not known; None for a known one."""
        if self.is_known:
            return None
        from codefathom.index.doubt import Doubt

        def check_others() -> None:
            folder, ours = self.place.index_folder, {vector_folder(self._first), vector_folder(self.embedder)}
            for name in folder.names():
                if name.startswith("vectors-") and name not in ours:
                    folder.remove(name)
            if self._upgrade is not None:
                self._upgrade.check(cache)

        return Doubt(self.catalog, self.views, {self._first.name, self.embedder.name}, check_others)

    def with_models(
        self, events: Generator[Progress | IndexReport, None, None], *, retry: bool = True
    ) -> Generator[Progress | IndexReport, None, None]:
        """Pass on the events of an index run; before its report comes, what takes long is made: vectors and purposes.

        No search and no other writer waits for these models. Without `retry`, purposes are those of indexed files only.
        """
        with closing(self._cache()) as cache:
            if self._upgrade is not None:
                events = self._upgrade.complete(events, cache)
            model = self._purpose_model()
            if model is not None:
                from codefathom.index.purposes import add_purposes

                events = add_purposes(events, model, self.catalog, cache, retry=retry)
            yield from events

    def without_purpose(self) -> list[StoredDocument] | None:
        """Return the documents whose purpose is not known; None when no model is asked for purposes."""
        name = _describing_model(self.place.settings)
        if not name:
            return None
        from codefathom.index.purposes import without_purpose

        with closing(self._cache()) as cache:
            return without_purpose(self.catalog, cache, _purpose_key(name))

    def purposes(self, paths: Collection[str]) -> dict[str, str]:
        """Return the purposes of these files that a model has given, also where none, or another one, is asked now."""
        name = self.place.settings.llm.of("index")
        chosen = set(paths)
        prints = {item.path: item.fingerprint for item in self.catalog.documents() if item.path in chosen}
        with closing(self._cache()) as cache:
            purposes = cache.get_purposes("", set(prints.values()))
            if name:
                purposes |= cache.get_purposes(_purpose_key(name), set(prints.values()))
        return {path: purposes[fingerprint] for path, fingerprint in prints.items() if fingerprint in purposes}

    def _cache(self) -> Cache:
        from codefathom.stores.cache import Cache

        return Cache.open(self.place.cache_dir)

    def chat_model(self, name: str) -> ChatModel:
        """Return a language model, the same each time: roles and questions share what is known of its server."""
        with self._lock:
            if name not in self._models:
                self._models[name] = self._wrap_model(self._to_servers().chat_model(name))
            return self._models[name]

    def _embedder(self) -> Embedder:
        """Return the embedding model. Raises SettingsError."""
        embed = self.place.settings.embed
        if embed.model == BUNDLED and not embed.dimensions:
            return BundledEmbedder()
        if is_on_disk(embed.model):
            from codefathom.remote import on_disk

            return on_disk.embedder(self.place.settings)
        from codefathom.remote.embedding_model import embedder  # with all that speaks to other machines

        return embedder(self.place.settings, self._to_servers(), self.catalog.dimensions_of)

    def _reranking(self) -> WeightedReranker | None:
        """Return the reranking model, None without one. One that cannot be used is told of by each search."""
        rerank = self.place.settings.rerank
        if not rerank.model:
            return None
        from codefathom.search.ranking.rerank import Unusable, WeightedReranker

        try:
            model = self.reranker()
        except (SettingsError, ProviderError) as error:
            model = Unusable(shown_model(rerank.model), error)
        return WeightedReranker(model, rerank.depth, rerank.weight)

    def reranker(self) -> Reranker:
        """Return the reranking model of the settings. Raises SettingsError."""
        if is_on_disk(self.place.settings.rerank.model):
            from codefathom.remote import on_disk

            return on_disk.reranker(self.place.settings)
        from codefathom.remote import reranking_model  # with all that speaks to other machines

        return reranking_model.reranker(self.place.settings, self._to_servers())

    def _to_servers(self) -> Connections:
        if self._connections is None:
            from codefathom.remote.chat_models import Connections  # with all that speaks to other machines

            self._connections = Connections(self.place.settings, self.place.variables, self._on_wait, self._is_patient)
        return self._connections

    def _model_parser(self) -> ModelParser | None:
        """Return the model that parses; None when the chain asks none. Raises SettingsError."""
        settings = self.place.settings
        if "llm" not in settings.parse.chain:
            return None
        from codefathom.index.reparse import model_parser
        from codefathom.source.secrets import mask

        model = self.chat_model(parsing_model(settings))
        return model_parser(model, settings.judge.workers, mask=lambda text: mask(text).text)

    def _purpose_model(self) -> PurposeModel | None:
        """Return the model that says what files are for; None when it is not to be asked. Raises SettingsError."""
        settings = self.place.settings
        name = _describing_model(settings)
        if not name:
            return None
        from codefathom.index.purposes import PurposeModel
        from codefathom.source.secrets import mask

        model = self.chat_model(name)
        return PurposeModel(_purpose_key(name), model, lambda text: mask(text).text, settings.judge.workers)

    def failures(self) -> tuple[Failure, ...]:
        """Return the files that could not be indexed, or not embedded, the last time that this was tried."""
        not_embedded = self._upgrade.failures() if self._upgrade is not None else ()
        return (*self.catalog.failures(), *not_embedded)

    @property
    def paused(self) -> str:
        """The reason why the last run stopped early, "" when it did not."""
        return self.catalog.get_meta("paused") or (self._upgrade.paused if self._upgrade is not None else "")

    def damage_of_files(self) -> dict[str, str]:
        """Compare all files with what was written, and return what is wrong by the part of the index."""
        problem = self.catalog.soundness.damage()
        views = self.views.damage() | (self._upgrade.damage() if self._upgrade is not None else {})
        return {**({"catalogue": problem} if problem else {}), **views}

    def close(self) -> None:
        """Release files and connections. What another thread asks at this moment ends with IndexClosedError."""
        self.catalog.close()  # first: no question may take views that are closed for views that hold nothing
        if self._connections is not None:
            self._connections.close()
        if self._upgrade is not None:
            self._upgrade.close()
        self.views.close()
        self._use.release()


def _error_limit(settings: Settings) -> ErrorLimit:
    from codefathom.index.tally import ErrorLimit  # a search needs none

    return ErrorLimit(settings.index.error_share, settings.index.error_minimum)


def n_workers(setting: int) -> int:
    """Return the number of processes that parse: more than there are processors only take memory."""
    processors = os.cpu_count() or 1
    return min(setting or processors, processors)


def _catalog(folder: Folder, on_note: Callable[[Note], None]) -> tuple[Catalog, UnwritableError | None]:
    """Open the catalogue; where nothing can be written, one that is there only to be read, and return why as well."""
    file = folder.file(CATALOGUE)
    try:
        make_index_folder(folder)
        return Catalog.open(file, on_note=on_note), None
    except UnwritableError as error:
        try:
            return Catalog.open(file, read_only=True), error
        except DamagedError:
            raise
        except IndexingError:
            version = format_to_bring_up(file)
            raise (not_brought_up(file, version, error) if version else error) from None


def is_old(place: Location) -> bool:
    """Return True if the index of a place has an older format, so that opening it may take minutes."""
    return bool(format_to_bring_up(place.index_folder.file(CATALOGUE)))


def make_index_folder(folder: Folder) -> None:
    """Make the folder of an index, which version control ignores. Raises IndexingError."""
    try:
        folder.make()
        ignore = folder.file(".gitignore")
        if ignore.kind() != "file":
            ignore.remove()
            ignore.make(b"# Written by fathom: the index is not part of the project.\n*\n")
    except OSError as error:
        raise writing_error("cannot write the index", folder, error) from error


def is_slow(settings: Settings) -> bool:
    """Return True if the embedding model takes so long that another one answers meanwhile."""
    return not settings.embed.model.startswith((BUNDLED, "model2vec:"))


def _describing_model(settings: Settings) -> str:
    return settings.llm.of("index") if settings.index.purposes else ""


def _purpose_key(name: str) -> str:
    from codefathom.index.purposes import purpose_key

    return purpose_key(shown_model(name))


def fusion(settings: Settings) -> Fusion:
    """Return the parameters by which a search joins its rankings."""
    search = settings.search
    return Fusion(
        search.fusion,
        search.rrf_k,
        search.lexical_weight,
        search.vector_weight,
        search.candidates,
        settings.rerank.candidates,
        search.min_similarity,
        search.ranking,
        may_list_more="search.candidates" not in settings.origins,
    )


def index_model(settings: Settings) -> str:
    """Return the name of the model that an index run sends text to, "" when there is none."""
    reads = "llm" in settings.parse.chain or settings.index.purposes
    return settings.llm.of("index") if reads else ""


def parsing_model(settings: Settings) -> str:
    """Return the name of the model that parses. Raises SettingsError when there is none."""
    name = settings.llm.of("index")
    if not name:
        raise SettingsError(
            "parse.chain contains llm, but no language model is set",
            hint="set llm.model, for example to ollama:qwen2.5-coder:14b, or take llm out of parse.chain",
        )
    return name


def _chain(settings: Settings) -> tuple[str, ...]:
    """Return the chain with the model's name and a hash of what it is told: another one parses anew."""
    chain = settings.parse.chain
    if "llm" not in chain:
        return chain
    from codefathom.parse import llm

    told = blake2b(f"{llm.VERSION}\n{llm.PROMPT}\n{llm.SCHEMA}".encode(), digest_size=4).hexdigest()
    own = f"llm:{shown_model(parsing_model(settings))}:{told}"
    return tuple(own if name == "llm" else name for name in chain)


def _recipe(place: Location) -> Recipe:
    settings = place.settings
    return Recipe(
        root=source_folder(place.root, settings.source.dir),
        rules=scan_rules(settings, place.variables),
        chain=_chain(settings),
        limits=ChunkLimits(settings.chunk.target_chars, settings.chunk.max_lines),
        cache_folder=place.cache_dir,
        encoding="" if settings.source.encoding == "auto" else settings.source.encoding,
        tokens=TokenLimits(settings.index.min_tokens, settings.index.max_tokens),
        keeps_secrets=settings.source.secrets == "keep",
    )
