"""The first index of a worktree, clone or copy begins with a copy of the other index, and is equal to a clean one."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.packed_texts import readable_bytes
from tests.removing import remove_folder

from codefathom import Engine
from codefathom.cli import main
from codefathom.config.settings import Settings
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.stores.lock import writer_lock

N_FILES = 310
SECRET = "heliotrope"  # a word of one file


pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """A project with an index."""
    root = tmp_path / "original"
    root.mkdir()
    (root / "fathom.toml").touch()
    chance = random.Random(17)
    for number in range(N_FILES):
        nouns = ["".join(chance.choices("bcdfgklmnprst", k=3)) + "al" for _ in range(9)]  # so that no two are alike
        body = "".join(
            f"def step_{number}_{i}(value):\n    {nouns[i]} = {' + '.join(nouns[3:])}\n    return value * {i}\n\n\n"
            for i in range(1)
        )
        (root / f"module_{number}.py").write_text(f'"""Module {number}: {" ".join(nouns)}."""\n\n\n{body}')
    (root / "private.py").write_text(f"def {SECRET}_price():\n    return 17\n")
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


def copy_of(original: Path, name: str) -> Path:
    return Path(shutil.copytree(original, original.parent / name, ignore=shutil.ignore_patterns(".fathom")))


def indexed(root: Path, **index: Any) -> list[str]:
    """Index a project, and return what was said."""
    said: list[str] = []
    settings = Settings()
    settings = settings._replace(index=settings.index._replace(**index))
    with Engine.open(str(root), settings=settings, on_wait=said.append) as engine:
        engine.index()
    return said


def content(root: Path) -> list[tuple[object, ...]]:
    """Return all that searches can see, without numbers that depend on the order of the work."""
    with Engine.open(str(root)) as engine:
        catalog = engine.opened.catalog
        chunks = catalog.chunks(key for key, _ in catalog.vectors(engine.opened.embedder.name))
        vectors = dict(catalog.vectors(engine.opened.embedder.name))
        return sorted((chunk.path, chunk.start_line, chunk.text, vectors[key]) for key, chunk in chunks.items())


def answers(root: Path) -> list[list[tuple[str, int, float]]]:
    with Engine.open(str(root)) as engine:
        # The words of some modules: what stands everywhere would give equal ranks, which the order of the work breaks.
        heads = [_words_of(path) for path in sorted(root.glob("module_1*.py"))[:100:23]]
        results = [engine.search(query) for query in ("step_9_0", *filter(None, heads))]
        return [[(hit.chunk.path, hit.line, round(hit.score, 9)) for hit in result.hits] for result in results]


def _words_of(path: Path) -> str:
    return path.read_text(errors="replace").partition(": ")[2].partition(".")[0][:80]


def clean(root: Path) -> Path:
    other = Path(shutil.copytree(root, root.parent / f"{root.name}-clean", ignore=shutil.ignore_patterns(".fathom")))
    assert indexed(other, siblings=False) == []
    return other


def test_a_copy_ends_equal_to_a_clean_index(original: Path) -> None:
    copy = copy_of(original, "copy")
    (copy / "module_7.py").write_text("def step_of_another_kind(value):\n    return value\n")
    (copy / "new.py").write_text("def added_here():\n    return 1\n")
    (copy / "private.py").unlink()
    (said,) = indexed(copy)
    assert said == f"{original} has nearly the same files: the index begins with a copy of its index"
    other = clean(copy)
    assert content(copy) == content(other)
    assert answers(copy) == answers(other)
    with Engine.open(str(copy)) as engine:
        assert all(check.ok for check in engine.doctor() if check.name in {"catalogue", "views", "index folder"})
        assert engine.plan().n_unchanged == N_FILES + 2


def test_files_of_the_views_are_shared_and_changes_are_not(original: Path) -> None:
    copy = copy_of(original, "copy")
    indexed(copy)
    shared = [path for path in (copy / ".fathom" / "lexical").rglob("*") if path.stat().st_nlink == 2]
    assert any(path.suffix == ".term" for path in shared)
    before = answers(copy), content(copy)
    for path in original.glob("module_*.py"):
        path.write_text(path.read_text().replace("value", "amount"))
    with Engine.open(str(original)) as engine:
        engine.index()
        assert engine.search("amount").hits
    assert (answers(copy), content(copy)) == before
    for path in copy.glob("module_1*.py"):
        path.unlink()
    changed = answers(original), content(original)
    indexed(copy)
    assert (answers(original), content(original)) == changed
    remove_folder(original)
    assert answers(copy)


def test_nothing_of_other_files_is_left_in_the_copy(original: Path) -> None:
    copy = copy_of(original, "copy")
    (copy / "private.py").unlink()
    assert len(indexed(copy)) == 1
    for path in (copy / ".fathom").rglob("*"):
        assert path.is_dir() or path.suffix == ".term" or SECRET.encode() not in readable_bytes(path), path


@pytest.mark.parametrize("stamp", [None, -1, 0])
def test_time_stamps_of_the_other_tree_do_not_count(original: Path, stamp: int | None) -> None:
    copy = copy_of(original, "copy")
    path = copy / "module_3.py"
    stamp = path.stat().st_mtime_ns if stamp is None else stamp
    path.write_text(path.read_text().replace("step_3_0", "path_3_0"))
    os.utime(path, ns=(stamp, stamp))
    indexed(copy)
    with Engine.open(str(copy)) as engine:
        assert [item.path for item in engine.symbols("path_3_0")] == ["module_3.py"]
        assert not engine.symbols("step_3_0")


def test_nothing_of_a_file_of_the_same_size_is_taken_over(original: Path) -> None:
    """A folder that imitates names, sizes and time stamps of another project shows nothing of what stands there."""
    lines = f"def {SECRET}_price():\n    return 17\n"
    (original / "module_3.py").write_text(lines)
    (original / "large.py").write_text("def entry(value):\n    return value * 2\n\n" * 110_000 + lines)
    assert (original / "large.py").stat().st_size > MAX_WHOLE_FILE_BYTES  # such a file is read in another way
    indexed(original)
    copy = copy_of(original, "copy")
    for path in copy.iterdir():
        stamp = (original / path.name).stat().st_mtime_ns
        path.write_text(path.read_text().replace(SECRET, "x" * len(SECRET)))
        os.utime(path, ns=(stamp, stamp))
    begin_and_stop(copy)
    for path in (copy / ".fathom").glob("catalog*"):
        assert SECRET.encode() not in readable_bytes(path), path
    settings = Settings()
    settings = settings._replace(search=settings.search._replace(refresh="never"))
    with Engine.open(str(copy), settings=settings) as engine:
        assert engine.search("step_9_0").hits
        assert not [hit for hit in engine.search(SECRET).hits if SECRET in hit.chunk.text]


def begin_and_stop(root: Path) -> None:
    """Begin the index of a copy, and stop before any file was indexed."""
    said: list[str] = []
    with Engine.open(str(root), on_wait=said.append) as engine, closing(engine.index_events()) as events:
        next(events)
    assert len(said) == 1  # the index of the sibling is there


def change_most_files(copy: Path, _: Path, __: pytest.MonkeyPatch) -> None:
    for path in list(copy.glob("module_*.py"))[:200]:
        path.write_text(path.read_text() + "# more\n")


def forget(_: Path, __: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", "elsewhere")


def damage(_: Path, original: Path, __: pytest.MonkeyPatch) -> None:
    catalogue = original / ".fathom" / "catalog.db"
    content = bytearray(catalogue.read_bytes())
    place = content.index(b"module_77")
    content[place : place + 3] = b"XYZ"
    catalogue.write_bytes(content)


def exchange(_: Path, original: Path, __: pytest.MonkeyPatch) -> None:
    remove_folder(original / ".fathom")
    (original / ".fathom").write_text("no folder")


@pytest.mark.parametrize("change", [change_most_files, forget, damage, exchange])
def test_what_cannot_be_taken_is_made_from_nothing(
    original: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, Path, pytest.MonkeyPatch], None]
) -> None:
    monkeypatch.chdir(original.parent)
    copy = copy_of(original, "copy")
    change(copy, original, monkeypatch)
    assert indexed(copy) == []
    assert answers(copy) == answers(clean(copy))


def test_an_index_with_secrets_is_not_taken_for_one_without(original: Path) -> None:
    kept = Settings()
    kept = kept._replace(source=kept.source._replace(secrets="keep"))
    with Engine.open(str(original), settings=kept) as engine:
        engine.index(full=True)
    copy = copy_of(original, "copy")
    assert indexed(copy) == []


def test_an_index_that_is_being_written_is_copied_without_its_views(original: Path) -> None:
    copy = copy_of(original, "copy")
    with Engine.open(str(original)) as engine, writer_lock(engine.place.index_folder):
        assert len(indexed(copy)) == 1
    lexical = (copy / ".fathom" / "lexical").rglob("*")
    assert not [path for path in lexical if path.is_file() and path.stat().st_nlink > 1]
    assert answers(copy) == answers(clean(copy))


def test_the_command_says_it_and_can_be_told_not_to(
    original: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copy_of(original, "copy")
    assert main(["index", "--source-dir", str(copy)]) == 0
    said = capsys.readouterr()
    assert "the index begins with a copy of its index" in said.err
    assert f"{N_FILES + 2} unchanged" in said.out + said.err
    monkeypatch.setenv("FATHOM_INDEX__SIBLINGS", "false")
    assert main(["index", "--source-dir", str(copy_of(original, "another"))]) == 0
    assert "nearly the same" not in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(4))
def test_any_copy_ends_equal_to_a_clean_index(original: Path, seed: int) -> None:
    chance = random.Random(seed)
    copy = copy_of(original, "copy")
    for path in chance.sample(sorted(copy.glob("module_*.py")), 30):
        match chance.randrange(4):
            case 0:
                path.unlink()
            case 1:
                path.rename(path.with_name(f"renamed_{path.name}"))
            case 2:
                path.write_text(path.read_text().replace("return", "yield", 1))
            case _:
                path.write_bytes(bytes(chance.randbytes(50)))
    assert len(indexed(copy)) == 1
    other = clean(copy)
    assert content(copy) == content(other)
    # Further down, equal ranks are broken by the order of the work, as after any change.
    assert [hits[0][:2] for hits in answers(copy)] == [hits[0][:2] for hits in answers(other)]
