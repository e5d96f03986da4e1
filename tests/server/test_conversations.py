"""Conversations as they are kept: what was said, who may see it, and how it is exported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from html import escape, unescape
from itertools import count
from pathlib import Path

import pytest

from codefathom.providers.base import Message
from codefathom.server.answers.conversation_export import html, markdown
from codefathom.server.answers.conversation_record import ConversationTurn
from codefathom.server.answers.conversations import Conversations, history
from codefathom.server.http.problem_json import NotFoundError, RequestError

SOURCE = {"number": 1, "path": "shop/cart.py", "start_line": 3, "end_line": 9, "symbol": "Cart.total"}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Conversations]:
    ticks = count(1)
    with closing(Conversations(str(tmp_path / "conversations.db"), lambda: float(next(ticks)))) as kept:
        yield kept


def turn(question: str, answer: str = "It is there [a.py:1-2].", state: str = "done") -> ConversationTurn:
    return ConversationTurn(question, answer, state, 5.0, {"sources": [SOURCE], "confidence": 0.7})


def test_what_was_said_is_kept_in_its_order(kept: Conversations) -> None:
    made = kept.begin(["shop"])
    turns = [turn("where?"), turn("why?", "", "failed"), turn("数据?", "这里 \ud800", "stopped")]
    for item in turns:
        kept.add(made.id, item)
    found = kept.get(made.id)
    assert [item.question for item in found.turns] == ["where?", "why?", "数据?"]
    assert found.turns[0] == turns[0]
    assert found.turns[2].answer == "这里 ?"
    assert found.projects == ("shop",)


def test_it_survives_the_server(tmp_path: Path) -> None:
    path = str(tmp_path / "kept.db")
    with closing(Conversations(path)) as kept:
        made = kept.begin(["a", "b"], title="Mine")
        kept.add(made.id, turn("where?"))
    with closing(Conversations(path)) as kept:
        assert [(item.title, item.projects) for item in kept.listed()] == [("Mine", ("a", "b"))]
        assert len(kept.get(made.id).turns) == 1


def test_the_first_question_is_the_title_until_there_is_another(kept: Conversations) -> None:
    made = kept.begin(["shop"])
    kept.add(made.id, turn("where are\n  orders priced? " + "x" * 500))
    kept.add(made.id, turn("and then?"))
    title = kept.get(made.id).title
    assert title.startswith("where are orders priced? xxx")
    assert len(title) == 120
    assert kept.rename(made.id, "  Prices ").title == "Prices"
    kept.add(made.id, turn("third"))
    assert kept.get(made.id).title == "Prices"


def test_the_list_begins_with_what_was_used_last(kept: Conversations) -> None:
    first, second, third = kept.begin(["a"], title="1"), kept.begin(["b"], title="2"), kept.begin(["a", "b"], title="3")
    kept.add(first.id, turn("again?"))
    assert [item.title for item in kept.listed()] == ["1", "3", "2"]
    assert [item.title for item in kept.listed(project="b")] == ["3", "2"]
    assert kept.listed()[0].id == first.id
    assert kept.listed()[0].turns == ()
    assert {second.id, third.id} == {item.id for item in kept.listed()[1:]}


def test_what_is_deleted_is_gone_with_its_turns(kept: Conversations) -> None:
    made, other = kept.begin(["a"]), kept.begin(["a"])
    kept.add(made.id, turn("where?"))
    kept.delete(made.id)
    assert [item.id for item in kept.listed()] == [other.id]
    assert kept._database.read("SELECT count(*) FROM turns") == [(0,)]


def test_nobody_sees_what_others_have_asked(kept: Conversations) -> None:
    made = kept.begin(["a"], owner="ann")
    assert kept.listed("ben") == ()
    assert [item.id for item in kept.listed("ann")] == [made.id]
    for attempt in (
        lambda: kept.get(made.id, "ben"),
        lambda: kept.add(made.id, turn("where?"), "ben"),
        lambda: kept.rename(made.id, "mine", "ben"),
        lambda: kept.delete(made.id, "ben"),
        lambda: kept.get("unknown", "ann"),
    ):
        with pytest.raises(NotFoundError, match="no such conversation"):
            attempt()
    assert kept.get(made.id, "ann").turns == ()


def test_an_empty_title_is_refused(kept: Conversations) -> None:
    with pytest.raises(RequestError, match="cannot be empty"):
        kept.rename(kept.begin(["a"]).id, " \n")


def test_a_model_is_told_what_was_said_and_not_what_failed(kept: Conversations) -> None:
    made = kept.begin(["a"])
    for item in (turn("one?", "1"), turn("two?", "2", "failed"), turn("three?", " "), turn("four?", "4", "stopped")):
        kept.add(made.id, item)
    assert history(kept.get(made.id)) == (
        Message("user", "one?"),
        Message("assistant", "1"),
        Message("user", "four?"),
        Message("assistant", "4"),
    )


def test_a_conversation_can_be_exported(kept: Conversations) -> None:
    made = kept.begin(["shop", "web"], title="Prices")
    kept.add(made.id, turn("where are\nprices?", "In the cart."))
    kept.add(made.id, ConversationTurn("why?", "", "stopped", 6.0))
    assert markdown(kept.get(made.id)) == (
        "# Prices\n\nProjects: shop, web\n\n## where are prices?\n\nIn the cart.\n\n"
        "Asked: 1970-01-01 00:00 UTC  \nConfidence: 0.70\n\n"
        "Sources:\n\n1. `shop/cart.py:3-9` Cart.total\n\n## why?\n\n(no answer)\n\n(stopped)\n\n"
        "Asked: 1970-01-01 00:00 UTC\n"
    )


TAG = re.compile(r"!doctype html|html|head|meta|title|style|body|h[123]|p|div|b|code|pre|d[ltd]|[uo]l|li")
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> ` ** & \" ' </title></style>"


def test_an_export_as_html_has_the_same_content_and_nothing_that_runs(kept: Conversations) -> None:
    made = kept.begin([HOSTILE], title=HOSTILE)
    details = {
        "sources": [{"number": 1, "path": HOSTILE, "start_line": 3, "end_line": 9, "symbol": HOSTILE}],
        "dropped_citations": [{"text": HOSTILE, "reason": HOSTILE}],
        "degraded": [HOSTILE],
        "model": HOSTILE.replace("@", ""),
        "label": HOSTILE,
        "confidence": 0.7,
        "usage": {"prompt_tokens": 2_100, "completion_tokens": 180},
        "cost": 0.0123,
        "commits": {HOSTILE: HOSTILE},
        "weak": True,
    }
    answer = f"# {HOSTILE}\n\n`a < b` and **bold**\n\n```html\n{HOSTILE}\n```\n\n{HOSTILE}"
    kept.add(made.id, ConversationTurn(HOSTILE, answer, "stopped", 0.0, details))
    kept.add(made.id, ConversationTurn("open fence?", f"```\n{HOSTILE}", "done", 0.0))
    conversation = kept.get(made.id)
    page = html(conversation)
    names = re.findall(r"<(?:(!doctype html)|/?(\w+)[^>]*)>", page)
    assert all(TAG.fullmatch("".join(name)) for name in names)
    assert "<script" not in page.lower()
    assert "onerror=alert" not in re.sub(r"&lt;.*?&gt;", "", page)
    assert "default-src 'none'" in page
    assert "<code>a &lt; b</code> and <b>bold</b>" in page
    assert f"<pre><code>{escape(HOSTILE)}</code></pre>" in page
    seen = set(re.findall(r"\w+", unescape(re.sub(r"<[^>]*>", " ", page))))
    assert set(re.findall(r"\w+", markdown(conversation))) - {"html"} <= seen


def test_a_commit_and_a_cost_are_in_an_export(kept: Conversations) -> None:
    made = kept.begin(["shop"])
    details = {"commits": {"shop": "ab" * 20}, "cost": 0.5, "usage": {"prompt_tokens": 2_000, "completion_tokens": 1}}
    kept.add(made.id, ConversationTurn("where?", "There.", "done", 0.0, details))
    assert f"Commit: {'ab' * 20}  \nTokens: 2,001  \nCost: 0.5000\n" in markdown(kept.get(made.id))


def test_what_is_too_old_is_forgotten_at_each_use(tmp_path: Path) -> None:
    """Whatever its days say now: no timer decides what a reader still sees."""
    now, days = [0.0], [0]
    with closing(Conversations(str(tmp_path / "kept.db"), lambda: now[0], lambda: days[0])) as kept:
        old, used = kept.begin(["a"], title="old"), kept.begin(["a"], title="used")
        now[0] = 20 * 86_400.0
        kept.add(used.id, turn("again?"))
        now[0] = 400 * 86_400.0
        assert {item.title for item in kept.listed()} == {"old", "used"}  # 0 days: all are kept
        days[0], now[0] = 30, 31 * 86_400.0
        assert [item.title for item in kept.listed()] == ["used"]
        for attempt in (lambda: kept.get(old.id), lambda: kept.add(old.id, turn("late?"))):
            with pytest.raises(NotFoundError):
                attempt()
        now[0] = 50 * 86_400.0
        assert len(kept.get(used.id).turns) == 1
        now[0] += 1
        with pytest.raises(NotFoundError):
            kept.get(used.id)
        assert kept._database.read("SELECT count(*) FROM turns") == [(0,)]


def test_what_is_forgotten_is_gone_from_the_disk(tmp_path: Path) -> None:
    now = [0.0]
    with closing(Conversations(str(tmp_path / "kept.db"), lambda: now[0], lambda: 1)) as kept:
        kept.add(kept.begin(["a"]).id, turn("what does zanzibar do?", "zanzibar " * 3_000))
        now[0] = 2 * 86_400.0
        kept.forget_old()
        assert [path.name for path in tmp_path.iterdir() if b"zanzibar" in path.read_bytes()] == []
