"""An index folder that came with a repository: whatever lies in it, no command reaches further than this folder."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import cycle, islice
from pathlib import Path

import pytest
from tests.removing import remove_folder
from tests.traps import TRAPS, Elsewhere, Trap, deep_folder, journal_that_names, plant
from tests.waiting import LONG_S

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import DamagedError, IndexingError
from codefathom.project.browsing import IndexSummary, index_summary
from codefathom.project.location import locate, word_of
from codefathom.server.jobs.job_child import messages
from codefathom.server.jobs.job_messages import Order, Report
from codefathom.server.server_database import ServerDatabase
from codefathom.stores.cache import FORMAT, Cache
from codefathom.stores.folder import Folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")

HERE = Path(__file__)

# Every name that we use in the folder; N is the folder that the lexical view lies in, V that of the vectors.
NAMES = (
    *("write.lock", ".gitignore", "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.db-journal"),
    *("catalog.db.damaged", "catalog.db.broken", "lexical", "lexical/state", "lexical/state.new", "lexical/N"),
    *("lexical/2", "lexical/N/meta.json", "lexical/N/.managed.json", "lexical/N/.tantivy-writer.lock"),
    *("lexical/N/.tantivy-meta.lock", "lexical/N/terms.1", "lexical/N/terms.2", "lexical/N/terms.2.new"),
    *("V", "V/vectors.bin", "V/vectors.bin.new"),
    *("V/changes.bin", "V/signs.bin", "V/signs.bin.new", "tree.stamps", "tree.stamps.new", "tree.later"),
    *("V/checked", "V/checked.new", "lexical/checked", "lexical/checked.new"),
    *(f"graph.{name}{ending}" for name in ("imports", "links", "map", "stems") for ending in ("", ".new")),
)


def index(project: Path) -> None:
    assert main(["index", "-C", str(project)]) in {0, 2}


def search(project: Path) -> None:
    assert main(["search", "-C", str(project), "feed the kangaroo"]) in {0, 1, 2}


def status(project: Path) -> None:
    assert main(["status", "-C", str(project)]) in {0, 1, 2}


def doctor(project: Path) -> None:
    assert main(["doctor", "-C", str(project)]) in {0, 1, 2}


def import_(project: Path) -> None:
    lines = project.parent / "lines.json"
    lines.write_text(json.dumps({"relative_path": "new.py", "content": [{"source_code": "new = 1\n"}]}))
    assert main(["import", "-C", str(project), "--as", "jsonl", str(lines)]) in {0, 2}


def watch(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        assert list(engine.watch(lambda: True))


def glanced(project: Path) -> IndexSummary | None:
    place = locate(str(project))
    return index_summary(place.index_folder, word_of(place))


def serve(project: Path) -> None:
    with suppress(DamagedError):  # as the server's list of projects, which shows it
        glanced(project)
    assert isinstance(list(messages(Order(str(project))))[-1], Report)


COMMANDS: dict[str, Callable[[Path], None]] = {
    "index": index,
    "search": search,
    "status": status,
    "doctor": doctor,
    "import": import_,
    "watch": watch,
    "serve": serve,
}


def made(folder: Path) -> Path:
    """Make a project with an index, which something has changed since."""
    project = folder / "whole"
    project.mkdir()
    (project / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
    (project / "fathom.toml").touch()
    with Engine.open(str(project)) as engine:
        engine.index()
    (project / "pond.py").write_text("def feed_duck():\n    return 'bread'\n")
    return project


def place_of(name: str, project: Path) -> Path:
    folder = project / ".fathom"
    view = next(path.name for path in (folder / "lexical").iterdir() if path.name.isdecimal())
    vectors = next(path.name for path in folder.iterdir() if path.name.startswith("vectors-"))
    parts = [{"N": view, "V": vectors}.get(part, part) for part in name.split("/")]
    return folder.joinpath(*parts)


def check(name: str, n_commands: int, scratch: Path) -> Iterator[str]:
    """Try every trap at a name with so many of the commands, others for each trap; yield what came to harm."""
    whole = made(scratch)
    commands = cycle(COMMANDS.items())
    for number, (kind, trap) in enumerate(TRAPS.items()):
        for what, command in islice(commands, n_commands):
            place = scratch / f"{number}-{what}"
            project, elsewhere = place / "project", Elsewhere(place / "elsewhere")
            shutil.copytree(whole, project)
            if number % 2:  # else it is known to this user by no more than its folder
                index(project)
            plant(place_of(name, project), trap, elsewhere)
            command(project)
            if not elsewhere.is_untouched():
                yield f"{what} changed something elsewhere by a {kind} as {name}"
            elsewhere.look_again()
            index(project)
            if main(["search", "-C", str(project), "feed the duck"]) or not elsewhere.is_untouched():
                yield f"after {what} with a {kind} as {name} the index was not made again"
            remove_folder(place)


@pytest.mark.parametrize("n_commands", [1, pytest.param(len(COMMANDS), marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_elsewhere_changes_and_the_index_is_made_again(name: str, n_commands: int, tmp_path: Path) -> None:
    # In another process: what waits for a pipe could not be ended here.
    root = str(HERE.parents[2])
    environment = {**os.environ, "FATHOM_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": root}
    environment["FATHOM_STATE_DIR"] = str(tmp_path / "state")
    command = [sys.executable, str(HERE), name, str(n_commands), str(tmp_path)]
    process = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, timeout=LONG_S, check=False
    )
    harm = [line for line in process.stdout.splitlines() if line.startswith("HARM")]
    assert (harm, process.returncode) == ([], 0), process.stderr[-2_000:]


# ---- what a file that is no link can name


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    return made(tmp_path)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path / "elsewhere")


def test_a_journal_of_sqlite_removes_no_file_that_it_names(whole: Path, elsewhere: Elsewhere) -> None:
    (whole / ".fathom" / "catalog.db-journal").write_bytes(journal_that_names(elsewhere.file))
    for command in COMMANDS.values():
        command(whole)
        assert elsewhere.is_untouched()
    assert main(["search", "-C", str(whole), "feed the duck"]) == 0


def test_a_journal_in_the_users_cache_removes_none_either(elsewhere: Elsewhere, tmp_path: Path) -> None:
    for _ in range(2):
        with closing(Cache.open(str(tmp_path / "cache"))) as cache:
            cache.put_parsed({"key": b"parsed"})
            assert cache.get_parsed(["key"]) == {"key": b"parsed"}
        assert elsewhere.is_untouched()
        journal = Path(cache.path + "-journal")
        journal.write_bytes(journal_that_names(elsewhere.file))


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS.keys())
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal", ".broken"])
def test_the_users_cache_reaches_nothing_elsewhere(
    ending: str, trap: Trap, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    Cache.open(str(tmp_path / "cache")).close()
    plant(next((tmp_path / "cache").glob("cache-*.db")).with_name(f"cache-{FORMAT}.db{ending}"), trap, elsewhere)
    with closing(Cache.open(str(tmp_path / "cache"))) as cache:
        cache.put_parsed({"key": b"parsed"})
        assert cache.get_parsed(["key"]) == {"key": b"parsed"}
    assert elsewhere.is_untouched()


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS.keys())
@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_the_servers_files_reach_nothing_elsewhere(
    ending: str, trap: Trap, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    tables = "CREATE TABLE IF NOT EXISTS kept(x)"
    ServerDatabase(str(tmp_path / "data" / "jobs.db"), tables).close()
    plant(tmp_path / "data" / f"jobs.db{ending}", trap, elsewhere)
    database = ServerDatabase(str(tmp_path / "data" / "jobs.db"), tables)
    database.write("INSERT INTO kept VALUES (1)")
    assert database.read("SELECT x FROM kept") == [(1,)]
    database.close()
    assert elsewhere.is_untouched()


@pytest.mark.parametrize("kind", TRAPS)
def test_a_file_of_the_server_that_is_none_is_refused(kind: str, elsewhere: Elsewhere, tmp_path: Path) -> None:
    # What is kept there cannot be made again, so that a person must look.
    (tmp_path / "data").mkdir()
    plant(tmp_path / "data" / "jobs.db", TRAPS[kind], elsewhere)
    with pytest.raises(IndexingError, match=r"jobs\.db"):
        ServerDatabase(str(tmp_path / "data" / "jobs.db"), "")
    assert elsewhere.is_untouched()


def test_the_lexical_view_removes_no_file_that_its_list_names(whole: Path, elsewhere: Elsewhere) -> None:
    managed = place_of("lexical/N/.managed.json", whole)
    names = json.loads(managed.read_text())
    for path in (str(elsewhere.file), os.path.relpath(elsewhere.file, managed.parent)):
        for text in (json.dumps([*names, path]), json.dumps([*names, path]).replace("/", "\\u002f")):
            managed.write_text(text)
            index(whole)
            assert elsewhere.is_untouched()
            managed = place_of("lexical/N/.managed.json", whole)
            (whole / "pond.py").write_text(f"def feed_duck():\n    return {len(text)}\n")
    assert main(["search", "-C", str(whole), "feed the duck"]) == 0


SCHEMAS = {
    "a trigger": "CREATE TRIGGER other AFTER INSERT ON documents BEGIN DELETE FROM chunks; END",
    "a view": "CREATE VIEW other AS SELECT * FROM chunks",
    "a table": "CREATE TABLE other(x)",
    "an index": "CREATE INDEX other ON chunks(packed)",
    "a virtual table": "CREATE VIRTUAL TABLE other USING fts5(x)",
    "a changed table": "ALTER TABLE chunks ADD COLUMN other",
    "a view that computes for ever, as the table that is read first": (
        "DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE n(key, value) AS "
        "(SELECT '', 0 UNION ALL SELECT '', value + 1 FROM n) SELECT key, value FROM n WHERE value < 0"
    ),
}


@pytest.mark.parametrize("statements", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_a_catalogue_with_other_tables_is_set_aside(whole: Path, statements: str) -> None:
    with closing(sqlite3.connect(whole / ".fathom" / "catalog.db")) as db:
        db.executescript(statements)
    assert glanced(whole) is None
    assert main(["search", "-C", str(whole), "feed the duck"]) == 0
    with closing(sqlite3.connect(whole / ".fathom" / "catalog.db")) as db:
        assert "other" not in str(db.execute("SELECT * FROM sqlite_master").fetchall())
    assert (whole / ".fathom" / "catalog.db.broken").exists()


# ---- the folder itself


@pytest.mark.parametrize("kind", [kind for kind in TRAPS if kind != "folder"])
def test_an_index_folder_that_is_none_is_named_and_left_alone(
    kind: str, tmp_path: Path, elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("a = 1\n")
    plant(tmp_path / "project" / ".fathom", TRAPS[kind], elsewhere)
    for words in (["index"], ["search", "a"], ["status"], ["doctor"], ["symbols"], ["export", "--as", "jsonl"]):
        assert main([*words, "-C", str(tmp_path / "project")]) == 2
        said = capsys.readouterr().err
        assert ".fathom" in said
        assert "hint: remove this" in said
    assert glanced(tmp_path / "project") is None
    assert elsewhere.is_untouched()
    assert os.path.lexists(tmp_path / "project" / ".fathom")


def test_a_folder_of_many_strange_things_costs_time_only(whole: Path, elsewhere: Elsewhere) -> None:
    folder = whole / ".fathom"
    for name in ("1" * 200, "\u0663", "1000000000", "-1", "0", "3"):
        (folder / "lexical" / name).symlink_to(elsewhere.path)
    for number in range(5_000):
        (folder / "lexical" / f"x{number}").symlink_to(elsewhere.file)
    deep_folder(folder / "deep", elsewhere)
    deep_folder(folder / "lexical" / "9", elsewhere)
    for command in COMMANDS.values():
        command(whole)
    assert elsewhere.is_untouched()
    assert not (folder / "lexical" / "9").exists()
    Folder(str(folder)).remove("deep")


if __name__ == "__main__":
    for harm in check(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])):
        print("HARM", harm)
