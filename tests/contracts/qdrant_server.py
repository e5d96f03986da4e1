"""A small server that speaks the part of Qdrant's REST that the store uses, for no registry carries the real one.

Each body is read by the models of the official client, and the official client's memory keeps the points. It is
stricter than a server by default: a field that has no index cannot be filtered by. `make test-qdrant` runs the same
tests on a real server.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import qdrant_client

models: Any = qdrant_client.models

KEY = "the-key"
MOST_BYTES = 32 << 20  # of a request, as a server has it by default


class QdrantServer:
    """Points in memory, which outlive a stop of the server."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.failures: list[int] = []  # states of the next replies
        self.batches: list[int] = []  # numbers of points in each upsert
        self.released = threading.Event()  # a request waits for it, while `is_held`
        self.is_held = False
        self._memory: Any = qdrant_client.QdrantClient(":memory:", force_disable_check_same_thread=True)
        self._configs: dict[str, dict[str, Any]] = {}
        self._indexes: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the port of before where there was one."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                state, answer = server.reply(
                    self.command, urlsplit(self.path).path, body, self.headers.get("api-key", "")
                )
                content = json.dumps(answer).encode()
                self.send_response(state)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.send_header("connection", "close")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815

        self._http = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
        self._http = None

    def reply(self, method: str, path: str, body: bytes, key: str) -> tuple[int, dict[str, Any]]:
        """Return the state and the body of a reply."""
        if self.is_held:
            self.released.wait()
        if self.key and key != self.key:
            return 401, {"status": {"error": "Must provide an API key or an Authorization bearer token"}}
        if len(body) > MOST_BYTES:
            return 413, {"status": {"error": f"JSON payload ({len(body)} bytes) is larger than allowed"}}
        if self.failures:
            return self.failures.pop(0), {"status": {"error": "Service internal error: out of disk"}}
        if path == "/":
            return 200, {"title": "qdrant - vector search engine", "version": "1.18.0", "commit": "0"}
        _, _, collection, *rest = path.split("/")
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = self._call(method, collection, "/".join(rest), json.loads(body or "null"))
            except _RefusalError as error:
                return error.state, {"status": {"error": str(error)}, "time": 0.0}
            except ValueError as error:
                is_missing = "not found" in str(error)
                return (404 if is_missing else 400), {"status": {"error": str(error)}, "time": 0.0}
        return 200, {"result": json.loads(json.dumps(result, default=_plain)), "status": "ok", "time": 0.0}

    def _call(self, method: str, name: str, rest: str, body: Any) -> Any:
        if (method, rest) == ("GET", "exists"):
            return {"exists": name in self._configs}
        if (method, rest) == ("PUT", ""):
            asked = models.CreateCollection(**body)
            self._memory.create_collection(name, vectors_config=asked.vectors)
            self._configs[name], self._indexes[name] = body, {}
            return True
        if name not in self._configs:
            raise _RefusalError(404, f"Not found: Collection `{name}` doesn't exist!")
        if (method, rest) == ("GET", ""):
            return self._info(name)
        if (method, rest) == ("PATCH", ""):
            changed = models.UpdateCollection(**body).hnsw_config
            self._configs[name]["hnsw_config"] |= changed.model_dump(exclude_none=True) if changed else {}
            return True
        if (method, rest) == ("DELETE", ""):
            del self._configs[name], self._indexes[name]
            return self._memory.delete_collection(name)
        if (method, rest) == ("PUT", "index"):
            asked = models.CreateFieldIndex(**body)
            self._indexes[name][asked.field_name] = body["field_schema"]
            return {"operation_id": 1, "status": "completed"}
        return self._points(method, name, rest, body)

    def _points(self, method: str, name: str, rest: str, body: Any) -> Any:
        memory = self._memory
        self._check_filter(name, body.get("filter"))
        if (method, rest) == ("PUT", "points"):
            points = models.PointsList(**body).points
            self.batches.append(len(points))
            self._check_vectors(name, points)
            memory.upsert(name, points)
            return {"operation_id": 2, "status": "completed"}
        if (method, rest) == ("POST", "points"):
            wanted = models.PointRequest(**body)
            return memory.retrieve(name, wanted.ids, with_payload=True)
        if (method, rest) == ("POST", "points/delete"):
            selector = models.PointIdsList(**body) if "points" in body else models.FilterSelector(**body)
            memory.delete(name, selector)
            return {"operation_id": 3, "status": "completed"}
        if (method, rest) == ("POST", "points/count"):
            asked = models.CountRequest(**body)
            return memory.count(name, asked.filter, exact=asked.exact)
        if (method, rest) == ("POST", "points/scroll"):
            asked = models.ScrollRequest(**body)
            points, following = memory.scroll(
                name, asked.filter, asked.limit, offset=asked.offset, with_payload=asked.with_payload
            )
            return {"points": points, "next_page_offset": following}
        if (method, rest) == ("POST", "points/query"):
            asked = models.QueryRequest(**body)
            return memory.query_points(
                name, asked.query, query_filter=asked.filter, limit=asked.limit, with_payload=asked.with_payload
            )
        raise _RefusalError(404, f"{method} {rest} is not spoken here")

    def _info(self, name: str) -> dict[str, Any]:
        config = self._configs[name]
        hnsw = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000} | config.get("hnsw_config", {})
        n_points = self._memory.count(name, exact=True).count
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "points_count": n_points,
            "config": {
                "params": {"vectors": config["vectors"]},
                "hnsw_config": hnsw,
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1_000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
            },
            "payload_schema": {
                field: {"data_type": schema if isinstance(schema, str) else schema["type"], "points": n_points}
                | ({} if isinstance(schema, str) else {"params": schema})
                for field, schema in self._indexes[name].items()
            },
        }

    def _check_filter(self, name: str, where: dict[str, Any] | None) -> None:
        for part in (where or {}).values():
            for condition in part or []:
                if condition["key"] not in self._indexes[name]:
                    raise _RefusalError(400, f"Bad request: Index required but not found for {condition['key']!r}")

    def _check_vectors(self, name: str, points: list[Any]) -> None:
        size = self._configs[name]["vectors"]["size"]
        for point in points:
            if len(point.vector) != size:
                error = f"Wrong input: Vector dimension error: expected dim: {size}, got {len(point.vector)}"
                raise _RefusalError(400, error)


class _RefusalError(Exception):
    """A reply that is an error."""

    def __init__(self, state: int, text: str) -> None:
        super().__init__(text)
        self.state = state


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)


@contextmanager
def served(key: str = "") -> Iterator[QdrantServer]:
    """Lend a server, and stop it."""
    server = QdrantServer(key)
    try:
        yield server
    finally:
        server.is_held = False
        server.released.set()
        server.stop()
