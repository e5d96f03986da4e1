"""Chroma: a server, spoken to over HTTP (its API v2). Needs no library.

Each build of a project is a collection of its own, and a small collection of labels names the one that counts. So a new
build is complete before a search meets it. Chroma has an HNSW index only: its candidates are approximate.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from codefathom.errors import StoreAwayError, StoreError, StoreSilentError, without_login
from codefathom.stores.vectors.candidates import Change, Label, Point, StoreSetup, Within
from codefathom.stores.vectors.payload import (
    MAX_ANSWER_BYTES,
    WRONG_FORM,
    key_of,
    pages,
    points_at_once,
    similarity_of,
    unit_lists,
)
from codefathom.system.bounded_http import AnswerLimits, broken_limit, keep_to, read_whole, silence
from codefathom.text.foreign_json import read_json

USUAL_URL = "http://localhost:8000"
_USUAL_PLACE = ("default_tenant", "default_database")
_NAMESPACE = uuid.UUID("b3c1d0b8-8f0e-5a55-9a53-0b6f6a7f3c52")  # of the ids of labels
_PAGE = 5_000  # rows that are listed at once
_ATTEMPTS = 5  # to read a build that a writer may be replacing
_REFUSED, _MISSING, _OTHERS, _TOO_MANY, _BROKEN, _WRONG = (401, 403), 404, (404, 405, 410), 429, 500, 400
_SHOWN = 200  # characters of an answer in an error
_MOST_COLLECTIONS = 1_000_000
_CHECK_URL = "check store.url; Chroma 1.0 or later is needed"
_LIMIT = "check store.url, or raise store.timeout_s"
_T = TypeVar("_T")

_FOLLOWED = 256  # vectors that a search in the graph follows


class _Build(NamedTuple):
    """The build that counts."""

    label: Label
    name: str  # of its collection


class ChromaStore:
    """The collections of one project."""

    is_exact = False

    def __init__(self, setup: StoreSetup) -> None:
        options = setup.options
        self._options = options
        self._dimensions = setup.dimensions
        self._project = options.project
        digest = blake2b(options.project.encode(), digest_size=6).hexdigest()
        self._begin = f"{options.collection}-{digest}-"  # of the names of the project's collections
        self._url = options.url or USUAL_URL
        parts = urlsplit(self._url)
        place = [part for part in parts.path.split("/") if part]
        tenant, database = place if len(place) == len(_USUAL_PLACE) else _USUAL_PLACE
        self._path = f"/api/v2/tenants/{quote(tenant)}/databases/{quote(database)}/collections"
        # The first is for a server behind a gate, the second for the cloud.
        self._keys = {"authorization": f"Bearer {setup.key}", "x-chroma-token": setup.key} if setup.key else {}
        self._server = f"{parts.scheme}://{parts.netloc}"
        self._lock = Lock()  # of the next
        self._http: httpx.Client | None = None
        self._ids: dict[str, str] = {}  # by the name of a collection

    # ---- state

    def label(self) -> Label | None:
        """Return the label of the project, None without rows."""
        build = self._build()
        return build.label if build is not None else None

    def count(self) -> int:
        """Count the rows of the project."""
        build = self._build()
        return self._n_rows(build.name) if build is not None else 0

    def keys(self) -> Iterator[int]:
        """Yield the keys of the project's rows."""
        build = self._build()
        start = 0
        while build is not None:
            body = {"limit": _PAGE, "offset": start, "include": ["metadatas"]}
            keys = self._read("POST", self._of(build.name, "get"), _keys_of, body)
            yield from keys
            start += len(keys)
            if not keys:
                return

    def projects(self) -> dict[str, int]:
        """Return the projects whose labels are here with their numbers of rows."""
        try:
            builds = self._read("POST", self._of(self._labels, "get"), _names_of, {"include": ["metadatas"]})
        except _MissingError:
            return {}
        return {project: self._n_rows(name) for project, name in sorted(builds.items())}

    def described(self) -> dict[str, str | int | bool]:
        """Return version and settings as the server says them. Raises StoreAwayError when it does not answer."""
        shown: dict[str, str | int | bool] = {
            "address": without_login(self._url),
            "version": f"API of Chroma {self._read('GET', '/api/v2/version', _text)}",
        }
        build = self._build()
        shown["collection"] = build.name if build is not None else f"{self._begin}… (not made yet)"
        if build is not None:
            shown["points"] = self._n_rows(build.name)
            shown |= self._read("GET", f"{self._path}/{quote(build.name)}", _graph_of)
        return shown

    def prepare(self) -> None:
        """Make the collection of labels, where it is missing."""
        self._make(self._labels, {"hnsw": {"space": "cosine"}})

    # ---- write

    def apply(self, change: Change) -> None:
        """Write into the build that counts, or a new one; the label, which makes it count, last."""
        self.prepare()
        build = None if change.is_whole else self._build()
        name = build.name if build is not None else self._new_build()
        points = iter(change.points)
        while page := list(islice(points, points_at_once(self._options.batch, self._dimensions))):
            self._put(name, page)
        for keys in pages(sorted(change.removed), self._options.batch):
            self._ask("POST", self._of(name, "delete"), {"where": {"key": {"$in": keys}}})
        metadata = {"project": self._project, "rows": name, **change.label._asdict()}
        row = {"ids": [self._label_id], "embeddings": [[1.0]], "metadatas": [metadata]}
        self._ask("POST", self._of(self._labels, "upsert"), row)
        self._remove_builds(but=name)

    def drop(self) -> None:
        """Remove the label and the collections of the project."""
        try:
            self._ask("POST", self._of(self._labels, "delete"), {"ids": [self._label_id]})
        except _MissingError:
            self._ids.clear()
        self._remove_builds(but="")

    def close(self) -> None:
        """Close the connections; the next question opens them again."""
        self._ids.clear()
        with self._lock:
            client, self._http = self._http, None
        if client is not None:
            client.close()

    def _new_build(self) -> str:
        options, name = self._options, self._begin + uuid.uuid4().hex[:8]
        followed = options.hnsw_ef or _FOLLOWED
        graph = {"ef_construction": options.hnsw_ef_construct, "ef_search": followed, "max_neighbors": options.hnsw_m}
        self._make(name, {"hnsw": {"space": "cosine", **graph}})
        return name

    def _make(self, name: str, configuration: Mapping[str, Any]) -> None:
        if name not in self._ids:
            body = {"name": name, "configuration": configuration, "get_or_create": True}
            self._ids[name] = self._read("POST", self._path, _id_of, body)

    def _put(self, name: str, page: Sequence[Point]) -> None:
        for point in page:
            self._check(len(point.vector))
        body = {
            "ids": [point.id for point in page],
            "embeddings": unit_lists([point.vector for point in page], self._dimensions),
            "metadatas": [
                {"key": point.key, **{field: value for field, value in point.payload.items() if field != "content"}}
                for point in page
            ],
            "documents": [point.payload["content"] for point in page],
        }
        self._ask("POST", self._of(name, "upsert"), body)

    def _check(self, n_dimensions: int) -> None:
        if n_dimensions != self._dimensions:
            raise StoreError(
                f"a vector has {n_dimensions} dimensions, this store is for {self._dimensions}",
                hint="run `fathom index --full`",
            )

    def _remove_builds(self, *, but: str) -> None:
        """Remove the collections that count no more, also those of writers that were killed."""
        start = 0
        names: list[str] = []
        while page := self._read("GET", f"{self._path}?limit={_PAGE}&offset={start}", _collections_of):
            if start + len(page) > _MOST_COLLECTIONS:
                raise StoreError(f"{self._place} lists more collections than it can have", hint=_CHECK_URL)
            names += page
            start += len(page)
        for name in names:
            if name.startswith(self._begin) and name != but:
                self._ids.pop(name, None)
                self._ask("DELETE", f"{self._path}/{quote(name)}")

    # ---- search

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        """Return the n nearest, all or those with such keys or fields."""
        conditions: list[dict[str, Any]] = [
            {field: {"$in": list(values)}} for field, values in (within.fields or {}).items()
        ]
        if within.keys is not None:
            conditions.append({"key": {"$in": list(within.keys)}})
        (unit,) = unit_lists([vector], self._dimensions)
        body: dict[str, Any] = {"query_embeddings": [unit], "n_results": n, "include": ["metadatas", "distances"]}
        if conditions:
            body["where"] = conditions[0] if len(conditions) == 1 else {"$and": conditions}
        for _ in range(_ATTEMPTS):
            build = self._build()
            if build is None:
                return []
            try:
                return self._read("POST", self._of(build.name, "query"), _candidates_of, body)
            except _MissingError:  # replaced after its label was read
                self._ids.pop(build.name, None)
        raise StoreAwayError(f"the collections of {self._project!r} in Chroma change all the time", hint="try again")

    # ---- the server

    @property
    def _labels(self) -> str:
        return f"{self._options.collection}-labels"

    @property
    def _label_id(self) -> str:
        return str(uuid.uuid5(_NAMESPACE, self._project))

    def _build(self) -> _Build | None:
        """Return the build that counts, None when there is none."""
        try:
            body = {"ids": [self._label_id], "include": ["metadatas"]}
            return self._read("POST", self._of(self._labels, "get"), _build_of, body)
        except _MissingError:
            self._ids.pop(self._labels, None)
            return None

    def _n_rows(self, name: str) -> int:
        return self._read("GET", self._of(name, "count"), key_of)

    def _of(self, name: str, action: str) -> str:
        """Return the path of an action on a collection."""
        if name not in self._ids:
            self._ids[name] = self._read("GET", f"{self._path}/{quote(name)}", _id_of)
        return f"{self._path}/{quote(self._ids[name], safe='')}/{action}"

    @property
    def _place(self) -> str:
        return f"Chroma at {without_login(self._url)}"

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._http is None:
                seconds = self._options.timeout_s
                self._http = httpx.Client(base_url=self._server, headers=self._keys, timeout=seconds)
                keep_to(self._http, AnswerLimits(seconds, MAX_ANSWER_BYTES))
            return self._http

    def _read(self, method: str, path: str, read: Callable[[Any], _T], body: Mapping[str, Any] | None = None) -> _T:
        """Return the value that a function reads from an answer. Raises StoreError, also for one of another form."""
        answer = self._ask(method, path, body)
        try:
            return read(answer)
        except WRONG_FORM as error:
            raise self._foreign(json.dumps(answer)) from error

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        try:
            with self._opened().stream(method, path, json=body) as reply:
                status, data = reply.status_code, read_whole(reply, MAX_ANSWER_BYTES)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if silent := silence(error):
                raise StoreSilentError(f"{self._place} cannot be reached: {silent}", hint=_LIMIT) from error
            if limit := broken_limit(error):
                raise StoreError(f"{self._place} cannot be used: {limit}", hint=_LIMIT) from error
            raise StoreAwayError(
                f"{self._place} cannot be reached: {error or type(error).__name__}", hint="start it, or check store.url"
            ) from error
        text = data[:_SHOWN].decode("utf-8", "replace")
        if status == _MISSING and b"NotFoundError" in data[:_SHOWN]:
            raise _MissingError(f"{self._place} has no {path!r}", hint="run `fathom store init`")
        if status in _REFUSED:
            raise StoreError(f"{self._place} refuses the key (HTTP {status})", hint="set CHROMA_API_KEY")
        if status == _TOO_MANY or status >= _BROKEN:
            raise StoreAwayError(f"{self._place} fails (HTTP {status}): {text}", hint="look into its log")
        if status in _OTHERS:
            raise self._foreign(f"HTTP {status}: {text}")
        if status >= _WRONG:
            raise StoreError(
                f"{self._place} refuses a request (HTTP {status}): {text}", hint="check store.url and store.collection"
            )
        try:
            return read_json(data)
        except ValueError as error:
            raise self._foreign(text) from error

    def _foreign(self, text: str) -> StoreError:
        return StoreError(f"{self._place} does not answer as Chroma does: {text[:_SHOWN]!r}", hint=_CHECK_URL)


def _build_of(answer: Any) -> _Build | None:
    rows = _listed(answer["metadatas"])
    if not rows:
        return None
    row = rows[0]
    return _Build(Label(_text(row["owner"]), key_of(row["generation"])), _text(row["rows"]))


def _keys_of(answer: Any) -> list[int]:
    return [key_of(row["key"]) for row in _listed(answer["metadatas"])]


def _names_of(answer: Any) -> dict[str, str]:
    return {_text(row["project"]): _text(row["rows"]) for row in _listed(answer["metadatas"])}


def _collections_of(answer: Any) -> list[str]:
    return [_text(collection["name"]) for collection in _listed(answer)]


def _candidates_of(answer: Any) -> list[tuple[int, float]]:
    (rows,), (distances,) = answer["metadatas"], answer["distances"]
    pairs = zip(_listed(rows), _listed(distances), strict=True)
    return [(key_of(row["key"]), 1.0 - similarity_of(distance)) for row, distance in pairs]


def _graph_of(answer: Any) -> dict[str, str | int | bool]:
    hnsw = answer["configuration_json"]["hnsw"]
    return {
        "distance": _text(hnsw["space"]),
        "hnsw_m": key_of(hnsw["max_neighbors"]),
        "hnsw_ef_construct": key_of(hnsw["ef_construction"]),
        "hnsw_ef": key_of(hnsw["ef_search"]),
    }


def _id_of(answer: Any) -> str:
    return _text(answer["id"])


def _listed(rows: Any) -> list[Any]:
    if not isinstance(rows, list):
        raise TypeError("no list")
    return rows


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    value.encode()  # half a character is no text that could be sent again
    return value


class _MissingError(StoreError):
    """There is no such collection."""
