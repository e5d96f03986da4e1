"""Secrets in what agents are shown: each is a mark, in lines by the whole file, in names and sentences by the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.answer.answer_types import Answer, Citation
from codefathom.config.settings import Settings, SourceSettings
from codefathom.errors import UsageError
from codefathom.mcp.agent_masks import AgentMasks, masked_error, masked_text
from codefathom.project.marked_lines import MarkedLines
from codefathom.providers.base import NO_USAGE
from codefathom.source.masks import MARK, MASK
from codefathom.types import Chunk, Hit, IndexedFile, SearchResult

TOKEN = "ghp_" + "a1B2" * 9
KEY_LINES = [letter * 63 + "=" for letter in "bcdefg"]
PEM = "-----BEGIN RSA PRIVATE KEY-----"
# The first line tells that the lines below it are a key: none of these is a secret by itself.
TEXT = f'''TOKEN = "{TOKEN}"


def pay(order):
    return order.total

KEY = """{PEM}
{chr(10).join(KEY_LINES)}
{PEM.replace("BEGIN", "END")}
"""
'''
MARKED_FIRST = f'TOKEN = "{MARK}"'


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Engine]]:
    """The same file in an index with masks, and in one that keeps secrets."""
    root = tmp_path_factory.mktemp("shop")
    (root / "pay.py").write_text(TEXT)
    kept = tmp_path_factory.mktemp("kept")
    (kept / "pay.py").write_text(TEXT)
    shown = Settings(source=SourceSettings(secrets="keep"))
    with (
        Engine.open(str(root), is_root=True) as masked,
        Engine.open(str(kept), is_root=True, settings=shown) as keeping,
    ):
        masked.index()
        keeping.index()
        yield {"mask": masked, "keep": keeping}


@pytest.fixture(params=["mask", "keep"])
def engine(request: pytest.FixtureRequest, engines: Mapping[str, Engine]) -> Engine:
    return engines[request.param]


def result_of(engine: Engine, *texts: tuple[int, str]) -> SearchResult:
    hits = tuple(
        Hit(Chunk(f"{line}", "pay.py", "python", "block", "", (), line, line + text.count("\n"), text), 0.5, {})
        for line, text in texts
    )
    return SearchResult("q", hits, "chunk", "hybrid", 0.5, 1)


# ---- lines


def test_each_secret_in_lines_is_a_mark(engine: Engine) -> None:
    lines = MarkedLines(engine.opened)
    assert lines.lines("pay.py", 1, f'TOKEN = "{TOKEN}"\n') == f"{MARKED_FIRST}\n"
    assert lines.lines("pay.py", 1, f'TOKEN = "{TOKEN}"') == MARKED_FIRST
    assert lines.lines("pay.py", 4, "def pay(order):\n    return order.total\n") == (
        "def pay(order):\n    return order.total\n"
    )
    assert lines.lines("pay.py", 3, "\n") == "\n"
    assert lines.lines("pay.py", 3, "") == ""


def test_what_an_index_has_masked_is_a_mark_too(engines: Mapping[str, Engine]) -> None:
    lines = MarkedLines(engines["mask"].opened)
    assert lines.lines("pay.py", 1, f'TOKEN = "{MASK * len(TOKEN)}"\n') == f"{MARKED_FIRST}\n"
    assert lines.lines("pay.py", 1, MASK * len(TOKEN), 10) == MARK


def test_lines_are_secrets_by_the_file_that_they_lie_in(engine: Engine) -> None:
    inside = f"{KEY_LINES[1]}\n{KEY_LINES[2]}\n"
    lines = MarkedLines(engine.opened)
    shown = lines.lines("pay.py", 9, inside)
    assert (KEY_LINES[1] in shown, KEY_LINES[2] in shown, MARK in shown) == (False, False, True)
    assert shown.endswith("\n")
    # The same lines in a file that is not known are no secrets: nothing there tells that they are a key.
    assert lines.lines("new.py", 9, inside) == inside


def test_a_part_of_a_line_begins_at_its_column(engine: Engine) -> None:
    line = f'TOKEN = "{TOKEN}"'
    lines = MarkedLines(engine.opened)
    assert lines.lines("pay.py", 1, line[4:], 5) == MARKED_FIRST[4:]
    part = Chunk("1", "pay.py", "python", "block", "", (), 1, 1, line[4:] + "\n", column=5)
    ((shown,), has_marks) = lines.hits((Hit(part, 0.5, {}),))
    assert (shown.chunk.text, has_marks) == (MARKED_FIRST[4:] + "\n", True)
    assert lines.lines("pay.py", 1, line[:8]) == line[:8]


def test_a_part_of_a_line_is_a_secret_by_the_lines_above_it(engine: Engine) -> None:
    part = Chunk("1", "pay.py", "python", "block", "", (), 9, 9, KEY_LINES[1][10:40], column=11)
    ((hit,), _) = MarkedLines(engine.opened).hits((Hit(part, 0.5, {}),))
    assert "c" * 9 not in hit.chunk.text
    assert hit.chunk.text


def test_several_lines_that_an_index_has_masked_are_marks(engines: Mapping[str, Engine]) -> None:
    opened = engines["mask"].opened
    kept = opened.catalog.lines("pay.py", 7, 11)
    assert MASK in kept
    shown = MarkedLines(opened).lines("pay.py", 7, kept)
    assert MASK not in shown
    assert MARK in shown
    assert shown.startswith("KEY = ")
    plain = opened.catalog.lines("pay.py", 3, 5)
    assert MarkedLines(opened).lines("pay.py", 3, plain) == plain


def test_the_name_of_a_file_tells_of_its_secrets(engine: Engine) -> None:
    lines = MarkedLines(engine.opened)
    assert lines.lines("new.env", 1, "DB_PASS=Tr0ub4dor\n") == f"DB_PASS={MARK}\n"
    assert lines.lines("new.txt", 1, "DB_PASS=Tr0ub4dor\n") == "DB_PASS=Tr0ub4dor\n"


def test_lines_that_are_written_now_are_looked_through(engine: Engine) -> None:
    other = TOKEN.replace("a1B2", "c3D4")
    shown = MarkedLines(engine.opened).lines("pay.py", 1, f'TOKEN = "{other}"\n')
    assert shown == f"{MARKED_FIRST}\n"


def test_a_file_that_has_changed_is_looked_through_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "pay.py").write_text("x = 1\n")
    with Engine.open(str(tmp_path), is_root=True) as engine:
        engine.index()
        (tmp_path / "pay.py").write_text(TEXT)
        shown = MarkedLines(engine.opened).lines("pay.py", 9, f"{KEY_LINES[1]}\n")
        assert (KEY_LINES[1] in shown, MARK in shown) == (False, True)


# ---- answers


def test_hits_get_marks(engine: Engine) -> None:
    lines = MarkedLines(engine.opened)
    plain = result_of(engine, (4, "def pay(order):\n"))
    assert lines.hits(plain.hits) == (plain.hits, False)
    hits, has_marks = lines.hits(result_of(engine, (1, f'TOKEN = "{TOKEN}"\n'), (4, "def pay(order):\n")).hits)
    assert [hit.chunk.text for hit in hits] == [f"{MARKED_FIRST}\n", "def pay(order):\n"]
    assert has_marks


def test_an_answer_says_that_its_lines_have_marks(engine: Engine) -> None:
    masks = AgentMasks()
    plain = result_of(engine, (4, "def pay(order):\n"))
    assert masks.shown(plain) is plain
    assert masks.room(500) == 500
    with_marks = replace(plain, has_marks=True)
    assert masks.shown(with_marks) is with_marks
    assert masks.shown(plain) is plain
    assert masks.room(500) == 440


def test_a_user_may_show_agents_the_values() -> None:
    masks = AgentMasks(shows=True)
    assert masks.of(f"what is {TOKEN}?") == f"what is {TOKEN}?"
    assert masks.room(500) == 500


CHUNK = Chunk("id", f"{TOKEN}.py", "python", "block", f"f_{TOKEN}", ("f",), 1, 1, f"x = '{TOKEN}'", TOKEN, TOKEN)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (f"what is {TOKEN}?", f"what is {MARK}?"),
        ((f"a {TOKEN}", 3, None, "b"), (f"a {MARK}", 3, None, "b")),
        (IndexedFile(f"{TOKEN}.py", "python", 7, 1), IndexedFile(f"{MARK}.py", "python", 7, 1)),
        (Citation(f"{TOKEN}.py", 1, 2, "f"), Citation(f"{MARK}.py", 1, 2, "f")),
        ((Citation("a.py", 1, 2, TOKEN),), (Citation("a.py", 1, 2, MARK),)),
        # Lines of a chunk have got their marks before; what else it has is not shown.
        (CHUNK, replace(CHUNK, path=f"{MARK}.py", symbol=f"f_{MARK}")),
        (f"bar {MASK * 6} here", f"bar {MARK} here"),
    ],
)
def test_all_texts_of_a_value_get_marks(value: Any, shown: Any) -> None:
    masks = AgentMasks()
    assert masks.of(value) == shown
    assert type(masks.of(value)) is type(value)
    assert masks.of("nothing") == "nothing"
    assert masks.of(f"bar {MASK * 2} here") == f"bar {MASK * 2} here"
    assert masks.room(500) == 440


@pytest.mark.parametrize("value", ["what is a token?", ("a", 3), Citation("a.py", 1, 2), (), 7, f"a bar {MASK * 2}"])
def test_a_value_without_secrets_stays_as_it_is(value: Any) -> None:
    masks = AgentMasks()
    assert masks.of(value) == value
    assert masks.room(500) == 500


def test_the_answer_of_a_model_gets_marks_also_where_it_quotes_one() -> None:
    answer = Answer("q", f"It is {TOKEN}.", (Citation(f"{TOKEN}.py", 1, 1),), (), 1, 1, "sure", "m", NO_USAGE, (), 1)  # type: ignore[arg-type]
    masks = AgentMasks()
    shown = masks.answer(replace(answer, failure=f"refused {TOKEN}"))
    assert (shown.text, shown.citations[0].path, shown.failure) == (f"It is {MARK}.", f"{MARK}.py", f"refused {MARK}")
    assert masks.room(500) == 440
    quoting = AgentMasks()
    quoting.answer(replace(answer, text="It is «masked: GitHub token».", citations=()))
    assert quoting.room(500) == 440
    plain = AgentMasks()
    plain.answer(replace(answer, text="It is here.", citations=()))
    assert plain.room(500) == 500


def with_marks() -> AgentMasks:
    masks = AgentMasks()
    masks.of(TOKEN)
    return masks


def tool(text: str, **shape: Any) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "structuredContent": {"left_out": 0, **shape},
    }


@pytest.mark.parametrize(
    ("text", "n_marks", "words"), [(f"a {MARK}", 1, "1 value is masked"), (f"{MARK} {MARK}", 2, "2 values are masked")]
)
def test_a_result_says_once_what_its_marks_mean(text: str, n_marks: int, words: str) -> None:
    masks = with_marks()
    noted = masks.noted(tool(text))
    assert noted["content"] == [
        {
            "type": "text",
            "text": f"{text}\n\n{words}. The file has the real value where {MARK} stands here: "
            "do not write this mark into a file.",
        }
    ]
    assert noted["structuredContent"] == {"left_out": 0, "masked": n_marks}
    assert noted["isError"] is False
    assert masks.noted(noted) is noted


@pytest.mark.parametrize(
    ("text", "has_marks", "shape"),
    [("nothing", True, {}), (f"a {MARK}", False, {}), (f"a {MARK}", True, {"masked": 1})],
)
def test_a_result_without_marks_of_ours_says_nothing(text: str, has_marks: bool, shape: dict[str, Any]) -> None:
    result = tool(text, **shape)
    assert (with_marks() if has_marks else AgentMasks()).noted(result) is result
    error = {"content": [{"type": "text", "text": f"no file {MARK}"}], "isError": True}
    assert with_marks().noted(error) is error


def test_a_mistake_repeats_no_secret() -> None:
    error = masked_error(UsageError(f"no file {TOKEN}", hint=f"look for {TOKEN}"))
    assert (str(error), error.hint) == (f"no file {MARK}", f"look for {MARK}")
    assert masked_text("nothing here") == "nothing here"
