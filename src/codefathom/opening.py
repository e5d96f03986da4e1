"""From a path and its settings to opened back ends: the only place that chooses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING

from codefathom.chunk import Limits
from codefathom.configuration import find_root, load_settings, user_file
from codefathom.errors import IndexingError, ProviderError, SettingsError, SourceError
from codefathom.naming import BUNDLED, is_on_disk, shown_model
from codefathom.plan import Recipe
from codefathom.providers.base import ChatModel, Embedder, Reranker
from codefathom.providers.bundled import BundledEmbedder
from codefathom.search.pipeline import Fusion
from codefathom.search.retrieve import Sources
from codefathom.settings import Settings
from codefathom.source.scan import ScanRules
from codefathom.stores.base import VectorStore
from codefathom.stores.catalog import Catalog
from codefathom.stores.lexical import LexicalView
from codefathom.stores.lock import writer_lock
from codefathom.stores.vectors import FlatVectorStore
from codefathom.stores.views import Views

if TYPE_CHECKING:
    from codefathom.chatting import Connections
    from codefathom.indexing import Stages
    from codefathom.purposes import PurposeModel
    from codefathom.reparse import ModelParser
    from codefathom.search.rerank import Reranking
    from codefathom.stores.cache import Cache
    from codefathom.stores.records import StoredDocument
    from codefathom.types import IndexReport, Progress
    from codefathom.upgrading import Upgrade

INDEX_FOLDER = ".fathom"
_BATCH_HERE = 32  # texts for a model on this machine, some seconds' work; a server is asked for `embed.batch` at once


@dataclass(frozen=True, slots=True)
class Place:
    """Where a project, its index and the user's caches lie, and the settings in force."""

    root: str
    index_dir: str
    cache_dir: str
    settings: Settings
    variables: Mapping[str, str]  # of the environment, where the keys of providers are


def locate(path: str, settings: Settings | None = None) -> Place:
    """Find the project of a path. Raises SourceError when there is no such folder."""
    if not os.path.isdir(path):
        raise SourceError(f"no such folder: {path!r}", hint="give the path of a project's folder")
    root = find_root(os.path.realpath(path))
    settings = settings or load_settings(root, environ=os.environ, user_file=user_file(os.environ))
    cache_dir = user_cache_dir()
    return Place(root, _index_dir(root, settings, cache_dir), cache_dir, settings, os.environ)


def user_cache_dir() -> str:
    """Return the folder for what all projects of this user share."""
    home = os.path.expanduser("~")
    if os.environ.get("FATHOM_CACHE_DIR"):
        return os.environ["FATHOM_CACHE_DIR"]
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "codefathom")


def _index_dir(root: str, settings: Settings, cache_dir: str) -> str:
    """`.fathom` in the project; another folder by setting; under the user's cache when the project is read-only."""
    own = f"{os.path.basename(root)}-{blake2b(root.encode(errors='surrogateescape'), digest_size=6).hexdigest()}"
    chosen = settings.index.dir
    if chosen:
        return os.path.join(root, chosen)
    if os.environ.get("FATHOM_INDEX_DIR"):  # one folder for the indexes of many projects
        return os.path.join(os.environ["FATHOM_INDEX_DIR"], own)
    inside = os.path.join(root, INDEX_FOLDER)
    if os.access(inside if os.path.isdir(inside) else root, os.W_OK):
        return inside
    return os.path.join(cache_dir, "indexes", own)


class Opened:
    """The opened index of one project: catalogue, views and embedder. Safe to read from several threads."""

    def __init__(self, place: Place, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self.place = place
        self._on_wait = on_wait
        self._lock = Lock()  # of the two below
        self._connections: Connections | None = None
        self._models: dict[str, ChatModel] = {}
        _make_folder(place.index_dir)
        self.catalog = Catalog.open(os.path.join(place.index_dir, "catalog.db"))
        self.embedder = self._embedder()  # of the settings
        # What takes long is made later; see `upgrading.py`.
        self._first = BundledEmbedder() if _is_slow(place.settings) else self.embedder
        lexical = LexicalView.open(os.path.join(place.index_dir, "lexical"), self.catalog.identity)
        self.views = self._views(lexical, self._first)
        self._upgrade = self._to_upgrade(lexical) if self._first is not self.embedder else None
        self.recipe = _recipe(place)
        self._sources = Sources(self.catalog, lexical, self.views.vectors, self._first, self._reranking())

    @property
    def sources(self) -> Sources:
        """What a search looks in."""
        return self._sources if self._upgrade is None else self._upgrade.sources(self._sources)

    def _views(self, lexical: LexicalView, embedder: Embedder) -> Views:
        store = _vector_store(self.place, embedder, self.catalog.identity)
        return Views(self.catalog, lexical, store, embedder.name)

    def _to_upgrade(self, lexical: LexicalView) -> Upgrade:
        from codefathom.upgrading import Upgrade

        place, wanted = self.place, self.place.settings.embed
        batch = min(wanted.batch, _BATCH_HERE) if is_on_disk(wanted.model) else wanted.batch
        return Upgrade(self.embedder, self._views(lexical, self.embedder), self.views, place.index_dir, batch)

    @contextmanager
    def writing(self, *, wait_s: float = 0.0) -> Iterator[Stages]:
        """Hold the writer lock and give what an index run needs. Raises LockedError when another process holds it."""
        from codefathom.indexing import Patience, Stages

        settings = self.place.settings
        with writer_lock(self.place.index_dir, wait_s=wait_s), closing(self._cache()) as cache:
            self.views.reload()  # the last writer may have been another process
            yield Stages(
                catalog=self.catalog,
                views=self.views,
                embedder=self._first,
                cache=cache,
                recipe=self.recipe,
                n_workers=settings.index.workers or os.cpu_count() or 1,
                embed_batch=settings.embed.batch,
                patience=Patience(settings.index.error_share, settings.index.error_minimum),
                model_parser=self._model_parser(),
            )
            if self._upgrade is not None:
                self._upgrade.follow(cache)

    def with_models(
        self, events: Generator[Progress | IndexReport, None, None]
    ) -> Generator[Progress | IndexReport, None, None]:
        """Pass on the events of an index run; before its report comes, what takes long is made: vectors and purposes.

        Nobody waits for these models: not a search, and not another writer.
        """
        with closing(self._cache()) as cache:
            if self._upgrade is not None:
                events = self._upgrade.complete(events, cache)
            model = self._purpose_model()
            if model is not None:
                from codefathom.purposes import add_purposes

                events = add_purposes(events, model, self.catalog, cache)
            yield from events

    def without_purpose(self) -> list[StoredDocument] | None:
        """Return the documents whose purpose is not known; None when no model is asked for purposes."""
        name = _describing_model(self.place.settings)
        if not name:
            return None
        from codefathom.purposes import without_purpose

        with closing(self._cache()) as cache:
            return without_purpose(self.catalog, cache, _purpose_key(name))

    def purposes(self, paths: Collection[str]) -> dict[str, str]:
        """Return the purposes of these files that are known."""
        name = _describing_model(self.place.settings)
        if not name:
            return {}
        wanted = set(paths)
        prints = {item.path: item.fingerprint for item in self.catalog.documents() if item.path in wanted}
        with closing(self._cache()) as cache:
            known = cache.get_purposes(_purpose_key(name), set(prints.values()))
        return {path: known[fingerprint] for path, fingerprint in prints.items() if fingerprint in known}

    def _cache(self) -> Cache:
        from codefathom.stores.cache import Cache

        return Cache.open(self.place.cache_dir)

    def chat_model(self, name: str) -> ChatModel:
        """Return a language model, the same each time: roles and questions share what is known of its server."""
        with self._lock:
            if name not in self._models:
                self._models[name] = self._to_servers().chat_model(name)
            return self._models[name]

    def _embedder(self) -> Embedder:
        """Return the embedding model. Raises SettingsError."""
        wanted = self.place.settings.embed
        if wanted.model == BUNDLED and not wanted.dimensions:
            return BundledEmbedder()
        if is_on_disk(wanted.model):
            from codefathom import on_disk

            return on_disk.embedder(self.place.settings)
        from codefathom.embedding import embedder  # with all that speaks to other machines

        return embedder(self.place.settings, self._to_servers(), self.catalog.dimensions_of)

    def _reranking(self) -> Reranking | None:
        """Return the reranking model, None without one. One that cannot be used is told of by each search."""
        wanted = self.place.settings.rerank
        if not wanted.model:
            return None
        from codefathom.search.rerank import Reranking, Unusable

        try:
            model = self.reranker()
        except (SettingsError, ProviderError) as error:
            model = Unusable(shown_model(wanted.model), error)
        return Reranking(model, wanted.depth, wanted.weight)

    def reranker(self) -> Reranker:
        """Return the reranking model of the settings. Raises SettingsError."""
        if is_on_disk(self.place.settings.rerank.model):
            from codefathom import on_disk

            return on_disk.reranker(self.place.settings)
        from codefathom import reranking  # with all that speaks to other machines

        return reranking.reranker(self.place.settings, self._to_servers())

    def _to_servers(self) -> Connections:
        if self._connections is None:
            from codefathom.chatting import Connections  # with all that speaks to other machines

            self._connections = Connections(self.place.settings, self.place.variables, self._on_wait)
        return self._connections

    def _model_parser(self) -> ModelParser | None:
        """Return the model that parses; None when the chain asks none. Raises SettingsError."""
        settings = self.place.settings
        if "llm" not in settings.parse.chain:
            return None
        from codefathom.reparse import model_parser
        from codefathom.source.secrets import mask

        model = self.chat_model(_parsing_model(settings))
        return model_parser(model, settings.judge.workers, mask=lambda text: mask(text).text)

    def _purpose_model(self) -> PurposeModel | None:
        """Return the model that says what files are for; None when it is not to be asked. Raises SettingsError."""
        settings = self.place.settings
        name = _describing_model(settings)
        if not name:
            return None
        from codefathom.purposes import PurposeModel
        from codefathom.source.secrets import mask

        model = self.chat_model(name)
        return PurposeModel(_purpose_key(name), model, lambda text: mask(text).text, settings.judge.workers)

    def close(self) -> None:
        """Release files and connections; the engine cannot be used afterwards."""
        if self._connections is not None:
            self._connections.close()
        if self._upgrade is not None:
            self._upgrade.close()
        self.views.close()
        self.catalog.close()


def _make_folder(index_dir: str) -> None:
    try:
        os.makedirs(index_dir, exist_ok=True)
        ignore = os.path.join(index_dir, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="utf-8") as file:
                file.write("# Written by fathom: the index is not part of the project.\n*\n")
    except OSError as error:
        raise IndexingError(
            f"cannot write the index to {index_dir!r}: {error.strerror}",
            hint="set FATHOM_INDEX_DIR to a folder that can be written",
        ) from error


def _vector_store(place: Place, embedder: Embedder, owner: str) -> VectorStore:
    kind = place.settings.store.vectors
    if kind != "flat":
        raise SettingsError(f"store.vectors = {kind!r} is not a vector store of this version", hint="use 'flat'")
    # A folder for each model: vectors of two models never meet, and going back to a model costs nothing.
    name = blake2b(f"{embedder.name}:{embedder.dimensions}".encode(), digest_size=4).hexdigest()
    return FlatVectorStore(os.path.join(place.index_dir, f"vectors-{name}"), embedder.dimensions, owner)


def _is_slow(settings: Settings) -> bool:
    """Whether the embedding model takes so long that another one answers meanwhile."""
    return not settings.embed.model.startswith((BUNDLED, "model2vec:"))


def _describing_model(settings: Settings) -> str:
    return settings.llm.of("index") if settings.index.purposes else ""


def _purpose_key(name: str) -> str:
    from codefathom.purposes import purpose_key

    return purpose_key(shown_model(name))


def fusion(settings: Settings) -> Fusion:
    """Return how a search joins its rankings."""
    search = settings.search
    return Fusion(
        search.fusion,
        search.rrf_k,
        search.lexical_weight,
        search.vector_weight,
        search.candidates,
        settings.rerank.candidates,
        search.min_similarity,
    )


def index_model(settings: Settings) -> str:
    """Return the name of the model that an index run sends text to, "" when there is none."""
    reads = "llm" in settings.parse.chain or settings.index.purposes
    return settings.llm.of("index") if reads else ""


def _parsing_model(settings: Settings) -> str:
    name = settings.llm.of("index")
    if not name:
        raise SettingsError(
            "parse.chain holds llm, and no language model is set",
            hint="set FATHOM_LLM__MODEL, such as ollama:qwen2.5-coder:14b, or take llm out of parse.chain",
        )
    return name


def _chain(settings: Settings) -> tuple[str, ...]:
    """Return the chain with the model's name and a hash of what it is told: another one parses anew."""
    chain = settings.parse.chain
    if "llm" not in chain:
        return chain
    from codefathom.parse import llm

    told = blake2b(f"{llm.VERSION}\n{llm.PROMPT}\n{llm.SCHEMA}".encode(), digest_size=4).hexdigest()
    own = f"llm:{shown_model(_parsing_model(settings))}:{told}"
    return tuple(own if name == "llm" else name for name in chain)


def _recipe(place: Place) -> Recipe:
    settings = place.settings
    return Recipe(
        root=os.path.normpath(os.path.join(place.root, settings.source.dir)),
        rules=ScanRules(
            required_exts=settings.source.required_exts,
            ignore=settings.source.ignore,
            follow_symlinks=settings.source.follow_symlinks,
            max_bytes=settings.source.max_file_bytes,
            include_generated=settings.source.include_generated,
        ),
        chain=_chain(settings),
        limits=Limits(settings.chunk.target_chars, settings.chunk.max_lines),
        cache_folder=place.cache_dir,
    )
