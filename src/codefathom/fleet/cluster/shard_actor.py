"""The actor of one node: it opens shards from the shared folder of a fleet, and answers calls about them.

It is a plain class, so that it can be tried without Ray; `ray_cluster` makes an actor of it.
"""

from __future__ import annotations

import pickle
import time
from collections import OrderedDict
from contextlib import closing
from threading import Lock
from typing import Any, cast

from codefathom.errors import DamagedError, FathomError
from codefathom.facts.reasons import SHARD_STORE_AWAY, Note, verbatim
from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.shard_cache import ShardCache
from codefathom.fleet.cluster.shard_calls import (
    LOOKS,
    ListNeeded,
    LookCount,
    ShardCall,
    ShardList,
    ShardMessage,
    ShardReply,
    packed,
    plain,
)
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.fleet.shard_store import problem_of
from codefathom.fleet.shard_vectors import open_vectors
from codefathom.stores.vectors.flat_vectors import FlatVectorStore

_MOST_FLEETS = 8  # generations of fleets that are open at a time
# The methods of a catalogue that `ShardCatalogs` asks; whoever calls another one has made a mistake.
_METHODS = frozenset(
    (
        *("chunks_at", "chunks_defining", "chunks_of", "counts", "definitions", "document", "documents"),
        *("documents_at", "failures", "get_meta", "import_forms", "imports", "imports_of", "is_rejected", "keys_of"),
        *("kinds_in", "languages", "languages_with_uses", "lines", "matching", "mentions_of", "n_symbols", "paths"),
        "placed",
        *("references", "references_of", "references_to", "rejected", "similar_names", "symbols", "symbols_named"),
        *("symbols_of", "text", "texts", "types_named"),
    )
)


class ShardActor:
    """Shards that are opened when they are first asked. Safe to use from several threads."""

    def __init__(self) -> None:
        self._fleets: OrderedDict[tuple[str, str, int], _OpenFleet] = OrderedDict()
        self._lock = Lock()
        self._word = code_word()  # of the code that has just been loaded
        self._asked_at = time.monotonic()

    def idle_s(self) -> float:
        """Return the seconds since a question came. Other versions ask this, too: it stays as it is."""
        return time.monotonic() - self._asked_at

    def ask(self, word: str, message: bytes) -> bytes:
        """Return the replies to the calls of a message, in their order, packed; or why there are none."""
        if word != self._word:
            return self._word.encode()  # plain: what is packed may have another form in another version
        self._asked_at = time.monotonic()
        question: ShardMessage = pickle.loads(message)
        fleet = self._fleet(question)
        return packed(ListNeeded() if fleet is None else [fleet.reply(call) for call in question.calls])

    def _fleet(self, question: ShardMessage) -> _OpenFleet | None:
        with self._lock:
            if question.fleet not in self._fleets:
                if question.shards is None:
                    return None
                self._fleets[question.fleet] = _OpenFleet(question.shards)
            self._fleets.move_to_end(question.fleet)
            while len(self._fleets) > _MOST_FLEETS:
                self._fleets.popitem(last=False)  # closed when the last thread that reads it has ended
            return self._fleets[question.fleet]


class _OpenFleet:
    """The shards of one generation that were asked so far."""

    def __init__(self, shards: ShardList) -> None:
        self._cache = None if shards.store is None else ShardCache(shards.store, shards.identity)
        self._files = shards.files
        own = shards if self._cache is None else shards._replace(root=self._cache.root)
        self._catalogs = ShardCatalogs(cast(Manifest, own))  # the list has all of it that opening shards needs
        if self._cache is not None:
            self._catalogs.broken.clear()  # those that are not here are brought
        self._vectors: dict[tuple[int, str], FlatVectorStore] = {}
        self._counts: dict[int, LookCount] = {}
        self._lock = Lock()

    def reply(self, call: ShardCall) -> ShardReply:
        """Return what came of a call."""
        began = time.perf_counter()
        reply = self._reply(call)
        if call.method != LOOKS:
            with self._lock:
                n_calls, seconds = self._counts.get(call.slot, LookCount(0, 0.0))
                self._counts[call.slot] = LookCount(n_calls + 1, seconds + time.perf_counter() - began)
        return reply

    def _reply(self, call: ShardCall) -> ShardReply:
        try:
            if self._cache is not None:
                self._cache.bring(self._catalogs.shards[call.slot].folder, self._files.get(call.slot, ()))
        except DamagedError as error:
            return ShardReply(error=error, problem=problem_of(error))
        except FathomError as error:
            return ShardReply(away=Note(SHARD_STORE_AWAY, {"error": verbatim(str(error))}))
        try:
            return ShardReply(self._value(call))
        except FathomError as error:
            return ShardReply(error=error, problem=self._catalogs.broken.get(call.slot))

    def _value(self, call: ShardCall) -> Any:
        if call.vectors is not None:
            return self._opened_vectors(call).nearest(*call.arguments)
        if call.method == LOOKS:
            self._catalogs.catalog(call.slot)
            return self._counts.get(call.slot, LookCount(0, 0.0))
        if call.method not in _METHODS:
            raise ValueError(f"a shard is not asked for {call.method!r}")
        return plain(getattr(self._catalogs.catalog(call.slot), call.method)(*call.arguments, **call.named))

    def _opened_vectors(self, call: ShardCall) -> FlatVectorStore:
        assert call.vectors is not None
        key = (call.slot, call.vectors.folder)
        store = self._vectors.get(key)
        if store is None:
            store = open_vectors(self._catalogs, call.slot, call.vectors.folder, call.vectors.dimensions)
            store = self._vectors.setdefault(key, store)
        return store

    def __del__(self) -> None:
        with closing(self._catalogs):
            for store in self._vectors.values():
                store.close()
            if self._cache is not None:
                self._cache.close()
