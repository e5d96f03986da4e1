"""Only files that were changed in a time: the same on every face, and refused where files have no times."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.server.agents import call, post
from tests.server.test_projects import add, index
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import UsageError
from codefathom.index.plan import Recipe
from codefathom.index.word_search import UnindexedFiles
from codefathom.question.asker import result_of
from codefathom.question.question_options import question_of
from codefathom.search.filter.filter_options import condition_of
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.source.scan import ScanRules

QUERY = "where are orders priced"
OLD, NEW = "2026-10-31T23:59:59", "2026-11-01"  # the last moment before November, and the first one of it
NEW_FILES = {"shop/orders.py", "docs/shipping.md"}


SIGNS = {"changed_after": ">=", "changed_before": "<"}


class Asked(NamedTuple):
    """A question about a time, by the names of the table of options, and what it must leave."""

    values: dict[str, str]
    passes: Callable[[str], bool]


QUESTIONS = [
    Asked({"changed_after": "2026-11-01"}, lambda path: path in NEW_FILES),
    Asked({"changed_before": "2026-11-01"}, lambda path: path not in NEW_FILES),
    Asked({"changed_after": "2026-11-01T01:00+01:00"}, lambda path: path in NEW_FILES),
    Asked({"changed_after": "2026-10-01", "changed_before": "2026-12-01"}, lambda path: True),
    Asked({"changed_after": "2026-11-02"}, lambda path: False),
    Asked({"changed_after": "0001-01-01", "changed_before": "9999-12-31"}, lambda path: True),
    Asked({"changed_after": "9999-12-31"}, lambda path: False),
    Asked({"changed_before": "1000-01-01"}, lambda path: False),
]


def stamp(file: Path, moment: str) -> None:
    seconds = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
    os.utime(file, (seconds, seconds))


@pytest.fixture
def stamped(shop: Path) -> Path:
    for file in filter(Path.is_file, shop.rglob("*")):
        stamp(file, NEW if file.relative_to(shop).as_posix() in NEW_FILES else OLD)
    return shop


@pytest.fixture
def ready(server: httpx.Client, stamped: Path) -> httpx.Client:
    index(stamped)
    add(server, stamped)
    return server


def of_line(folder: Path, command: str, values: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Any:
    words = [word for name, value in values.items() for word in (f"--{name.replace('_', '-')}", value)]
    capsys.readouterr()
    main([command, "-C", str(folder), "--json", "-q", *words, QUERY])
    return json.loads(capsys.readouterr().out)


def paths(hits: list[dict[str, Any]]) -> set[str]:
    return {hit["path"] for hit in hits}


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: " ".join(asked.values.values()))
def test_every_face_finds_the_same_files_of_a_time(
    ready: httpx.Client, stamped: Path, asked: Asked, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = paths(of_line(stamped, "search", {}, capsys)["hits"])
    assert everything | NEW_FILES > NEW_FILES
    expected = paths(of_line(stamped, "search", asked.values, capsys)["hits"])
    assert all(map(asked.passes, expected))
    assert {path for path in everything if asked.passes(path)} <= expected
    body = {"query": QUERY, **asked.values}
    assert paths(ready.post("/search", json=body).json()["hits"]) == expected
    content = post(ready, call("search", query=QUERY, limit=10, **asked.values)).json()["result"]["structuredContent"]
    assert paths(content["hits"]) == expected
    with Engine.open(str(stamped)) as engine:
        values = question_of("search", QUERY, asked.values, condition_of(asked.values))
        assert {hit.chunk.path for hit in result_of(engine, values).hits} == expected
        in_words = [f"modified {sign} {asked.values[name]}" for name, sign in SIGNS.items() if name in asked.values]
        result = engine.search(QUERY, where=parse_filter(" and ".join(in_words)))
        assert {hit.chunk.path for hit in result.hits} == expected
    files = of_line(stamped, "context", {**asked.values}, capsys)["files"]
    assert all(asked.passes(file["path"]) for file in files)
    assert paths(ready.post("/context", json=body).json()["files"]) == paths(files)


def test_a_file_that_is_only_stamped_anew_is_found_at_once(ready: httpx.Client, stamped: Path) -> None:
    body = {"query": QUERY, "changed_after": "2026-11-01"}
    with Engine.open(str(stamped)) as engine:
        for moment, expected in ((NEW, True), (OLD, False), (NEW, True)):
            stamp(stamped / "shop/pricing.py", moment)
            engine.index()
            hits = engine.search(QUERY, where=condition_of(body)).hits
            assert ("shop/pricing.py" in {hit.chunk.path for hit in hits}) is expected
            assert ("shop/pricing.py" in paths(ready.post("/search", json=body).json()["hits"])) is expected


@pytest.mark.parametrize("value", ["yesterday", "2026-13-01", "11", "2026-11-01T25:00", "x" * 90])
def test_what_is_not_a_date_is_named(
    ready: httpx.Client, stamped: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = f"{value[:80]!r} is not a date or a time"
    assert main(["search", "-C", str(stamped), "--changed-after", value, QUERY]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert "such as 2026-11-01" in told
    answer = ready.post("/search", json={"query": QUERY, "changed_before": value})
    assert (answer.status_code, answer.json()["detail"]) == (400, problem)
    content = post(ready, call("search", query=QUERY, changed_after=value)).json()["result"]
    assert content["isError"]
    assert problem in content["content"][0]["text"]


@pytest.mark.parametrize("value", [20, 1_793_491_200, True])
def test_a_number_is_not_taken_for_a_time(stamped: Path, value: object) -> None:
    with pytest.raises(UsageError, match="is not a date or a time"):
        parse_filter(json.dumps({"field": "modified", "operator": "gt", "value": value}))
    with pytest.raises(UsageError, match="modified is a time: eq does not apply to it"):
        parse_filter("modified = 2026-11-01")


def test_files_of_no_project_have_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, moment in (("new.txt", NEW), ("old.txt", OLD)):
        (tmp_path / name).write_text("Where orders are priced.\n")
        stamp(tmp_path / name, moment)
    for values, name in (({"--changed-after": NEW}, "new.txt"), ({"--changed-before": NEW}, "old.txt")):
        words = [word for pair in values.items() for word in pair]
        capsys.readouterr()
        assert main(["search", "--in", str(tmp_path), "--json", "-q", *words, QUERY]) == 0, capsys.readouterr().err
        assert {Path(path).name for path in paths(json.loads(capsys.readouterr().out)["hits"])} == {name}


def test_a_file_of_the_first_moment_has_a_time(stamped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stamp(stamped / "shop/pricing.py", "1970-01-01")
    index(stamped)
    found = paths(of_line(stamped, "search", {"changed_before": "1970-01-02"}, capsys)["hits"])
    assert found == {"shop/pricing.py"}
    files = UnindexedFiles(Recipe(str(stamped)))
    hits = files.search(QUERY, where=parse_filter("modified < 1970-01-02")).hits
    assert {hit.chunk.path for hit in hits} == {"shop/pricing.py"}


def git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, timeout=LONG_S)


def test_files_of_a_revision_have_no_times(stamped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(stamped, "init", "-q", "-b", "main")
    git(stamped, "add", "shop", "docs")
    git(stamped, "commit", "-q", "-m", "first")
    git(stamped.parent, "clone", "-q", "--bare", str(stamped), "bare.git")
    for words in (("-C", str(stamped), "--rev", "main"), ("-C", str(stamped.parent / "bare.git"))):
        for command in ("search", "context", "ask"):
            assert main([command, *words, "--changed-after", "2026-11-01", QUERY]) == 2
            told = capsys.readouterr().err
            assert "have no time of change" in told
            assert "search the files in the folder instead" in told
    with Engine.open(str(stamped), revision="main") as engine:
        # Before there is an index, nothing is known of times either.
        files = UnindexedFiles(engine.opened.recipe)
        assert files.search(QUERY).hits
        assert not files.search(QUERY, where=parse_filter("modified < 2030-01-01")).hits
        assert not files.search(QUERY, where=parse_filter("modified >= 1970-01-01")).hits


def test_before_there_is_an_index_the_files_themselves_say_when_they_were_changed(stamped: Path) -> None:
    for follows in (False, True):
        files = UnindexedFiles(Recipe(str(stamped), ScanRules(follow_symlinks=follows)))
        hits = files.search(QUERY, where=parse_filter("modified >= 2026-11-01")).hits
        assert {hit.chunk.path for hit in hits} <= NEW_FILES
        assert hits
