"""Named files are taken in on the way, in one transaction, and nothing else is looked at."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.removing import remove_folder

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.settings import Settings
from codefathom.errors import UsageError
from codefathom.types import ConsultedFile

WORDS = ("kestrel", "sparrow", "wagtail", "plover", "curlew", "dunlin", "godwit", "whimbrel", "turnstone", "sanderling")


pytestmark = pytest.mark.usefixtures("own_folders")


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
    (project / "empty").mkdir()
    with Engine.open(str(project), settings=never()) as engine:
        before = engine.generation
        report = engine.update(["birds", "run.log", "nowhere.py", "empty"])
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
        assert reasons["empty"] == "no file of this folder is indexed"
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
    remove_folder(project / ".fathom")
    with Engine.open(str(project)) as engine:
        assert engine.update(["fish"]).unchanged
        assert engine.symbols("find_kestrel")


def content(engine: Engine) -> list[tuple[object, ...]]:
    """Return all chunks, with the vectors of those that are embedded."""
    catalog = engine.opened.catalog
    vectors = dict(catalog.vectors(engine.opened.embedder.name))
    pieces = [piece for path in stored(engine) for piece in catalog.chunks_of(path)]
    return sorted((piece.path, piece.start_line, piece.text, vectors.get(key, b"")) for key, piece in pieces)


def stored(engine: Engine) -> list[str]:
    return [document.path for document in engine.opened.catalog.documents()]


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


def some_texts(chance: random.Random) -> dict[str, str | None]:
    """Return texts of the caller, some of which remove one or cannot be kept."""
    texts: dict[str, str | None] = {}
    for _ in range(chance.randrange(3)):
        word = chance.choice(WORDS)
        name = chance.choice((f"{word}.py", f"notes/{word}.md", f"{word}.pdf"))
        text = f"def {word}_{chance.randrange(9)}(place):\n    return '{word}'\n" * chance.randrange(1, 30)
        texts[name] = chance.choice(
            (text, text, f"{text}token = 'ghp_{word}a8Kd02mXq7Lz5Rt9Wb3Nv6Yc1Hs4Jf0P'\n", None, "\0")
        )
    return texts


def limited(chance: random.Random) -> Settings:
    """Return settings with limits of size that leave out some of the files and texts, or none."""
    settings = never()
    fewest, most = chance.choice(((0, 0), (12, 0), (0, 60), (12, 60)))
    return settings._replace(index=settings.index._replace(min_tokens=fewest, max_tokens=most))


def keep(kept: dict[str, str], texts: dict[str, str | None], refused: set[str]) -> None:
    """Follow in a dictionary what the index is to keep."""
    for name, text in texts.items():
        if text is None:
            kept.pop(name, None)
        elif f"texts://{name}" not in refused:
            kept[name] = text


def rounds(project: Path, seed: int) -> None:
    """Do twenty updates with files and texts, then compare with the index of a copy that was made at once."""
    chance = random.Random(seed)
    settings = limited(chance)
    kept: dict[str, str] = {}
    with Engine.open(str(project), settings=settings) as engine:
        engine.index()  # the limits of size concern files, too, that no update names
        for _ in range(20):
            named, texts = edit(project, chance), some_texts(chance)
            refused = {item.path for item in engine.update(named, texts=texts).refused}
            wrong = {name for name, text in texts.items() if text == "\0" or (text and name.endswith(".pdf"))}
            unknown = {name for name, text in texts.items() if text is None and name not in kept}
            assert {path for path in refused if path.startswith("texts://")} == {
                f"texts://{name}" for name in wrong | unknown
            }
            assert not [path for path in refused if (project / path).is_file()]
            keep(kept, texts, refused)
            if chance.random() < 0.1:
                engine.index()
        by_path, symbols = content(engine), engine.symbols(limit=10_000)
        assert {path for path in stored(engine) if path.startswith("texts://")} == {f"texts://{name}" for name in kept}
        assert all(check.ok for check in engine.doctor() if check.name in {"catalogue", "views"})
        engine.index(full=True)
        assert (content(engine), engine.symbols(limit=10_000)) == (by_path, symbols)
    copy = project.with_name("copy")
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".fathom"))
    with Engine.open(str(copy), settings=settings) as clean:
        clean.update(["."], texts=kept)
        assert (content(clean), clean.symbols(limit=10_000)) == (by_path, symbols)


@pytest.mark.parametrize("seed", range(10))
def test_edits_of_named_files_and_texts_end_equal_to_a_clean_index(project: Path, seed: int) -> None:
    rounds(project, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1_000, 1_200))
def test_two_hundred_scripts_of_edits_end_equal_to_a_clean_index(project: Path, seed: int) -> None:
    rounds(project, seed)


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
