"""A line of 300,000 characters: found by what stands at its end, shown in part, whole where all of it is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packed_texts import readable_bytes

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.types import Hit

WORDS = " ".join(f"item{number}" for number in range(30_000))
LINE = f"{WORDS} feed_kangaroo grass {WORDS[:500]}"
TEXT = f"# head\n{LINE}\n# end\n"
PLACE = LINE.index("feed_kangaroo") + 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "fathom.toml").touch()
    (folder / "data.txt").write_text(TEXT)
    (folder / "zoo.py").write_text("def open_gate():\n    return 'open'\n")
    return folder


@pytest.fixture
def engine(project: Path) -> Iterator[Engine]:
    with Engine.open(str(project)) as engine:
        engine.index()
        yield engine


def best(engine: Engine, query: str = "feed_kangaroo", **options: str) -> Hit:
    return engine.search(query, **options).hits[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["auto", "lexical", "regex"])
def test_it_is_found_by_what_stands_at_its_end(engine: Engine, mode: str) -> None:
    hit = best(engine, mode=mode)
    assert (hit.chunk.path, hit.line, hit.column) == ("data.txt", 2, PLACE)
    assert "feed_kangaroo" in hit.chunk.text
    assert len(hit.chunk.text) <= 1_250
    assert LINE[hit.chunk.column - 1 :].startswith(hit.chunk.text.rstrip("\n"))


def test_each_match_is_in_the_part_that_holds_it(engine: Engine) -> None:
    hits = engine.search("item[0-9]*77\\b", mode="regex", limit=1_000).hits
    assert len(hits) > 100
    assert {len(hit.chunk.text) <= 1_250 for hit in hits} == {True}
    for hit in hits:
        assert LINE[hit.column - 1 :].startswith("item")


def test_the_parts_are_the_file(engine: Engine) -> None:
    assert engine.opened.catalog.text("data.txt") == TEXT
    assert engine.opened.catalog.lines("data.txt", 2, 2) == f"{LINE}\n"
    assert engine.search("feed_kangaroo", level="file").hits[0].chunk.text == TEXT
    assert [check.name for check in engine.doctor() if not check.ok] == []


def test_a_missing_part_is_damage(engine: Engine) -> None:
    catalog = engine.opened.catalog
    keys = [key for key, chunk in catalog.chunks_of("data.txt") if chunk.start_line == 2]
    for key in (keys[-1], keys[7]):
        with catalog._database.transaction() as db:
            db.execute("DELETE FROM chunks WHERE key = ?", (key,))
        assert catalog.chunks_of("data.txt") == []


def test_a_change_in_the_line_is_taken_in(engine: Engine, project: Path) -> None:
    (project / "data.txt").write_text(TEXT.replace("# head\n", "# head\n# more\nbefore "))
    engine.index()
    hit = best(engine)
    assert (hit.line, hit.column) == (4 - 1, PLACE + len("before "))
    assert engine.opened.catalog.text("data.txt") == (project / "data.txt").read_text()


def test_a_terminal_shows_the_part_and_what_is_before_and_after_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "-C", str(project), "feed_kangaroo"]) == 0
    shown = capsys.readouterr().out
    assert "feed_kangaroo grass" in shown
    assert "characters …)" in shown
    assert max(map(len, shown.splitlines())) < 300
    assert main(["search", "-C", str(project), "--format", "path", "feed_kangaroo"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"data.txt:2:{PLACE}: (")
    assert "feed_kangaroo grass" in first
    assert len(first) < 300


def test_json_says_where_the_content_begins(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "-C", str(project), "--json", "feed_kangaroo"]) == 0
    hit = json.loads(capsys.readouterr().out)["hits"][0]
    content = hit["content"]
    assert LINE[hit["content_column"] - 1 :].startswith(content.rstrip("\n"))
    assert hit["content_line"] == hit["line"] == 2
    assert main(["search", "-C", str(project), "--json", "--level", "file", "feed_kangaroo"]) == 0
    assert len(capsys.readouterr().out) < 10_000


def test_an_answer_cites_the_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "-C", str(project), "--json", "where is feed_kangaroo grass"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert ("data.txt", 2) in {(item["path"], item["start_line"]) for item in answer["citations"]}
    assert answer["dropped_citations"] == []


def test_a_secret_in_it_stays_masked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "ghp_" + "a1B2" * 9
    (project / "data.txt").write_text(TEXT.replace("feed_kangaroo", f"feed_kangaroo token='{key}'"))
    assert main(["search", "-C", str(project), "--json", "feed_kangaroo"]) == 0
    assert "feed_kangaroo" in capsys.readouterr().out
    index = b"".join(readable_bytes(path) for path in (project / ".fathom").rglob("*") if path.is_file())
    assert key.encode() not in index


def test_a_context_has_the_part_that_fits(engine: Engine) -> None:
    context = engine.context("feed_kangaroo grass", max_tokens=2_000)
    (file,) = [file for file in context.files if file.path == "data.txt"]
    assert "feed_kangaroo grass" in file.text
    assert file.spans == ((2, 2),)
    assert context.n_tokens <= 2_000
    assert "data.txt" in context.truncated


def test_a_model_is_shown_the_part_and_may_cite_it(engine: Engine, project: Path) -> None:
    from tests.e2e.test_ask import sse
    from tests.protocols.server import Turn, serving

    from codefathom.config.configuration import load_settings

    with serving(Turn([sse("It is there [1:2].")])) as served:
        overrides = {"llm.model": "openai:m", "llm.base_url": f"{served.base_url}/v1"}
        settings = load_settings(str(project), overrides=overrides)
        with Engine.open(str(project), settings=settings) as asked:
            answer = asked.ask("where is feed_kangaroo grass")
    assert "feed_kangaroo grass" in served.asked[-1].body["messages"][-1]["content"]
    assert [(item.path, item.start_line, item.end_line) for item in answer.citations] == [("data.txt", 2, 2)]
