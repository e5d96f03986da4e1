"""Texts of the caller that are on no disk: kept in the index as `texts://NAME`, and there like any file."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.packed_texts import replaced_text, with_text_functions
from tests.removing import remove_folder
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.configuration import load_settings
from codefathom.errors import UsageError
from codefathom.index import kept_texts, plan
from codefathom.types import ConsultedFile, PathReport

NOTES = "# Meeting\n\nThe walrus of the north pier is fed by Ada, who refuses to delegate it.\n"
CODE = '"""Ferries."""\n\n\ndef moor_the_ferry(pier):\n    return pier.rope\n'
SECRET = "ghp_" + "a8Kd02mXq7Lz5Rt9Wb3Nv6Yc1Hs4Jf0PuEgT"
TEXTS = {"notes/meeting.md": NOTES, "ferry.py": CODE}
PATHS = ("texts://ferry.py", "texts://notes/meeting.md")


pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "shop").mkdir(parents=True)
    (root / "fathom.toml").write_text("[search]\nlimit = 5\n")
    (root / "shop" / "cart.py").write_text(
        "from ferry import moor_the_ferry\n\n\ndef price(cart):\n    return cart.sum\n"
    )
    (root / "shop" / "readme.md").write_text("# Shop\n\nSells rope and walrus food.\n")
    return root


@pytest.fixture
def kept(project: Path) -> Path:
    """A project whose index keeps two texts."""
    with Engine.open(str(project)) as engine:
        assert engine.update(texts=TEXTS).added == PATHS
    return project


def paths(engine: Engine) -> list[str]:
    return [file.path for file in engine.files.listed()]


def test_a_text_is_found_like_a_file(kept: Path) -> None:
    with Engine.open(str(kept)) as engine:
        hit = engine.search("walrus of the north pier").hits[0]
        assert (hit.chunk.path, hit.stale, hit.chunk.text) == ("texts://notes/meeting.md", False, NOTES)
        (symbol,) = engine.symbols("moor_the_ferry")
        assert (symbol.path, symbol.language, symbol.symbol.start_line) == ("texts://ferry.py", "python", 4)
        assert {file.path for file in engine.files.listed("texts://")} == set(PATHS)
        assert engine.files.lines("texts://ferry.py", 4, 5).text == CODE.partition("\n\n\n")[2]
        assert [item.symbol.name for item in engine.files.outline("texts://ferry.py")] == ["moor_the_ferry"]
        assert engine.status().pending == 0


@pytest.mark.parametrize(
    "limits",
    [
        {"files": ["texts://notes/meeting.md"]},
        {"files": ["texts://notes"]},
        {"files": ["texts://notes/"]},
        {"query": "@texts://notes/meeting.md rope"},
        {"query": "@texts://notes/ rope"},
        {"query": "@meeting.md rope"},
    ],
)
def test_a_search_can_be_kept_to_a_text(kept: Path, limits: dict[str, object]) -> None:
    with Engine.open(str(kept)) as engine:
        result = engine.search(**{"query": "rope", **limits})
        assert [hit.chunk.path for hit in result.hits] == ["texts://notes/meeting.md"]
        assert result.degraded == ()


def test_files_and_texts_change_in_one_transaction(kept: Path) -> None:
    (kept / "shop" / "new.py").write_text("def new():\n    return 1\n")
    (kept / "shop" / "readme.md").unlink()
    settings = load_settings(str(kept), overrides={"search.refresh": "never"})
    with Engine.open(str(kept), settings=settings) as engine:
        before = engine.generation
        changes = {"ferry.py": CODE + "\n\nEMPTY = ()\n", "notes/meeting.md": None, "more.txt": "", "gone.txt": None}
        report = engine.update(["shop"], texts=changes)
        assert engine.generation == before + 1
        assert report.added == ("shop/new.py", "texts://more.txt")
        assert report.changed == ("texts://ferry.py",)
        assert report.removed == ("shop/readme.md", "texts://notes/meeting.md")
        assert report.unchanged == ("shop/cart.py",)
        assert [(item.path, item.reason) for item in report.refused] == [
            ("texts://gone.txt", "there is no text of this name")
        ]
        assert "walrus" not in str(engine.search("walrus", mode="lexical").hits)
        again = engine.update(texts={"ferry.py": CODE + "\n\nEMPTY = ()\n"})
        assert again == PathReport(unchanged=("texts://ferry.py",))
        assert engine.generation == before + 1
        assert engine.update(["."]).unchanged == (
            *("fathom.toml", "shop/cart.py", "shop/new.py"),
            *("texts://ferry.py", "texts://more.txt"),
        )
        assert engine.update(["texts://ferry.py", "texts://"]).unchanged == ("texts://ferry.py", "texts://more.txt")
        (refused,) = engine.update(["texts://nowhere.md"]).refused
        assert refused.reason == "there is no text of this name"


def again(engine: Engine) -> None:
    engine.index()


def from_nothing(engine: Engine) -> None:
    engine.index(full=True)


def after_a_new_version(engine: Engine) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "PARSER_VERSION", "another")
        assert engine.status().pending > 2
        report = engine.index()
        assert set(PATHS) <= set(report.changed)
        assert engine.status().pending == 0


def after_other_limits(engine: Engine) -> None:
    settings = load_settings(engine.root, overrides={"chunk.max_lines": 20})
    with Engine.open(engine.root, settings=settings) as other:
        assert set(PATHS) <= set(other.index().changed)


def after_rules(engine: Engine) -> None:
    settings = load_settings(engine.root, overrides={"source.required_exts": (".toml",), "source.ignore": ("*.md",)})
    with Engine.open(engine.root, settings=settings) as other:
        assert "shop/cart.py" in other.index().removed


@pytest.mark.parametrize("run", [again, from_nothing, after_a_new_version, after_other_limits, after_rules])
def test_no_run_removes_or_changes_a_text(kept: Path, run: Callable[[Engine], None]) -> None:
    with Engine.open(str(kept)) as engine:
        run(engine)
        assert engine.files.lines("texts://notes/meeting.md").text == NOTES
        assert engine.files.lines("texts://ferry.py").text == CODE
        assert engine.symbols("moor_the_ferry")[0].path == "texts://ferry.py"
        (hit,) = engine.search("walrus", files=["texts://notes"]).hits
        assert not hit.stale
        assert engine.update(texts=TEXTS).unchanged == PATHS


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "/",
            ".",
            "../x",
            "a/../b",
            "a//b",
            "/etc/passwd",
            "a\nb",
            "a\x1b[31m",
            "a\0b",
            "\udcff",
            "x" * 501,
            " a",
        ),
        *("a\\b", "a\u202eb", "texts://", "texts://../x"),
    ],
)
def test_hostile_names_are_refused_and_nothing_is_done(kept: Path, name: str) -> None:
    with Engine.open(str(kept)) as engine:
        before = engine.generation
        with pytest.raises(UsageError, match="cannot be the name of a text") as caught:
            engine.update(texts={"fine.md": "fine\n", name: "text\n"})
        assert "notes/meeting.md" in caught.value.hint
        assert (engine.generation, paths(engine)[-2:]) == (before, list(PATHS))


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.pdf", "text", "its name is that of a PDF"),
        ("a.IPYNB", "{}", "its name is that of a PDF, Word document, RTF document or notebook"),
        ("a.txt", "a\0b", "holds a NUL"),
        ("a.txt", "a\ud800b", "half of a surrogate pair"),
        ("a.txt", "\x01\x02\x03\x04" * 9, "binary"),
        ("a.txt", "a" * 4_000_001, "it has 4,000,0"),
        ("ferry.py", "a\0b", "holds a NUL"),
    ],
)
def test_a_text_that_cannot_be_kept_is_refused_with_its_reason(kept: Path, name: str, text: str, reason: str) -> None:
    with Engine.open(str(kept)) as engine:
        report = engine.update(texts={"fine.md": "fine\n", name: text})
        assert report.added == ("texts://fine.md",)
        (refused,) = report.refused
        assert refused.path == f"texts://{name}"
        assert reason in refused.reason
        assert engine.files.lines("texts://ferry.py").text == CODE


def test_there_are_limits_and_reaching_one_changes_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_texts, "MAX_TEXTS", 3)
    monkeypatch.setattr(kept_texts, "MAX_BYTES", 300)
    with Engine.open(str(kept)) as engine:
        before = engine.generation
        with pytest.raises(UsageError, match="keeps at most 3 texts, and with these there would be 4"):
            engine.update(texts={"a.md": "a\n", "b.md": "b\n"})
        with pytest.raises(UsageError, match="keeps at most 300 bytes of texts, and with these there would be"):
            engine.update(texts={"a.md": "a" * 300})
        assert (engine.generation, paths(engine)[-2:]) == (before, list(PATHS))
        assert engine.update(texts={"a.md": "a\n", "b.md": "b\n", "ferry.py": None}).removed == ("texts://ferry.py",)


@pytest.mark.parametrize("text", [f"token = '{SECRET}'\n", "# -*- coding: latin-1 -*-\nprice = '5 €'\n", "\ufeffé\r\n"])
def test_what_is_kept_is_stable(kept: Path, text: str) -> None:
    with Engine.open(str(kept)) as engine:
        engine.update(texts={"odd.py": text})
        before = engine.files.lines("texts://odd.py").text
        assert before == (text if SECRET not in text else before)
        engine.index(full=True)
        assert engine.files.lines("texts://odd.py").text == before
        assert engine.update(texts={"odd.py": text}).unchanged == ("texts://odd.py",)
        assert not any(hit.stale for hit in engine.search("token price é", files=["texts://odd.py"]).hits)


def test_a_secret_in_a_text_is_masked_everywhere(kept: Path, tmp_path: Path) -> None:
    with Engine.open(str(kept)) as engine:
        engine.update(texts={"deploy.env": f"GITHUB_TOKEN={SECRET}\n"})
        hits = engine.search("GITHUB_TOKEN", files=["texts://deploy.env"]).hits
        assert hits and SECRET not in str(hits)
        assert [(item.path, item.line, item.kind) for item in engine.secrets()] == [("texts://deploy.env", 1, "secret")]
        engine.backup(str(tmp_path / "backup"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files and not [path for path in files if SECRET.encode() in path.read_bytes()]


def test_limits_of_size_hold_for_texts(project: Path) -> None:
    (project / "fathom.toml").write_text("[index]\nmin_tokens = 12\nmax_tokens = 100\n")
    texts = {"short.md": "A short walrus.\n", "middle.md": NOTES, "long.md": NOTES * 40}
    with Engine.open(str(project)) as engine:
        assert len(engine.update(texts=texts).added) == 3
        catalog = engine.opened.catalog
        vectors = {chunk.path for chunk in catalog.chunks(dict(catalog.vectors(engine.opened.embedder.name))).values()}
        assert {path for path in vectors if path.startswith("texts://")} == {"texts://middle.md"}
        (hit,) = engine.search("walrus", files=["texts://short.md"]).hits
        assert hit.chunk.text == "A short walrus.\n"


def test_an_answer_cites_a_text(kept: Path) -> None:
    with Engine.open(str(kept)) as engine:
        answer = engine.ask("who feeds the walrus of the north pier")
        assert "texts://notes/meeting.md" in {citation.path for citation in answer.citations}
        assert "[texts://notes/meeting.md:1-3]" in answer.text
        assert any(file.path == "texts://notes/meeting.md" for file in engine.context("walrus of the north pier").files)


# ---- copies of an index


def test_a_backup_has_the_texts_and_brings_them_back(kept: Path, tmp_path: Path) -> None:
    with Engine.open(str(kept)) as engine:
        engine.backup(str(tmp_path / "backup"))
        engine.update(texts=dict.fromkeys(TEXTS))
        assert not engine.search("walrus of the north pier", mode="lexical", files=["texts://"]).hits
        engine.restore(str(tmp_path / "backup"))
        assert engine.search("walrus of the north pier").hits[0].chunk.path == "texts://notes/meeting.md"
        assert engine.index().lost == ""


def test_a_snapshot_has_no_text_and_takes_none_away(kept: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(kept, other, ignore=shutil.ignore_patterns(".fathom"))
    with Engine.open(str(kept)) as engine, Engine.open(str(other)) as theirs:
        exported = engine.export_snapshot(str(tmp_path / "snapshot"))
        assert exported.n_documents == 3
        theirs.update(texts={"own.md": "My own walrus.\n"})
        theirs.import_snapshot(str(tmp_path / "snapshot"))
        assert paths(theirs)[-1] == "texts://own.md"
        assert theirs.search("my own walrus").hits[0].chunk.path == "texts://own.md"
        assert not theirs.symbols("moor_the_ferry")
        assert theirs.index().lost == ""
        assert theirs.update(texts={"own.md": "My own walrus.\n"}).unchanged == ("texts://own.md",)


def test_an_export_has_no_text(kept: Path) -> None:
    with Engine.open(str(kept)) as engine:
        for kind in ("index-json", "jsonl"):
            text = "".join(engine.export(kind))
            assert "cart.py" in text
            assert "texts://" not in text
            assert "walrus of the north" not in text


def test_the_texts_of_a_foreign_index_are_not_believed(kept: Path, tmp_path: Path) -> None:
    remove_folder(tmp_path / "state")
    with Engine.open(str(kept)) as engine:
        report = engine.index()
        assert report.lost == "2 texts that were on no disk are lost; hand them in again"
        assert paths(engine) == ["fathom.toml", "shop/cart.py", "shop/readme.md"]
        assert engine.index().lost == ""


# ---- damage


def spoil_a_row(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as db:
        with_text_functions(db).execute(replaced_text("walrus", "badger"))
        db.commit()


def spoil_the_head(catalogue: Path) -> None:
    catalogue.write_bytes(b"\xff" * 4_096 + catalogue.read_bytes()[4_096:])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_a_row, "2 texts that were on no disk are lost; hand them in again"),
        (spoil_the_head, "texts that were on no disk are lost, if the index had any; hand them in again"),
    ],
)
def test_a_damaged_catalogue_says_that_texts_are_lost(
    kept: Path, spoil: Callable[[Path], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(kept / ".fathom" / "catalog.db")
    assert main(["--source-dir", str(kept), "index"]) == 0
    assert f"lost: {said}\n" in capsys.readouterr().out
    with Engine.open(str(kept)) as engine:
        assert engine.index().lost == ""
        assert paths(engine) == ["fathom.toml", "shop/cart.py", "shop/readme.md"]


def test_a_search_that_repairs_the_catalogue_says_it(kept: Path) -> None:
    spoil_the_head(kept / ".fathom" / "catalog.db")
    with Engine.open(str(kept)) as engine:
        assert any("texts that were on no disk are lost" in text for text in engine.search("walrus").degraded)


# ---- the command line


def say(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_from_the_command_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project / "shop")
    say(monkeypatch, NOTES)
    assert main(["index", "--text", "notes/meeting.md", "--only", "cart.py"]) == 0
    assert capsys.readouterr().out == "+ texts://notes/meeting.md\n1 added, 0 changed, 0 removed, 1 unchanged\n"
    commands = {
        ("search", "--file", "texts://notes/meeting.md", "--format", "path", "walrus"): "texts://notes/meeting.md:3:",
        ("files", "texts://"): "texts://notes/meeting.md",
        ("files",): "texts://notes/meeting.md",
        ("symbols", "--path", "texts://notes/meeting.md"): "Meeting",
    }
    for words, said in commands.items():
        assert main([*words]) == 0, words
        assert said in capsys.readouterr().out, words
    assert main(["index", "--remove-text", "notes/meeting.md", "--remove-text", "none.md", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["removed"] == ["texts://notes/meeting.md"]
    assert report["refused"] == [{"path": "texts://none.md", "reason": "there is no text of this name"}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--text", "../a.md"], "'../a.md' cannot be the name of a text"),
        (["--text", "a.md", "--full"], "--text cannot be used with --full, --dry-run, --watch or --interactive"),
        (["--remove-text", "a.md", "--watch"], "--remove-text cannot be used with"),
        (["--text", "a.md", "--rev", "HEAD"], "cannot be updated by paths"),
    ],
)
def test_wrong_commands_say_what_is_wrong(
    kept: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say(monkeypatch, NOTES)
    if "--rev" in words:
        user = ("-c", "user.name=A", "-c", "user.email=a@b")
        for command in (("init", "-q"), ("add", "-A"), (*user, "commit", "-qm", "x")):
            subprocess.run(["git", *command], cwd=kept, check=True, timeout=LONG_S)
    assert main(["--source-dir", str(kept), "index", *words]) == 2
    assert said in capsys.readouterr().err


def test_each_text_that_is_looked_into_is_told(kept: Path) -> None:
    told: list[ConsultedFile] = []
    with Engine.open(str(kept)) as engine:
        engine.search("walrus", files=["texts://notes", "texts://none"], on_file=told.append)
    assert told == [
        ConsultedFile("texts://notes/meeting.md", "unchanged"),
        ConsultedFile("texts://none", "refused", "there is no text of this name"),
        ConsultedFile("texts://notes/meeting.md", "read"),
    ]
