"""`fathom ask --agent` with what a person gives it: files, documents and pages to begin with, and a part to keep to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_ask import QUESTION, call, fathom, shop, sse
from tests.protocols.server import ServedSettings, Turn, serving
from tests.unit.source.test_web import Site, site

from codefathom.agent.loop import Final
from codefathom.answer.answer_types import Answer
from codefathom.answer.ask import Text
from codefathom.config.configuration import load_settings
from codefathom.engine import Engine

__all__ = ["shop", "site"]  # fixtures

NOTE = "\n".join(f"rule {number}: round to {number} cents" for number in range(1, 4)) + "\n"


def final(answer: str, *sources: tuple[str, int, int]) -> Turn:
    listed = [{"path": path, "start_line": start, "end_line": end} for path, start, end in sources]
    reply = {"answer": answer, "confidence": "high", "sources": listed, "reasoning": "it says so"}
    return Turn([sse(json.dumps(reply))])


def told(served: ServedSettings, number: int = 0) -> str:
    """Return the last thing that the model was told before it replied for this time."""
    return str(served.asked[number].body["messages"][-1]["content"])


def test_what_is_given_is_shown_first_and_can_be_cited(shop: Path, site: Site) -> None:
    (shop.parent / "note.txt").write_text(NOTE)
    given = ("--pin", "README.md", "--doc", "../note.txt", "--url", f"{site.url}/plain")
    answer = final("By rule 2 [../note.txt:2].", (f"{site.url}/plain", 1, 2), ("README.md", 1, 1))
    with serving(answer) as served:
        ran = fathom(shop, served, "ask", "--agent", "--json", *given, QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert "../note.txt:1-3\n1\trule 1: round to 1 cents\n2\trule 2" in told(served)
    assert f"{site.url}/plain:1-2\n1\tone\n2\ttwo\n" in told(served)
    assert "A very small web shop" in told(served)
    assert told(served).endswith(f"\n\n{QUESTION}")
    assert "only a part of the project" not in told(served)
    shown = json.loads(ran.stdout)
    assert (shown["dropped_citations"], shown["degraded"]) == ([], [])
    assert {(place["path"], place["start_line"], place["end_line"]) for place in shown["citations"]} == {
        ("../note.txt", 2, 2),
        (f"{site.url}/plain", 1, 2),
        ("README.md", 1, 1),
    }


def test_lines_of_what_is_given_that_were_not_shown_are_not_cited(shop: Path) -> None:
    (shop.parent / "note.txt").write_text(NOTE)
    with serving(final("By rule 9.", ("../note.txt", 2, 9))) as served:
        ran = fathom(shop, served, "ask", "--agent", "--json", "--doc", "../note.txt", QUESTION)
    (dropped,) = json.loads(ran.stdout)["dropped_citations"]
    assert dropped == {
        "text": "../note.txt:2-9",
        "reason": "these lines were not shown",
        "reason_parts": [{"kind": "not_shown", "values": {}}],
    }


def test_what_does_not_fit_is_read_on(shop: Path) -> None:
    lines = [f"rule {number}: round to {number} cents" for number in range(1, 400)]
    (shop.parent / "note.txt").write_text("\n".join(lines))
    more = Turn([call("read_file", file_path="../note.txt", start_line=390)])
    with serving(more, final("By the last.", ("../note.txt", 399, 399))) as served:
        words = ("--agent", "--json", "--doc", "../note.txt", "--set", "context.window=1200")
        ran = fathom(shop, served, "ask", *words, QUESTION)
    assert "rule 1: " in told(served)
    assert "rule 390" not in told(served)
    assert "399\trule 399" in told(served, 1)
    assert "../note.txt was not read whole: the model was shown only parts of it" in ran.stderr
    assert json.loads(ran.stdout)["verified_share"] == 1.0


@pytest.mark.parametrize(
    ("tool", "arguments", "has", "has_not"),
    [
        ("list_files", {}, "web/src/money.ts", "pricing.py"),
        ("read_file", {"file_path": "shop/pricing.py"}, "is not in the index", "def total_cents"),
        ("read_file", {"file_path": "web/src/money.ts"}, "export function formatCents", "not in the index"),
        ("read_file", {"file_path": "README.md"}, "A very small web shop", "not in the index"),  # it was given
        ("find_symbol", {"name": "cents"}, "web/src/money.ts", "pricing.py"),
        ("search_code", {"question": "price of an order in cents", "top_k": 20}, "web/src/", "shop/"),
        ("related_files", {"target": "shop/pricing.py"}, "", "shop/orders.py"),
    ],
)
def test_a_filter_keeps_every_tool_to_its_part(
    shop: Path, tool: str, arguments: dict[str, Any], has: str, has_not: str
) -> None:
    with serving(Turn([call(tool, **arguments)]), final("So.")) as served:
        ran = fathom(shop, served, "ask", "--agent", "--dir", "web", "--pin", "README.md", QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert "only a part of the project" in told(served)
    assert has in told(served, 1)
    assert has_not not in told(served, 1)


def test_a_model_that_never_answers_leaves_excerpts_and_not_what_was_given(shop: Path) -> None:
    with serving(Turn([b'{"error": "wrong key"}'], 401)) as served:
        ran = fathom(shop, served, "ask", "--agent", "--pin", "web/src/money.ts", QUESTION)
    assert ran.returncode == 2
    assert ran.stdout.startswith("The model failed before its answer was whole. The best excerpts:\n\n1. ")
    assert "[shop/" in ran.stdout


def test_a_conversation_with_an_agent_keeps_what_is_given(shop: Path) -> None:
    (shop.parent / "note.txt").write_text(NOTE)
    with serving(final("By rule 2 [../note.txt:2].")) as served:
        ran = fathom(shop, served, "chat", "--agent", "--doc", "../note.txt", stdin=f"{QUESTION}\nand why?\n")
    assert ran.returncode == 0, ran.stderr
    assert [asked.body["messages"][-1]["content"].count("rule 2: round") for asked in served.asked] == [1, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pin", "shop/none.py"), "no such path in the project: 'shop/none.py'"),
        (("--doc", "none.txt"), "cannot read 'none.txt'"),
        (("--filter", "lines >"), "the filter ends at column 8"),
        (("--contexts-only",), "--agent and --contexts-only cannot be used together"),
    ],
)
def test_what_cannot_be_given_is_said(shop: Path, words: tuple[str, ...], message: str) -> None:
    with serving(final("So.")) as served:
        ran = fathom(shop, served, "ask", "--agent", *words, QUESTION)
        assert served.asked == []
    assert ran.returncode == 2
    assert message in ran.stderr


def test_the_answer_streams_while_it_is_written(shop: Path) -> None:
    words = "The price is computed in the file [shop/pricing.py:1-2] and then it is rounded to cents"
    reply = json.dumps({"answer": words, "confidence": "high", "sources": [], "reasoning": "seen"})
    pieces = [
        f"data: {json.dumps({'choices': [{'delta': {'content': piece}}]})}\n\n".encode()
        for piece in re.findall(r".{1,7}", reply)
    ]
    end = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    read = Turn([call("read_file", file_path="shop/pricing.py")])
    with serving(read, Turn([*pieces, end])) as served:
        settings = load_settings(
            str(shop), overrides={"llm.model": "openai:m", "llm.base_url": f"{served.base_url}/v1"}
        )
        with Engine.open(str(shop), settings=settings) as engine:
            events = list(engine.investigate("how is the price computed"))
    places = {type(event): place for place, event in enumerate(events)}  # of the last one of each kind
    texts = [(place, event.text) for place, event in enumerate(events) if isinstance(event, Text)]
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert "".join(text for _, text in texts) == answer.text
    assert words in answer.text
    before_the_end = [text for place, text in texts if place < places[Final]]
    assert len(before_the_end) > 5
    assert "".join(before_the_end).startswith("The price is computed in the file [shop/pricing.py:1-2] and then it is")


def test_an_answer_that_is_written_again_is_shown_below_the_first(shop: Path) -> None:
    first = json.dumps({"answer": "It is in the file of prices.", "confidence": "no idea", "sources": []})
    second = json.dumps({"answer": "It is elsewhere.", "confidence": "low", "sources": [], "reasoning": ""})
    read = Turn([call("read_file", file_path="shop/pricing.py")])
    with serving(read, Turn([sse(first)]), Turn([sse(second)])) as served:
        settings = load_settings(
            str(shop), overrides={"llm.model": "openai:m", "llm.base_url": f"{served.base_url}/v1"}
        )
        with Engine.open(str(shop), settings=settings) as engine:
            events = list(engine.investigate("how is the price computed"))
    assert "".join(event.text for event in events if isinstance(event, Text)).split("\n\n") == [
        "It is in the file of prices.",
        "It is elsewhere.",
    ]
    assert events[-1].text == "It is elsewhere."
