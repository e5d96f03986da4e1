"""A session on a project without an index: what it answers meanwhile, what it tells, and what ends with a call.

Where the index must not be finished yet, the test is the writer that the session waits for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.mcp_session import McpSession
from tests.waiting import comes

from codefathom import Engine
from codefathom.errors import LockedError
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.session_projects import SessionProjects, SessionStart
from codefathom.mcp.tool_calls import ToolCalls
from codefathom.project.location import locate
from codefathom.stores.lock import writer_lock

SECRET = "sk-proj-Zx81kQw93LmNv72TgHs6bRt5"


@contextmanager
def writing_elsewhere(root: Path) -> Iterator[None]:
    """Hold the writer lock of a project, as another process does that makes its index."""
    with Engine.open(str(root)) as engine:
        assert engine.opened.catalog.generation == 0  # makes the folder, and no index
    with writer_lock(locate(str(root)).index_folder, wait_s=0.0):
        yield


def is_locked(root: Path) -> bool:
    try:
        with writer_lock(locate(str(root)).index_folder, wait_s=0.0):
            return False
    except LockedError:
        return True


def test_a_search_answers_from_the_files_while_the_index_is_made(shop: Path) -> None:
    (shop / "secret.py").write_text(f'API_KEY = "{SECRET}"\nunusual_word = 1\n')
    (shop / "ignored.txt").write_text("unusual_word\n")
    (shop / ".gitignore").write_text("ignored.txt\n")
    with McpSession(shop) as session:
        with writing_elsewhere(shop):
            result = session.call("search", query="where is the price of an order made")
            content, text = result["structuredContent"], result["content"][0]["text"]
            assert content["indexing"].keys() == {"done", "total"}
            assert "Preliminary" in text
            assert {hit["path"] for hit in content["hits"]} >= {"shop/orders.py", "shop/pricing.py"}
            assert "price" in content["hits"][0]["why"]
            found = session.content("search", query="unusual_word", paths=["."])["hits"]
            assert found[0]["path"] == "secret.py"
            assert "ignored.txt" not in {hit["path"] for hit in found}
            assert SECRET not in str(found)
            by_value = session.content("search", query=SECRET)["hits"]
            assert "secret.py" not in {hit["path"] for hit in by_value}
            lines = session.content("read", path="secret.py:1-2")
            assert lines["text"].splitlines()[1] == "unusual_word = 1"
            assert SECRET not in lines["text"]
            assert "no such file" in session.refusal("read", path="ignored.txt")
            assert "no such file" in session.refusal("read", path="../shop/README.md")
            for tool, arguments in (("related", {"target": "shop/pricing.py"}), ("map", {})):
                assert session.content(tool, **arguments)["indexing"]
        # The other process has gone: the index is made, and the answers are whole.
        assert comes(lambda: "indexing" not in session.content("search", query="price"))
        assert session.content("map")["outline"]
    assert not is_locked(shop)


def test_a_call_tells_how_far_the_index_is(shop: Path) -> None:
    with McpSession(shop) as session:
        with writing_elsewhere(shop):
            key = session.begin("map", {}, progressToken="abc")
            first = session.next(lambda message: message.get("method") == "notifications/progress")
            assert first["params"]["progressToken"] == "abc"
        assert session.response(key)["result"]["structuredContent"]["outline"]  # it has waited for the index
        told = [one["params"] for one in session.sent if one.get("method") == "notifications/progress"]
        numbers = [one["progress"] for one in told]
        assert numbers == sorted(set(numbers))
        assert all(one["message"] for one in told)
        silent = session.begin("map", {})
        session.response(silent)
        assert len([one for one in session.sent if "method" in one]) == len(told)  # without a token nothing is told


def test_a_cancelled_call_ends_the_first_index(shop: Path) -> None:
    with McpSession(shop) as session:
        with writing_elsewhere(shop):
            key = session.begin("map", {}, progressToken=1)
            session.next(lambda message: message.get("method") == "notifications/progress")
            session.cancel(key)
            assert session.ask("ping")["result"] == {}
        session.call("read", path="README.md")  # it begins again
        assert comes(lambda: "indexing" not in session.content("search", query="price"))
    assert key not in {message.get("id") for message in session.sent}


def test_who_leaves_last_ends_the_index(shop: Path) -> None:
    projects = SessionProjects(SessionStart(lambda: Engine.open(str(shop)), lambda project: Engine.open(project.root)))
    calls, left, told = ToolCalls(projects), threading.Event(), threading.Event()
    threads = [thread for thread in threading.enumerate() if thread.name == "index"]
    with writing_elsewhere(shop):
        control = CallControl(left.is_set, lambda _: told.set())
        asker = threading.Thread(target=calls.call, args=("map", {}), kwargs={"control": control})
        asker.start()
        assert told.wait(300)
        (index,) = [one for one in threading.enumerate() if one.name == "index" and one not in threads]
        left.set()
        assert comes(lambda: not index.is_alive())  # the lock is still held elsewhere: it did not wait for that
        assert comes(lambda: not asker.is_alive())
    projects.close()
    with Engine.open(str(shop)) as engine:
        assert engine.generation == 0


def test_the_end_of_a_session_ends_the_first_index(shop: Path) -> None:
    with writing_elsewhere(shop):
        session = McpSession(shop)
        session.content("search", query="price")
        assert session.end() == 0
    with Engine.open(str(shop)) as engine:
        assert engine.generation == 0


def test_a_failed_first_index_is_told_and_tried_again(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / ".fathom").write_text("not a folder")
    with McpSession(shop) as session:
        assert ".fathom" in session.refusal("search", query="price")
        (shop / ".fathom").unlink()
        assert comes(lambda: session.content("search", query="price")["hits"])


def test_a_session_takes_in_what_is_saved(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
        before = engine.generation
    with McpSession(shop) as one, McpSession(shop) as two:
        for session in (one, two):
            assert session.content("search", query="price")["hits"]
        (shop / "shop" / "fresh.py").write_text("def freshly_saved_function():\n    return 1\n")
        with Engine.open(str(shop)) as engine:  # which looks at nothing by itself
            assert comes(lambda: engine.generation > before)
            assert engine.opened.catalog.document("shop/fresh.py") is not None
        for session in (one, two):
            hits = session.content("search", query="freshly_saved_function")["hits"]
            assert hits[0]["path"] == "shop/fresh.py"
            assert not hits[0]["stale"]
        (shop / "shop" / "fresh.py").unlink()
        for session in (one, two):
            assert comes(
                lambda session=session: (
                    "shop/fresh.py"
                    not in {hit["path"] for hit in session.content("search", query="freshly_saved_function")["hits"]}
                )
            )
    assert not is_locked(shop)


def test_who_never_wants_a_refresh_gets_none(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
        before = engine.generation
    with McpSession(shop, "--set", "search.refresh=never") as session:
        session.content("search", query="price")
        (shop / "shop" / "fresh.py").write_text("def freshly_saved_function():\n    return 1\n")
        paths = {hit["path"] for hit in session.content("search", query="freshly_saved_function")["hits"]}
        assert "shop/fresh.py" not in paths
    with Engine.open(str(shop)) as engine:
        assert engine.generation == before
