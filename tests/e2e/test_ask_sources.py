"""What an answer rests on, as a process: the sources alone, pages of the web, and `fathom --rag` with a model."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_ask import CLAIM, QUESTION, fathom, shop, sse
from tests.protocols.server import ServedSettings, Turn, serving
from tests.unit.source.test_web import PAGES, Page, Site, leading, site

__all__ = ["shop", "site"]  # fixtures
KEYS = [
    *("query", "files", "n_tokens", "truncated", "absent", "weak", "n_left_out", "n_left_out_is_exact"),
    *("degraded", "degraded_parts"),
]
FILE_KEYS = ["path", "text", "score", "reason", "spans", "symbols"]


@pytest.fixture
def answering() -> Iterator[ServedSettings]:
    with serving(Turn([sse(CLAIM)])) as served:
        yield served


def shown(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ran.returncode == 0, ran.stderr
    context: dict[str, Any] = json.loads(ran.stdout)
    assert list(context) == KEYS
    assert [list(file) for file in context["files"]] == [FILE_KEYS] * len(context["files"])
    return context


def paths(context: dict[str, Any]) -> list[str]:
    return [file["path"] for file in context["files"]]


# ---- the sources alone


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "--contexts-only", QUESTION),
        ("ask", "--json", "--contexts-only", QUESTION),
        ("ask", json.dumps({"query": QUESTION, "only_contexts": True})),
        ("--rag", "--contexts-only", QUESTION),
        ("--rag", json.dumps({"query": QUESTION, "only_contexts": True})),
    ],
)
def test_the_sources_alone_ask_no_model(shop: Path, answering: ServedSettings, words: tuple[str, ...]) -> None:
    context = shown(fathom(shop, answering, *words))
    assert context["query"] == QUESTION
    assert "shop/pricing.py" in paths(context)
    assert answering.asked == []


def test_they_are_what_a_context_holds(shop: Path) -> None:
    limits = ("--set", "rerank.top_n=3", "--set", "context.max_files=3")
    of_ask = shown(fathom(shop, None, "ask", "--contexts-only", *limits, QUESTION))
    of_context = shown(fathom(shop, None, "context", "--format", "json", *limits, QUESTION))
    assert paths(of_ask) == paths(of_context)
    assert [file["text"] for file in of_ask["files"]] == [file["text"] for file in of_context["files"]]
    assert [file["symbols"] for file in of_ask["files"]] == [file["symbols"] for file in of_context["files"]]


def test_they_are_what_the_model_would_be_shown(shop: Path, answering: ServedSettings) -> None:
    context = shown(fathom(shop, answering, "ask", "--contexts-only", "-n", "2", QUESTION))
    fathom(shop, answering, "ask", "-n", "2", QUESTION)
    sent = answering.asked[0].body["messages"][-1]["content"]
    assert len(context["files"]) == 2
    for file in context["files"]:
        assert f"{file['path']}:1-" in sent


def test_pinned_and_given_texts_come_first(shop: Path) -> None:
    ran = fathom(shop, None, "ask", "--contexts-only", "--pin", "README.md", "--doc", "-", QUESTION, stdin="- old\n")
    files = shown(ran)["files"]
    assert [(file["path"], file["reason"]) for file in files[:2]] == [("stdin", "given"), ("README.md", "pinned")]
    assert files[0]["text"] == "- old\n"


@pytest.mark.parametrize("folder", ["web", "web/", "./web/src"])
def test_a_pinned_folder_gives_all_its_files(shop: Path, folder: str) -> None:
    files = shown(fathom(shop, None, "ask", "--contexts-only", "--pin", folder, QUESTION))["files"]
    pinned = {file["path"] for file in files if file["reason"] == "pinned"}
    assert pinned == {"web/src/cart.ts", "web/src/money.ts"}


def test_a_pinned_folder_without_indexed_files_is_an_error(shop: Path) -> None:
    (shop / "empty").mkdir()
    ran = fathom(shop, None, "ask", "--contexts-only", "--pin", "empty", QUESTION)
    assert ran.returncode == 2
    assert "'empty' is not in the index" in ran.stderr


def test_what_does_not_fit_whole_is_shown_in_parts_and_named(shop: Path) -> None:
    lines = "\n".join(f"line {number} of a long story" for number in range(2_000))
    (shop / "story.md").write_text(f"# Wombats\n\nwombats and their burrows\n\n{lines}\n\n# End\n\nwombats again\n")
    ran = fathom(shop, None, "ask", "--contexts-only", "--set", "context.window=900", "wombats burrows")
    context = shown(ran)
    story = next(file for file in context["files"] if file["path"] == "story.md")
    assert story["spans"][0][0] == 1
    assert "wombats and their burrows" in story["text"]
    assert "story.md" in context["truncated"]
    assert "only parts of these files fit, because the limit of tokens is too low: story.md" in ran.stderr
    assert 0 < context["n_tokens"] <= 900


def test_selecting_and_judging_come_before(shop: Path) -> None:
    selected = json.dumps({"file_list": [{"file_path": "shop/accounts.py", "reason": "it knows"}]})
    with serving(Turn([sse(selected)]), Turn([sse("1: no/1\n2: no/2\n3: yes/9")])) as served:
        level = ("--filter-level", "1", "-n", "3", "--dir", "web", "--lang", "ts")
        ran = fathom(shop, served, "ask", "--contexts-only", *level, "money cents")
    assert paths(shown(ran)) == ["shop/accounts.py"]
    assert len(served.asked) == 2


@pytest.mark.parametrize(("is_disabled", "calls"), [(True, "4 calls, one for each file"), (False, "1 calls")])
def test_without_the_automatic_window_each_file_is_judged_by_itself(shop: Path, is_disabled: bool, calls: str) -> None:
    def reply(body: dict[str, Any]) -> bytes:
        is_list = "the list of files" in body["messages"][-1]["content"]
        return sse(json.dumps({"file_list": []}) if is_list else "1: yes/9\n2: yes/9\n3: yes/9\n4: yes/9")

    own = ("--set", f"context.disable_auto_window={str(is_disabled).lower()}")
    with serving(Turn(reply=reply)) as served:
        ran = fathom(shop, served, "ask", "--filter-level", "1", "--explain", "-n", "1", *own, "money cents")
    assert calls in ran.stderr


def test_that_nothing_is_judged_without_a_model_is_said(shop: Path) -> None:
    ran = fathom(shop, None, "ask", "--contexts-only", "--filter-level", "2", QUESTION)
    assert "shop/pricing.py" in paths(shown(ran))
    assert "the sources are the hits of the search" in ran.stderr
    assert "no model selects" not in fathom(shop, None, "ask", "--contexts-only", QUESTION).stderr


def test_nothing_found(shop: Path) -> None:
    ran = fathom(shop, None, "ask", "--contexts-only", "--lang", "haskell", QUESTION)
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["files"] == []
    assert f"nothing found for {QUESTION!r}" in ran.stderr


@pytest.mark.parametrize("question", ["123", "[1]", '"price"', "null", '{"query": 5}', '{"question": "price"}'])
def test_other_json_is_an_ordinary_question(shop: Path, answering: ServedSettings, question: str) -> None:
    ran = fathom(shop, answering, "ask", question, "--set", "answer.least_confidence=0", "--pin", "README.md")
    assert ran.returncode == 0, ran.stderr
    assert answering.asked[0].body["messages"][-1]["content"].endswith(question)


def test_a_json_query_is_answered_unless_it_wants_contexts_only(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "ask", json.dumps({"query": QUESTION, "only_contexts": False}))
    assert "Prices are summed [shop/pricing.py:6-8]." in ran.stdout
    assert answering.asked[0].body["messages"][-1]["content"].endswith(f"\n\n{QUESTION}")


# ---- fathom --rag


def test_rag_answers_where_there_is_a_model(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "--rag", "--source-dir", ".", QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Prices are summed [shop/pricing.py:6-8].")
    assert "no language model" not in ran.stderr


def test_rag_limits_the_files_that_a_model_is_shown(shop: Path, answering: ServedSettings) -> None:
    fathom(shop, answering, "--rag", "--max-files", "1", "--filter-level", "0", QUESTION)
    sent = answering.asked[0].body["messages"][-1]["content"]
    assert sent.count("\n[1] ") + sent.startswith("[1] ") == 1
    assert "[2] " not in sent


def test_rag_shows_a_model_ten_files_unless_the_settings_say_otherwise(shop: Path, answering: ServedSettings) -> None:
    for number in range(12):
        text = f"def order_price_{number}():\n    return 'how the price of an order is computed'\n"
        (shop / "shop" / f"price{number}.py").write_text(text)
    for flags, n_files in (((), 10), (("--set", "rerank.top_n=3"), 3)):
        answering.asked.clear()
        fathom(shop, answering, "--rag", "--filter-level", "0", *flags, QUESTION)
        sent = answering.asked[0].body["messages"][-1]["content"]
        assert len(set(re.findall(r"(?m)^\[\d+\] ([^:\s]+)", sent))) == n_files


def test_rag_without_a_model_prints_the_context(shop: Path) -> None:
    ran = fathom(shop, None, "--rag", "--max-files", "1", QUESTION)
    assert ran.returncode == 0
    assert ran.stdout.startswith("##File: shop/")
    assert ran.stdout.count("##File: ") == 1
    assert "no language model is configured: the sources are the hits of the search" in ran.stderr


def test_rag_with_a_model_in_the_settings_of_one_role(shop: Path, answering: ServedSettings) -> None:
    ran = fathom(shop, answering, "--rag", "--set", "llm.model=", "--set", "llm.answer=openai:m", QUESTION)
    assert ran.stdout.startswith("Prices are summed"), ran.stderr


# ---- pages of the web


def test_a_page_is_a_source_whose_lines_are_cited(shop: Path, site: Site) -> None:
    with serving(Turn([sse("It doubles the wait [1:5-6].")])) as served:
        ran = fathom(shop, served, "ask", "--url", f"{site.url}/html", "--json", "how long does it wait")
    answer = json.loads(ran.stdout)
    named = {"path": f"{site.url}/html", "symbol": "", "place": "", "place_parts": []}
    assert answer["citations"] == [{**named, "start_line": 5, "end_line": 6}]
    assert answer["verified_share"] == 1.0
    assert "5\t- first wait" in served.asked[0].body["messages"][-1]["content"]


def test_pages_and_documents_together(shop: Path, site: Site) -> None:
    (shop.parent / "note.txt").write_text("a note\n")
    pages = ("--url", f"{site.url}/plain", "--url", f"{site.url}/json", "--url", f"{site.url}/plain")
    ran = fathom(shop, None, "ask", "--contexts-only", "--doc", "../note.txt", *pages, QUESTION)
    files = shown(ran)["files"]
    assert [file["path"] for file in files[:3]] == ["../note.txt", f"{site.url}/plain", f"{site.url}/json"]
    assert files[1]["text"] == "one\ntwo\n"


def test_a_password_in_an_address_goes_nowhere_else(shop: Path, site: Site, answering: ServedSettings) -> None:
    address = site.url.replace("://", "://me:geheim@")
    ran = fathom(shop, answering, "ask", "--url", f"{address}/plain", QUESTION)
    assert ran.returncode == 0, ran.stderr
    assert "geheim" not in json.dumps(answering.asked[0].body) + ran.stdout + ran.stderr


def test_nothing_is_fetched_that_was_not_given(shop: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PAGES, "/page", Page(f"see {site.url}/hidden\n".encode()))
    monkeypatch.setitem(PAGES, "/moved-page", leading("/page"))
    (shop / "links.md").write_text(f"# Prices of orders\n\nread {site.url}/hidden\n")
    site.asked.clear()
    fathom(shop, None, "ask", f"how is the price of an order computed, see {site.url}/hidden")
    assert site.asked == []
    fathom(shop, None, "ask", "--url", f"{site.url}/moved-page", QUESTION)
    assert [path for path, _ in site.asked] == ["/moved-page", "/page"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "--url", "SITE/missing", "x"), "SITE/missing answered 404 Not Found"),
        (("ask", "--contexts-only", "--url", "SITE/image", "x"), "SITE/image is not text but image/png"),
        (("ask", "--url", "note.txt", "x"), "'note.txt' is not a web address"),
        (("chat", "--url", "SITE/loop"), "SITE/loop redirects more than 5 times"),
        (("chat", "--doc", "-"), "--doc - cannot be used in a chat: the questions come from stdin"),
        (("chat", "--doc", "none.txt"), "cannot read 'none.txt'"),
        (("ask", "--agent", "--contexts-only", "x"), "--agent and --contexts-only cannot be used together"),
        (
            ("ask", "--agent", '{"query": "x", "only_contexts": true}'),
            "--agent and --contexts-only cannot be used together",
        ),
        (("ask", "--contexts-only", "--trace", "t.json", "x"), "--contexts-only and --trace cannot be used together"),
        (("ask", "--contexts-only", "--explain", "x"), "--contexts-only and --explain cannot be used together"),
        (("ask", '{"query": ""}'), "the question is empty"),
    ],
)
def test_what_cannot_be_done_is_said(shop: Path, site: Site, words: tuple[str, ...], message: str) -> None:
    ran = fathom(shop, None, *(word.replace("SITE", site.url) for word in words))
    assert ran.returncode == 2
    assert message.replace("SITE", site.url) in ran.stderr
    assert "hint: " in ran.stderr
    assert ran.stdout == ""


# ---- fathom chat


def test_a_conversation_takes_files_and_pages_too(shop: Path, site: Site, answering: ServedSettings) -> None:
    (shop.parent / "note.txt").write_text("a note of mine\n")
    site.asked.clear()
    given = ("--pin", "README.md", "--doc", "../note.txt", "--url", f"{site.url}/plain")
    ran = fathom(shop, answering, "chat", *given, stdin=f"{QUESTION}\n/clear\n{QUESTION}\n")
    assert ran.returncode == 0, ran.stderr
    for asked in answering.asked:
        sent = asked.body["messages"][-1]["content"]
        assert all(text in sent for text in ("a note of mine", "1\tone", "A very small web shop"))
    assert len(answering.asked) == 2
    assert [path for path, _ in site.asked] == ["/plain"]  # fetched once


def test_what_failed_before_the_sources_is_said(shop: Path) -> None:
    with serving(Turn([b'{"error": "no such model"}'], 404)) as served:
        ran = fathom(shop, served, "ask", "--contexts-only", "--filter-level", "1", QUESTION)
    assert paths(shown(ran))
    assert "the selecting and judging models failed: " in ran.stderr
