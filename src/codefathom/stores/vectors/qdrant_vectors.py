"""Qdrant: a server, a cloud, or a folder that the client keeps. Needs the extra `qdrant`.

One collection holds many projects, each with its key in the payload, as the makers of Qdrant advise; a name with
`{project}` in it gives each project a collection of its own. A point of its own is the label of a project.
"""

from __future__ import annotations

import math
import re
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any, TypeVar

from codefathom.errors import StoreAwayError, StoreError, StoreSilentError, without_login
from codefathom.stores.vectors.candidates import Change, Label, Point, StoreSetup, Within
from codefathom.stores.vectors.payload import (
    FILTERED,
    MAX_ANSWER_BYTES,
    WRONG_FORM,
    key_of,
    pages,
    points_at_once,
    similarity_of,
    unit_lists,
)
from codefathom.stores.vectors.qdrant_folder import LocalQdrant
from codefathom.system.bounded_http import AnswerLimits, broken_limit, keep_to, silence

_library: Any = import_module("qdrant_client")
_models: Any = import_module("qdrant_client.models")
_failures: Any = import_module("qdrant_client.http.exceptions")
_limits: Any = import_module("qdrant_client.common.client_exceptions")

_T = TypeVar("_T")

USUAL_URL = "http://localhost:6333"
_LABEL = "label"  # type of the point that is a label, in the place of a chunk's
_NAMESPACE = uuid.UUID("0d3a4b5e-79a5-5b0e-a0c1-9c8f0a7a2f11")  # of the ids of labels
_KEYWORDS = (*FILTERED.values(), "chunk_type", "file_path", "file_dir", "build")
_PAGE = 10_000  # points whose payload is listed at once
_REFUSED, _MISSING, _TOO_MANY, _BROKEN = (401, 403), 404, 429, 500  # states of a reply
_SHOWN = 200  # characters of an answer in an error
_LIMIT = "check store.url, or raise store.timeout_s"
_LEAST_FOLLOWED, _MOST_FOLLOWED, _FOLLOWED = 32, 256, 8  # of the vectors that a search in the graph follows


class QdrantStore:
    """The points of one project in a collection."""

    def __init__(self, setup: StoreSetup) -> None:
        options = setup.options
        self._options = options
        self._project = options.project
        self._dimensions = setup.dimensions
        # The server does not take these characters in a name.
        self._collection = re.sub(r'[<>:"/\\|?*\0\x1f]', "-", options.collection.replace("{project}", options.project))
        self._is_shared = "{project}" not in options.collection
        self._label_id = _label_id(options.project)
        url = options.url or USUAL_URL
        self._place: _Server | LocalQdrant = (
            _Server(url, setup.key, options.timeout_s)
            if "://" in url
            else LocalQdrant(url, f"{options.collection}-{options.project}")
        )
        self.is_exact = options.exact

    # ---- state

    def label(self) -> Label | None:
        """Return the label of the project, None without rows."""

        def read(client: Any) -> Label | None:
            records = client.retrieve(self._collection, [self._label_id])
            payloads = (record.payload or {} for record in records)
            return next((Label(str(it.get("owner")), key_of(it.get("generation", 0))) for it in payloads), None)

        label: Label | None = self._read(read, None)
        return label

    def count(self) -> int:
        """Count the rows of the project."""
        return self._n_rows(self._own())

    def keys(self) -> Iterator[int]:
        """Yield the keys of the project's rows."""
        yield from self._scrolled(self._own(), "key", key_of)

    def projects(self) -> dict[str, int]:
        """Return the projects of the collection with their numbers of rows."""
        labels = _models.Filter(must=[_equals("chunk_type", _LABEL)])
        names = sorted(set(self._scrolled(labels, "of", str)))
        return {name: self._n_rows(_models.Filter(must=[_equals("project", name)])) for name in names}

    def described(self) -> dict[str, str | int | bool]:
        """Return the state of the collection as the server says it. Raises StoreAwayError when it does not answer."""
        shown: dict[str, str | int | bool] = self._read(self._description, {})
        return shown

    def prepare(self) -> None:
        """Make the collection with its indexes, where it is missing."""
        with self._place.writing() as client:
            self._ask(lambda: self._make_collection(client))

    def _description(self, client: Any) -> dict[str, str | int | bool]:
        has_collection = client.collection_exists(self._collection)
        shown: dict[str, str | int | bool] = {
            "address": without_login(self._options.url or USUAL_URL),
            "version": self._place.version(),
            "collection": self._collection if has_collection else f"{self._collection} (not made yet)",
        }
        if has_collection:
            info = client.get_collection(self._collection)
            vectors, hnsw = info.config.params.vectors, info.config.hnsw_config
            shown["points"] = info.points_count or 0
            shown["dimensions"] = vectors.size
            shown["distance"] = str(getattr(vectors.distance, "value", vectors.distance))
            shown["on_disk"] = bool(vectors.on_disk)
            shown["hnsw_m"] = (hnsw.payload_m if self._is_shared else hnsw.m) or 0
            shown["hnsw_ef_construct"] = hnsw.ef_construct
            shown["payload_indexes"] = ", ".join(sorted(info.payload_schema or {}))
        return shown

    # ---- write

    def apply(self, change: Change) -> None:
        """Write points in batches, remove what is gone, and write the label last."""
        build = uuid.uuid4().hex
        with self._place.writing() as client:
            self._ask(lambda: self._make_collection(client))
            points = iter(change.points)
            while page := list(islice(points, points_at_once(self._options.batch, self._dimensions))):
                self._put(client, page, build)
            if change.is_whole:
                others = _models.Filter(must=[_equals("project", self._project)], must_not=[_equals("build", build)])
                self._delete(client, others)
            for keys in pages(sorted(change.removed), _PAGE):
                self._delete(client, self._own(_any("key", keys)))
            label = {"of": self._project, "chunk_type": _LABEL, **change.label._asdict()}
            first_axis = [1.0, *[0.0] * (self._dimensions - 1)]
            point = _models.PointStruct(id=self._label_id, vector=first_axis, payload=label)
            self._ask(lambda: client.upsert(self._collection, [point], wait=True))

    def drop(self) -> None:
        """Remove the points and the label of the project; a collection of its own as a whole."""
        with self._place.writing() as client:
            if not self._ask(lambda: client.collection_exists(self._collection)):
                return
            if self._is_shared:
                self._delete(client, self._own())
                self._delete(client, _models.PointIdsList(points=[self._label_id]))
            else:
                self._ask(lambda: client.delete_collection(self._collection))

    def close(self) -> None:
        """Release connections."""
        self._place.close()

    def _put(self, client: Any, page: Sequence[Point], build: str) -> None:
        for point in page:
            self._check(len(point.vector))
        vectors = unit_lists([point.vector for point in page], self._dimensions)
        points = [
            _models.PointStruct(id=point.id, vector=vector, payload={**point.payload, "key": point.key, "build": build})
            for point, vector in zip(page, vectors, strict=True)
        ]
        self._ask(lambda: client.upsert(self._collection, points, wait=True))

    def _delete(self, client: Any, selector: Any) -> None:
        self._ask(lambda: client.delete(self._collection, selector, wait=True))

    def _make_collection(self, client: Any) -> None:
        """Make the collection, or check the one that is there. Its links follow the settings.

        In a shared collection only the projects have links of their own, so that a search never leaves its project.
        """
        options = self._options
        links = {"m": 0, "payload_m": options.hnsw_m} if self._is_shared else {"m": options.hnsw_m}
        if not client.collection_exists(self._collection):
            client.create_collection(
                self._collection,
                vectors_config=_models.VectorParams(
                    size=self._dimensions, distance=_models.Distance.COSINE, on_disk=options.on_disk
                ),
                hnsw_config=_models.HnswConfigDiff(**links, ef_construct=options.hnsw_ef_construct),
            )
            tenant = _models.KeywordIndexParams(type="keyword", is_tenant=True)
            self._make_index(client, "project", tenant)
            for field in _KEYWORDS:
                self._make_index(client, field, _models.PayloadSchemaType.KEYWORD)
            self._make_index(client, "key", _models.PayloadSchemaType.INTEGER)
            return
        info = client.get_collection(self._collection)
        self._check(getattr(info.config.params.vectors, "size", 0))
        hnsw = info.config.hnsw_config
        there = {**{name: getattr(hnsw, name, None) for name in links}, "ef_construct": hnsw.ef_construct}
        if there != {**links, "ef_construct": options.hnsw_ef_construct}:
            client.update_collection(
                self._collection,
                hnsw_config=_models.HnswConfigDiff(**links, ef_construct=options.hnsw_ef_construct),
            )

    def _make_index(self, client: Any, field: str, schema: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a folder has no indexes, and its client says so each time
            client.create_payload_index(self._collection, field, field_schema=schema, wait=True)

    def _check(self, n_dimensions: int) -> None:
        if n_dimensions != self._dimensions:
            raise StoreError(
                f"a vector has {self._dimensions} dimensions, those in the collection {self._collection!r} have "
                f"{n_dimensions}",
                hint="set store.collection to another name, or remove this collection from Qdrant",
            )

    # ---- search

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        """Return the n nearest, all or those with such keys or fields."""
        conditions = [_any(field, list(values)) for field, values in (within.fields or {}).items()]
        if within.keys is not None:
            conditions.append(_any("key", list(within.keys)))
        (unit,) = unit_lists([vector], self._dimensions)
        followed = self._options.hnsw_ef or min(max(_FOLLOWED * n, _LEAST_FOLLOWED), _MOST_FOLLOWED)
        how = _models.SearchParams(exact=self.is_exact, hnsw_ef=max(followed, n))

        def read(client: Any) -> list[tuple[int, float]]:
            answer = client.query_points(
                self._collection,
                query=unit,
                query_filter=self._own(*conditions),
                search_params=how if self._place.has_graph else None,
                limit=n,
                with_payload=["key"],
            )
            return [(key_of(point.payload["key"]), similarity_of(point.score)) for point in answer.points]

        candidates: list[tuple[int, float]] = self._read(read, [])
        return candidates

    # ---- the client

    def _own(self, *conditions: Any) -> Any:
        """Return the filter of the project's rows."""
        return _models.Filter(must=[_equals("project", self._project), *conditions])

    def _n_rows(self, where: Any) -> int:
        counted = self._read(lambda client: client.count(self._collection, count_filter=where, exact=True), None)
        return 0 if counted is None else int(counted.count)

    def _scrolled(self, where: Any, field: str, read: Callable[[Any], _T]) -> Iterator[_T]:
        """Yield the values of a field of each point. Raises StoreError for a list that never ends."""

        def page(client: Any) -> tuple[list[_T], Any]:
            records, following = client.scroll(
                self._collection, where, limit=_PAGE, offset=offset, with_payload=[field]
            )
            return [read(record.payload[field]) for record in records], following

        offset: Any = None
        seen: set[str] = set()
        while True:
            values, offset = self._read(page, ([], None))
            yield from values
            if offset is None:
                return
            if str(offset) in seen:
                raise self._foreign("its list of points never ends")
            seen.add(str(offset))

    def _read(self, ask: Callable[[Any], Any], without: Any) -> Any:
        """Ask the client; without the collection, return what a store without rows would."""
        try:
            return self._place.reading(lambda client: self._ask(lambda: ask(client)))
        except _NoCollectionError:
            return without

    def _ask(self, ask: Callable[[], _T]) -> _T:
        url = without_login(self._options.url or USUAL_URL)
        try:
            return ask()
        except _failures.UnexpectedResponse as error:
            text = bytes(error.content or b"")[:_SHOWN].decode("utf-8", "replace")
            if error.status_code == _MISSING and "doesn't exist" in text:
                raise _NoCollectionError(
                    f"Qdrant at {url} has no collection {self._collection!r}", hint="run `fathom store init`"
                ) from error
            if error.status_code in _REFUSED:
                raise StoreError(
                    f"Qdrant at {url} refuses the key (HTTP {error.status_code})", hint="set QDRANT_API_KEY"
                ) from error
            if error.status_code == _TOO_MANY or (error.status_code or 0) >= _BROKEN:
                raise StoreAwayError(
                    f"Qdrant at {url} fails (HTTP {error.status_code}): {text}", hint="look into its log"
                ) from error
            raise StoreError(
                f"Qdrant at {url} refuses a request (HTTP {error.status_code}): {text}",
                hint="check store.url and store.collection",
            ) from error
        except (_failures.ResponseHandlingException, _limits.ResourceExhaustedResponse, OSError) as error:
            cause = getattr(error, "source", error)
            if silent := silence(cause):
                raise StoreSilentError(f"Qdrant at {url} cannot be reached: {silent}", hint=_LIMIT) from error
            if limit := broken_limit(cause):
                raise StoreError(f"Qdrant at {url} cannot be used: {limit}", hint=_LIMIT) from error
            if isinstance(cause, (*WRONG_FORM, AssertionError)):
                raise self._foreign(str(cause)) from error
            raise StoreAwayError(
                f"Qdrant at {url} cannot be reached: {error}", hint="start it, or check store.url"
            ) from error
        except ValueError as error:  # the client's own message, also for a missing collection in a folder
            if "not found" in str(error):
                raise _NoCollectionError(str(error)) from error
            raise StoreError(f"Qdrant at {url}: {error}", hint="check the settings below store") from error
        except (*WRONG_FORM, AssertionError) as error:
            raise self._foreign(str(error)) from error

    def _foreign(self, text: str) -> StoreError:
        url, said = without_login(self._options.url or USUAL_URL), " ".join(text.split())[:_SHOWN]
        return StoreError(f"Qdrant at {url} does not answer as Qdrant does: {said}", hint="check store.url")


class _NoCollectionError(StoreError):
    """There is nothing to read."""


class _Server:
    """A server that is reached by HTTP. One client for all threads."""

    has_graph = True

    def __init__(self, url: str, key: str, timeout_s: float) -> None:
        self._url, self._key, self._timeout_s = url, key, timeout_s
        self._lock = Lock()
        self._client: Any = None

    def reading(self, ask: Callable[[Any], _T]) -> _T:
        """Ask the client."""
        return ask(self._opened())

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Lend the client."""
        yield self._opened()

    def version(self) -> str:
        """Return the version that the server names."""
        return str(self._opened().info().version)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of a key without https: docs/stores.md says it
                    self._client = _library.QdrantClient(
                        url=self._url,
                        api_key=self._key or None,
                        timeout=math.ceil(self._timeout_s),
                        check_compatibility=False,  # it would ask the server before it is needed
                    )
                keep_to(
                    self._client.http.client._client, AnswerLimits(self._timeout_s, MAX_ANSWER_BYTES), unpacks=False
                )
            return self._client


def _label_id(project: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, project))


def _equals(field: str, value: str) -> Any:
    return _models.FieldCondition(key=field, match=_models.MatchValue(value=value))


def _any(field: str, values: Sequence[str] | Sequence[int]) -> Any:
    return _models.FieldCondition(key=field, match=_models.MatchAny(any=list(values)))
