"""Named files are taken in on the way, in one transaction, and nothing else is looked at."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.settings import Settings
from codefathom.errors import UsageError
from codefathom.types import ConsultedFile

WORDS = ("kestrel", "sparrow", "wagtail", "plover", "curlew", "dunlin", "godwit", "whimbrel", "turnstone", "sanderling")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cache", "state"):
        monkeypatch.setenv(f"FATHOM_{name.upper()}_DIR", str(tmp_path / name))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for folder in ("birds", "birds/small", "fish"):
        (root / folder).mkdir(parents=True)
    (root / "fathom.toml").write_text("[search]\nrefresh = 'never'\n")
    for number, word in enumerate(WORDS):
        folder = ("birds", "birds/small", "fish")[number % 3]
        (root / folder / f"{word}.py").write_text(f"def find_{word}(place):\n    return place.{word}\n")
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


def never() -> Settings:
    settings = Settings()
    return settings._replace(search=settings.search._replace(refresh="never"))


def test_a_named_file_is_taken_in_and_others_are_not(project: Path) -> None:
    (project / "birds" / "kestrel.py").write_text("def hover_above_the_motorway():\n    return 1\n")
    (project / "fish" / "pike.py").write_text("def hover_above_the_gravel():\n    return 2\n")
    with Engine.open(str(project), settings=never()) as engine:
        assert "motorway" not in str(engine.search("hover above the motorway").hits)
        result = engine.search("hover above the motorway", files=["birds/kestrel.py"])
        assert [hit.chunk.path for hit in result.hits] == ["birds/kestrel.py"]
        assert "motorway" in result.hits[0].chunk.text
        assert not engine.symbols("hover_above_the_gravel")
        assert engine.symbols("hover_above_the_motorway")


def test_hits_of_a_file_come_whatever_ranks_higher_elsewhere(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        everywhere = engine.search("find the kestrel", limit=1)
        assert everywhere.hits[0].chunk.path == "birds/kestrel.py"
        result = engine.search("find the kestrel", limit=1, files=["fish"])
        assert result.hits[0].chunk.path.startswith("fish/")
        result = engine.search(
            "find the kestrel", files=["birds/small/sparrow.py", str(project / "fish" / "wagtail.py")]
        )
        assert {hit.chunk.path for hit in result.hits} <= {"birds/small/sparrow.py", "fish/wagtail.py"}
        assert result.hits


def test_what_became_of_each_file_is_said(project: Path) -> None:
    (project / ".gitignore").write_text("*.log\n")
    (project / "run.log").write_text("a line\n")
    (project / "birds" / "kestrel.py").write_text("def find_nothing():\n    return None\n")
    (project / "birds" / "new.py").write_text("def new():\n    return None\n")
    (project / "birds" / "raw.bin").write_bytes(bytes(range(256)))
    (project / "birds" / "plover.py").unlink()
    with Engine.open(str(project), settings=never()) as engine:
        before = engine.generation
        report = engine.update(["birds", "run.log", "nowhere.py"])
        assert engine.generation == before + 1  # one transaction
        assert report.added == ("birds/new.py",)
        assert report.changed == ("birds/kestrel.py",)
        assert report.removed == ("birds/plover.py",)
        assert set(report.unchanged) == {f"birds/{name}" for name in ("godwit.py", "sanderling.py")} | {
            f"birds/small/{name}.py" for name in ("sparrow", "curlew", "whimbrel")
        }
        reasons = {item.path: item.reason for item in report.refused}
        assert reasons["birds/raw.bin"] == "binary"
        assert "ignore rule" in reasons["run.log"]
        assert reasons["nowhere.py"] == "there is no such file"
        again = engine.update(["birds"])
        assert (again.added, again.changed, again.removed) == ((), (), ())
        assert engine.generation == before + 1


def link_out(project: Path) -> str:
    (project / "out").symlink_to(project.parent)
    return "out/secret.py"


@pytest.mark.parametrize(
    "path",
    [
        lambda _: "../secret.py",
        lambda _: "birds/../../secret.py",
        lambda project: str(project.parent / "secret.py"),
        lambda _: "/etc/passwd",
        lambda _: "a\0b",
        link_out,
    ],
)
def test_no_path_leads_out(project: Path, path: Callable[[Path], str]) -> None:
    (project.parent / "secret.py").write_text("def secret():\n    return 17\n")
    with Engine.open(str(project)) as engine:
        for ask in (lambda: engine.update([path(project)]), lambda: engine.search("secret", files=[path(project)])):
            with pytest.raises(UsageError, match=r"outside the project|UTF-8|NUL"):
                ask()
            (project / "out").unlink(missing_ok=True)
        assert not engine.symbols("secret")


def test_nothing_named_is_an_error(project: Path) -> None:
    with Engine.open(str(project)) as engine, pytest.raises(UsageError, match="no path is named"):
        engine.update([])


def test_an_index_that_is_not_there_is_made_first(project: Path) -> None:
    shutil.rmtree(project / ".fathom")
    with Engine.open(str(project)) as engine:
        assert engine.update(["fish"]).unchanged
        assert engine.symbols("find_kestrel")


def content(engine: Engine) -> list[tuple[object, ...]]:
    catalog = engine.opened.catalog
    vectors = dict(catalog.vectors(engine.opened.embedder.name))
    chunks = catalog.chunks(vectors)
    return sorted((chunk.path, chunk.start_line, chunk.text, vectors[key]) for key, chunk in chunks.items())


def edit(project: Path, chance: random.Random) -> list[str]:
    """Do some changes, and return the paths that were touched."""
    named = []
    for _ in range(chance.randrange(1, 5)):
        files = sorted(path for path in project.rglob("*.py"))
        path = chance.choice(files)
        word = chance.choice(WORDS)
        match chance.randrange(5):
            case 0 if len(files) > 3:
                path.unlink()
            case 1:
                new = path.with_name(f"{word}_{chance.randrange(9)}.py")
                path.rename(new)
                named.append(str(new.relative_to(project)))
            case 2:
                path.write_text(path.read_text() + f"\n\ndef {word}_{chance.randrange(99)}():\n    return '{word}'\n")
            case 3:
                folder = project / f"folder_{chance.randrange(3)}"
                folder.mkdir(exist_ok=True)
                (folder / f"{word}.py").write_text(f"{word} = {chance.randrange(99)}\n")
                named.append(folder.name)
            case _:
                os.utime(path)
        named.append(str(path.relative_to(project)))
    return named


@pytest.mark.parametrize("seed", range(10))
def test_edits_of_named_files_end_equal_to_a_clean_index(project: Path, seed: int) -> None:
    """Ten times twenty scripts of edits; the last one is compared with an index from nothing."""
    chance = random.Random(seed)
    with Engine.open(str(project), settings=never()) as engine:
        for _ in range(20):
            named = edit(project, chance)
            assert not [item for item in engine.update(named).refused if (project / item.path).exists()]
        by_path = content(engine)
        words = {word: [item.path for item in engine.symbols(f"find_{word}")] for word in WORDS}
        engine.index(full=True)
        assert by_path == content(engine)
        assert words == {word: [item.path for item in engine.symbols(f"find_{word}")] for word in WORDS}
        assert all(check.ok for check in engine.doctor() if check.name in {"catalogue", "views"})


def test_from_the_command_line(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "birds")
    (project / "birds" / "kestrel.py").write_text("def hover_above_the_motorway():\n    return 1\n")
    assert main(["index", "--only", "kestrel.py", "--only", "fish"]) == 0
    assert capsys.readouterr().out == "~ birds/kestrel.py\n0 added, 1 changed, 0 removed, 3 unchanged\n"
    (project / "birds" / "kestrel.py").unlink()
    assert main(["index", "--only", "kestrel.py", "--only", "../nothing.py", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["removed"] == ["birds/kestrel.py"]
    assert said["refused"] == [{"path": "nothing.py", "reason": "there is no such file"}]
    assert main(["index", "--only", "/etc/passwd"]) == 2
    assert main(["index", "--only", "x.py", "--full"]) == 2
    capsys.readouterr()
    (project / "fish" / "eel.py").write_text("def slip_through_the_reeds():\n    return 3\n")
    assert main(["search", "--file", "fish/eel.py", "--format", "path", "slip through the reeds"]) == 0
    assert capsys.readouterr().out.startswith("fish/eel.py:1:")
    assert main(["search", "--file", "nothing.py", "slip through the reeds"]) == 1
    assert "nothing.py: there is no such file" in capsys.readouterr().err


def test_each_file_that_is_looked_into_is_told(project: Path) -> None:
    (project / "birds" / "kestrel.py").write_text("def hover_above_the_motorway():\n    return 1\n")
    (project / "birds" / "new.py").write_text("def hover_above_the_canal():\n    return 1\n")
    told: list[ConsultedFile] = []
    files = ["birds/kestrel.py", "birds/new.py", "birds/none.py", "birds/plover.py"]
    with Engine.open(str(project), settings=never()) as engine:
        result = engine.search("hover above", files=files, mode="lexical", on_file=told.append)
        paths = list(dict.fromkeys(hit.chunk.path for hit in result.hits))
        assert set(paths) == {"birds/kestrel.py", "birds/new.py"}
        assert told == [
            ConsultedFile("birds/new.py", "added"),
            ConsultedFile("birds/kestrel.py", "changed"),
            ConsultedFile("birds/plover.py", "unchanged"),
            ConsultedFile("birds/none.py", "refused", "there is no such file"),
            *(ConsultedFile(path, "read") for path in paths),
        ]
        (project / "birds" / "new.py").write_text("def hover_no_more():\n    return 1\n")
        told.clear()
        engine.search("hover above the canal", limit=1, on_file=told.append)
        assert told == [ConsultedFile("birds/new.py", "read", "it has changed since it was indexed")]
