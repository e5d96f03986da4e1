"""Every store's server × every lie: the hits are those of the catalogue, soon, and the problem is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from tests.contracts.lying_postgres import Connection, LyingPostgres, lying_postgres
from tests.protocols.lies import LIES, LIMIT_BYTES, SLOW_S, LyingServer, Request, changed, lying, redirect, saying

from codefathom.stores.folder import folder_at
from codefathom.stores.rescored import RescoredStore, RowsOf
from codefathom.stores.vectors import chroma_vectors, postgres_vectors, qdrant_vectors
from codefathom.stores.vectors.candidates import StoreOptions, StoreSetup
from codefathom.stores.vectors.nearest import nearest_rows, table_of
from codefathom.testing.candidate_store import CatalogOfRows

SIZE, K = 8, 10
QUERY = bytes([127] * SIZE)
ALLOWED = set(range(20, 45))
ADAPTERS: Mapping[str, Any] = {
    "chroma": chroma_vectors.ChromaStore,
    "qdrant": qdrant_vectors.QdrantStore,
    "postgres": postgres_vectors.PostgresStore,
}


class Trial(NamedTuple):
    """A view over a store whose server may lie, and the hits that it must give."""

    view: RescoredStore
    server: Any
    waits: list[float]
    truth: list[object]

    def hits(self) -> list[object]:
        return [[key for key, _ in self.view.nearest(QUERY, K, allowed)] for allowed in (None, ALLOWED)]

    def again(self) -> None:
        """Forget that it failed."""
        self.view._error, self.view._pause_ends_at, self.view._is_label_read = None, 0.0, False


@contextmanager
def trial(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trial]:
    for module in (chroma_vectors, postgres_vectors, qdrant_vectors):
        monkeypatch.setattr(module, "MAX_ANSWER_BYTES", LIMIT_BYTES)
    monkeypatch.setattr(postgres_vectors, "_GRACE_S", 0.0)
    catalog = CatalogOfRows(folder / "rows.db")
    chance = Random(3)
    catalog.write({key: chance.randbytes(SIZE - 1) + b"\1" for key in range(1, 101)}, 7, is_whole=True)
    rows = table_of(catalog.vectors("model"), SIZE)
    served = lying_postgres(_postgres(rows)) if name == "postgres" else lying(_HONEST[name](rows))
    with served as server:
        options = StoreOptions(server.url, project="shop", timeout_s=SLOW_S if name != "qdrant" else 1.0)
        store = ADAPTERS[name](StoreSetup(folder_at(str(folder / "store")), SIZE, options))
        waits: list[float] = []
        view = RescoredStore(store, RowsOf(catalog, "model", "owner", "shop", SIZE), waits.append)
        truth: list[object] = [[key for key, _ in nearest_rows(rows, QUERY, K, allowed)] for allowed in (None, ALLOWED)]
        yield Trial(view, server, waits, truth)
        view.close()


def _near(rows: Any, n: int, keys: Any) -> list[tuple[int, float]]:
    return nearest_rows(rows, QUERY, n, None if keys is None else set(keys))


def _chroma(rows: Any) -> Callable[[Request], Any]:
    def answer(request: Request) -> Any:
        if request.path.endswith("/get"):
            return {"metadatas": [{"project": "shop", "rows": "build", "owner": "owner", "generation": 7}]}
        if request.path.endswith("/query"):
            near = _near(rows, request.body["n_results"], request.body.get("where", {}).get("key", {}).get("$in"))
            return {"metadatas": [[{"key": key} for key, _ in near]], "distances": [[1.0 - one for _, one in near]]}
        if request.path.endswith("/count"):
            return 100
        return {"id": "id of " + request.path.rpartition("/")[2]}

    return answer


def _qdrant(rows: Any) -> Callable[[Request], Any]:
    def answer(request: Request) -> Any:
        if request.path.endswith("/query"):
            conditions = request.body["filter"]["must"]
            keys = next((it["match"]["any"] for it in conditions if it["key"] == "key"), None)
            near = _near(rows, request.body["limit"], keys)
            points = [{"id": key, "version": 1, "score": one, "payload": {"key": key}} for key, one in near]
            return {"result": {"points": points}, "status": "ok", "time": 0.1}
        if request.path.endswith("/count"):
            return {"result": {"count": 100}, "status": "ok", "time": 0.1}
        payload = {"owner": "owner", "generation": 7}
        return {"result": [{"id": 1, "payload": payload}], "status": "ok", "time": 0.1}

    return answer


def _postgres(rows: Any) -> Callable[[str], Any]:
    def answer(statement: str) -> Any:
        if "owner, generation" in statement:
            return [("owner", 7)]
        if "count(*)" in statement:
            return [(100,)]
        return _near(rows, K + 32, ALLOWED if "key = ANY" in statement else None)

    return answer


_HONEST = {"chroma": _chroma, "qdrant": _qdrant}


@pytest.fixture(params=["chroma", "qdrant", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trial]:
    with trial(request.param, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture(params=["chroma", "qdrant"])
def over_http(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trial]:
    with trial(request.param, tmp_path, monkeypatch) as made:
        yield made


def _is_search(request: Request) -> bool:
    return request.path.endswith("/query")


def test_an_honest_server_is_believed(store: Trial) -> None:
    assert store.hits() == store.truth
    assert store.view.problem == ""


@pytest.mark.parametrize("at", ["label", "search"])
def test_an_answer_that_is_none_is_named(over_http: Trial, at: str) -> None:
    for name, lie in LIES.items():
        server: LyingServer = over_http.server
        over_http.again()
        server.lie = lie
        server.is_for = _is_search if at == "search" else lambda _: True
        assert over_http.hits() == over_http.truth, name
        assert over_http.view.problem, name
        assert "; " in over_http.view.problem, name  # the remedy
        assert over_http.view.generation == 7, name


def test_every_part_of_an_answer_may_be_another(over_http: Trial) -> None:
    server: LyingServer = over_http.server
    over_http.hits()
    honest = {re.sub("id of |[0-9a-f-]{30,}", "", request.path): request for request in server.requests}
    n_named = n_lies = 0
    for request in honest.values():
        server.is_for = lambda one, path=request.path: one.path == path
        for name, answer in changed(server.honest(request)):
            over_http.again()
            if isinstance(over_http.view._store, chroma_vectors.ChromaStore):
                over_http.view._store._ids.clear()
            server.lie = saying(answer)
            assert over_http.hits() == over_http.truth, (request.path, name)
            n_lies += 1
            n_named += bool(over_http.view.problem)
    assert n_named > n_lies / 3  # what is not needed is not looked at


def test_a_redirect_is_not_followed(over_http: Trial) -> None:
    with lying(lambda _: {}) as elsewhere:
        over_http.server.lie = redirect(elsewhere.url)
        assert over_http.hits() == over_http.truth
        assert elsewhere.requests == []
    assert over_http.view.problem


_WRONG_ROWS: Mapping[str, Callable[[list[Any]], Any]] = {
    "text for numbers": lambda near: [("x", "y")],
    "no number": lambda near: [(key, float("nan")) for key, _ in near],
    "one column": lambda near: [(key,) for key, _ in near],
    "a column too many": lambda near: [(key, one, 0) for key, one in near],
    "nothing there": lambda near: [(None, None)],
    "no rows": lambda near: [],
    "half of the rows": lambda near: near[::2],
    "the second half": lambda near: near[len(near) // 2 :],
    "one row again and again": lambda near: near[:1] * len(near),
    "keys of other rows": lambda near: [(key + 1, one) for key, one in near],
    "keys of no rows": lambda near: [(key + 10_000, one) for key, one in near],
    "every second key of no row": lambda near: [(key + 10_000 * (key % 2), one) for key, one in near],
    "others instead of the nearest": lambda near: near[len(near) // 4 :] + near[len(near) // 4 :],
    "large keys": lambda near: [(2**63 - 1, one) for _, one in near],
}


@pytest.mark.parametrize("name", _WRONG_ROWS)
def test_rows_that_were_not_written_are_noticed(store: Trial, name: str) -> None:
    """Wrong, repeated or missing ids: nothing is lost, and it is said."""
    change, server = _WRONG_ROWS[name], store.server
    if name == "a column too many" and not isinstance(server, LyingPostgres):
        pytest.skip("only a table has columns")
    assert store.hits() == store.truth
    if isinstance(server, LyingPostgres):
        rows = server.rows
        server.rows = lambda statement: change(rows(statement)) if "<#>" in statement else rows(statement)
    else:
        server.lie = lambda handler, data: saying(_with_rows(data, change))(handler, data)
        server.is_for = _is_search
    assert store.hits() == store.truth
    assert store.view.problem


def _with_rows(data: bytes, change: Callable[[list[Any]], Any]) -> Any:
    import json

    answer = json.loads(data)
    if "metadatas" in answer:
        pairs = [(it["key"], 1.0 - far) for it, far in zip(answer["metadatas"][0], answer["distances"][0], strict=True)]
        rows = [(*row, None)[:2] for row in change(pairs)]
        far = [1.0 - one if isinstance(one, float) else one for _, one in rows]
        return {"metadatas": [[{"key": key} for key, _ in rows]], "distances": [far]}
    rows = change([(point["payload"]["key"], point["score"]) for point in answer["result"]["points"]])
    points = [{"id": 1, "version": 1, "score": (*row, None)[1], "payload": {"key": row[0]}} for row in rows]
    return answer | {"result": {"points": points}}


def _sends(code: str, message: str = "no") -> Callable[[Connection, str], bool]:
    def lie(connection: Connection, statement: str) -> bool:
        connection.fail(code, message)
        return True

    return lie


def _slow(connection: Connection, statement: str) -> bool:
    while not connection.liar.ended.wait(SLOW_S / 20):
        connection.wfile.write(b"N\0\0\0\5\0")  # a notice, a byte of which comes now and then
    return True


def _endless(connection: Connection, statement: str) -> bool:
    connection.send_rows([(1, 1.0)])
    while not connection.liar.ended.is_set():
        connection.wfile.write(b"D\0\0\x40\x0e\0\1\0\0\x40\0" + b"7" * 16_384)
    return True


def _one_endless_value(connection: Connection, statement: str) -> bool:
    connection.wfile.write(b"D\x7f\0\0\0\0\1\x7e\xff\xff\xf0")
    while not connection.liar.ended.is_set():
        connection.wfile.write(b"7" * 65_536)
    return True


def _silent(connection: Connection, statement: str) -> bool:
    connection.liar.ended.wait(60)
    return True


def _hang_up(connection: Connection, statement: str) -> bool:
    connection.connection.close()
    return True


def _noise(connection: Connection, statement: str) -> bool:
    connection.wfile.write(b"\xff" * 64)
    return True


# A wrong password, no such role or database, no right, no column, a read-only server, no room, too many clients, one
# that starts, a broken disk, a broken server, an old version.
_CODES = (
    *("28P01", "28000", "3D000", "42501", "42703", "25006", "53100", "53300"),
    *("57P03", "58030", "XX000", "0A000", "42704", "22000", "26000"),
)
_FAILURES = {
    **{f"code {code}": _sends(code) for code in _CODES},
    "slow": _slow,
    "without an end": _endless,
    "one value without an end": _one_endless_value,
    "silent": _silent,
    "hangs up": _hang_up,
    "noise": _noise,
}


@pytest.mark.parametrize("at", ["label", "search"])
@pytest.mark.parametrize("name", _FAILURES)
def test_whatever_postgres_sends_the_catalogue_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: str
) -> None:
    with trial("postgres", tmp_path, monkeypatch) as tried:
        fails = _FAILURES[name]
        tried.server.lie = lambda connection, statement: (
            bool(statement) and ("<#>" in statement if at == "search" else True) and fails(connection, statement)
        )
        assert tried.hits() == tried.truth
        assert "; " in tried.view.problem


@pytest.mark.parametrize("code", _CODES)
def test_whatever_refuses_a_connection_the_catalogue_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    with trial("postgres", tmp_path, monkeypatch) as tried:
        tried.server.lie = lambda connection, statement: not statement and _sends(code)(connection, "")
        assert tried.hits() == tried.truth
        assert "; " in tried.view.problem
