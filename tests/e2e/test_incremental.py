"""The index follows the tree, and a killed run ends equal to a clean one."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.waiting import Started

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import UsageError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "retry.py").write_text('"""Retry."""\n\n\ndef retry_with_backoff(call):\n    return call()\n')
    (root / "pkg" / "cart.py").write_text("class Cart:\n    def total(self):\n        return 0\n")
    return root


def paths(root: Path, query: str, **options: object) -> list[str]:
    with Engine.open(str(root)) as engine:
        return [hit.chunk.path for hit in engine.search(query, **options).hits]  # type: ignore[arg-type]


def test_the_first_search_makes_the_index(project: Path) -> None:
    assert paths(project, "retry_with_backoff")[0] == "pkg/retry.py"


def test_a_changed_an_added_and_a_removed_file_are_seen_by_the_next_search(project: Path) -> None:
    paths(project, "anything")
    (project / "pkg" / "retry.py").write_text("def exponential_pause():\n    pass\n")
    (project / "pkg" / "mailer.py").write_text("def send_newsletter():\n    pass\n")
    (project / "pkg" / "cart.py").unlink()
    assert paths(project, "exponential_pause")[0] == "pkg/retry.py"
    assert paths(project, "send_newsletter")[0] == "pkg/mailer.py"
    assert "pkg/cart.py" not in paths(project, "Cart total")
    assert paths(project, "backoff", mode="lexical") == []


def test_a_renamed_file_is_found_under_its_new_name_only(project: Path) -> None:
    paths(project, "anything")
    (project / "pkg" / "retry.py").rename(project / "pkg" / "Again.py")
    found = paths(project, "retry_with_backoff")
    assert found[0] == "pkg/Again.py"
    assert "pkg/retry.py" not in found


def test_a_touched_file_costs_no_new_generation(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        before = engine.index().generation
        os.utime(project / "pkg" / "retry.py", (1, 1))
        report = engine.index()
        assert (report.n_touched, report.changed, report.generation) == (1, (), before)


def test_a_dry_run_writes_nothing(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        assert set(engine.plan().added) == {"pkg/retry.py", "pkg/cart.py"}
        assert engine.status().n_documents == 0


def test_a_full_run_finds_the_same(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        before = [(hit.chunk.id, round(hit.score, 6)) for hit in engine.search("total of a cart").hits]
        engine.index(full=True)
        assert [(hit.chunk.id, round(hit.score, 6)) for hit in engine.search("total of a cart").hits] == before


def test_levels_and_scopes(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        (symbol, *_) = engine.search("total", level="symbol").hits
        assert (symbol.chunk.symbol, symbol.chunk.start_line, symbol.chunk.end_line) == ("Cart.total", 2, 3)
        (file, *_) = engine.search("retry_with_backoff", level="file").hits
        assert (file.chunk.kind, file.chunk.start_line, file.chunk.end_line) == ("file", 1, 5)
        assert {hit.chunk.path for hit in engine.search("in:Cart total").hits} == {"pkg/cart.py"}
        assert {hit.chunk.path for hit in engine.search("@pkg/retry.py call").hits} == {"pkg/retry.py"}


@pytest.mark.parametrize("query", ["", "  ", "@pkg/nowhere.py x", "@@NoSuchThing x"])
def test_questions_that_mean_nothing_are_refused(project: Path, query: str) -> None:
    with Engine.open(str(project)) as engine, pytest.raises(UsageError):
        engine.search(query)


def test_a_binary_file_is_listed_and_not_indexed(project: Path) -> None:
    (project / "logo.bin").write_bytes(b"\0\1\2" * 50)
    with Engine.open(str(project)) as engine:
        engine.index()
        assert [(item.path, item.reason) for item in engine.status().skipped] == [("logo.bin", "binary")]
        assert engine.status().failures == ()


def test_an_export_is_taken_over(project: Path, tmp_path: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
        lines = list(engine.export("jsonl"))
    shutil.copytree(project, tmp_path / "other", ignore=shutil.ignore_patterns(".fathom"))
    with Engine.open(str(tmp_path / "other")) as other:
        assert other.import_index(iter(lines), "jsonl") == 2
        assert other.status().n_documents == 2


INDEX = "import sys; from codefathom import Engine; Engine.open(sys.argv[1]).index()"


def content(root: Path) -> list[tuple[str, str]]:
    with Engine.open(str(root)) as engine:
        report = engine.index()
        assert not report.failures
        catalog = engine.opened.catalog  # compared with a clean one, whole
        found = [
            (piece.id, piece.text) for document in catalog.documents() for _, piece in catalog.chunks_of(document.path)
        ]
        assert len(engine.search("handler", limit=5).hits) == 5
        return found


def killed_and_clean(tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "many"
    root.mkdir()
    for number in range(150):
        body = "".join(f"def handler_{number}_{i}(value):\n    return value + {i}\n\n\n" for i in range(30))
        (root / f"file_{number}.py").write_text(body)
    chance = random.Random(7)
    for _ in range(rounds):
        child = Started([sys.executable, "-c", INDEX, str(root)])
        time.sleep(chance.uniform(0.05, 1.5))
        child.send_signal(signal.SIGKILL)
        child.wait()
    after_kills = content(root)
    monkeypatch.setenv("FATHOM_INDEX_DIR", str(tmp_path / "clean"))
    assert after_kills == content(root)


def test_a_killed_index_ends_equal_to_a_clean_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_and_clean(tmp_path, 4, monkeypatch)


@pytest.mark.long
def test_many_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_and_clean(tmp_path, 60, monkeypatch)


def test_a_tree_is_looked_at_less_often_when_a_look_takes_long(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    # A second goes by between any two looks at the clock, also while the tree is looked at.
    monkeypatch.setattr(
        "codefathom.project.current_index.time",
        SimpleNamespace(monotonic=lambda: float(next(clock)), perf_counter=time.perf_counter),
    )
    with Engine.open(str(project)) as engine:
        engine.search("retry_with_backoff")
        engine.search("retry_with_backoff")
        (project / "late.py").write_text("def latecomer(): pass\n")
        found_by = next(
            n for n in range(100) if any(h.chunk.path == "late.py" for h in engine.search("latecomer").hits)
        )
    assert 10 < found_by < 40


@pytest.mark.parametrize(
    ("option", "key"), [("--required-exts", "source.required_exts"), ("--ignore", "source.ignore")]
)
def test_the_files_that_a_run_was_given_hold_for_later_runs(
    option: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "zoo"
    (folder / ".fathom").mkdir(parents=True)
    (folder / "keeper.go").write_text("package zoo\nfunc FeedKangaroo() {}\n")
    (folder / "ticket.py").write_text("def sell_ticket(): ...\n")
    at = ("-C", str(folder))
    assert main(["index", "-q", *at, option, ".go" if option == "--required-exts" else "*.py"]) == 0
    (folder / "late.py").write_text("def close_late(): ...\n")
    (folder / "vet.go").write_text("package zoo\nfunc CallVet() {}\n")
    capsys.readouterr()
    assert main(["search", *at, "CallVet"]) == 0  # which takes in what is new
    assert main(["files", *at]) == 0
    listed = capsys.readouterr().out
    assert "vet.go" in listed
    assert ".py" not in listed.partition("\nkeeper.go\n")[2]
    assert main(["index", "-q", *at]) == 0
    assert main(["status", *at]) == 0
    status = capsys.readouterr().out
    assert f"`fathom index {option} ''` ends this" in status
    with Engine.open(str(folder)) as engine:
        assert engine.status().kept == (key,)
    assert main(["index", "-q", *at, option, ""]) == 0
    assert main(["files", *at]) == 0
    assert "late.py" in capsys.readouterr().out
    with Engine.open(str(folder)) as engine:
        assert engine.status().kept == ()


def test_the_files_that_a_search_was_given_hold_for_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "zoo" / ".fathom").mkdir(parents=True)
    (tmp_path / "zoo" / "ticket.py").write_text("def sell_ticket(): ...\n")
    at = ("-C", str(tmp_path / "zoo"))
    assert main(["index", "-q", *at]) == 0
    # No file ends like this: the index stays as it is, and answers.
    assert main(["search", "-q", *at, "--set", "source.required_exts=.go", "sell_ticket"]) == 0
    (tmp_path / "zoo" / "keeper.go").write_text("package zoo\nfunc FeedKangaroo() {}\n")
    assert main(["search", "-q", *at, "--set", "source.required_exts=.go", "--mode", "symbol", "sell_ticket"]) == 1
    assert main(["search", "-q", *at, "sell_ticket"]) == 0


def test_a_broken_file_keeps_what_is_sound_and_is_not_like_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "zoo"
    (folder / ".fathom").mkdir(parents=True)
    (folder / "empty.py").write_text("")
    (folder / "broken.py").write_text(
        "def feed_kangaroo():\n    return 'grass'\n\n\ndef half(:\n    return (\n\n\ndef call_vet():\n    return 1\n"
    )
    assert main(["index", "-q", "-C", str(folder)]) == 0
    assert main(["status", "--json", "-C", str(folder)]) == 0
    (broken,) = json.loads(capsys.readouterr().out)["broken"]
    assert broken["path"] == "broken.py"
    assert "syntax error at line 5" in broken["reason"]
    assert main(["status", "-C", str(folder)]) == 0
    assert "broken.py: syntax error" in capsys.readouterr().out
    assert main(["symbols", "-C", str(folder)]) == 0
    listed = capsys.readouterr().out
    assert "feed_kangaroo" in listed
    assert "call_vet" in listed


def test_what_others_wrote_is_listed_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    table, rows = "a,b\n" * 9_000, '{"a": 1}\n' * 9_000
    files = {
        "vendor/lib/code.go": "package lib\n",
        "third_party/lib/code.c": "int x;\n",
        "node_modules/lib/index.js": "x\n",
        "web/node_modules/lib/index.js": "x\n",
        ".gitignore": "web/node_modules\n",
        "poetry.lock": "[[package]]\n",
        "data/table.csv": table,
        "data/rows.jsonl": rows,
        "data/small.csv": "a,b\n1,2\n",
        "src/vendor/ours.go": "package vendor\n",
        "vendor.go": "package main\n",
    }
    for path, text in files.items():
        (tmp_path / "zoo" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "zoo" / path).write_text(text)
    (tmp_path / "zoo" / ".fathom").mkdir()
    with Engine.open(str(tmp_path / "zoo")) as engine:
        engine.index()
        listed = [file.path for file in engine.files.listed()]
        skipped = {item.path: item.reason for item in engine.status().skipped}
    assert listed == [".gitignore", "data/small.csv", "src/vendor/ours.go", "vendor.go"]
    assert skipped == {
        "vendor/": "vendored",
        "third_party/": "vendored",
        "node_modules/": "vendored",
        "web/node_modules/": "vendored",
        "poetry.lock": "generated",
        "data/table.csv": "data",
        "data/rows.jsonl": "data",
    }


def test_a_folder_that_an_index_above_takes_in_hears_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "above" / ".fathom").mkdir(parents=True)
    (tmp_path / "above" / "inner").mkdir()
    (tmp_path / "above" / "inner" / "zoo.py").write_text("def feed_kangaroo(): ...\n")
    at = ("-C", str(tmp_path / "above" / "inner"))
    assert main(["search", *at, "feed_kangaroo"]) == 0
    assert f"this folder belongs to the project of {tmp_path}/above/.fathom" in capsys.readouterr().err
    (tmp_path / "above" / "inner" / "fathom.toml").touch()
    assert main(["search", *at, "feed_kangaroo"]) == 0
    assert "belongs to" not in capsys.readouterr().err
