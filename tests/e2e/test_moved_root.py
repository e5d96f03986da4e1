"""A project's folder, or one above it, becomes a link: nothing is read or written there, and all faces say so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.mcp_session import McpSession
from tests.removing import remove_folder
from tests.scip_files import index
from tests.traps import Elsewhere

from codefathom.askers.open_projects import Federation
from codefathom.askers.project_list import ProjectList
from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import MovedError, SettingsError
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.types import IndexReport, Progress

MARK = "zebra_of_somebody_else"


@pytest.fixture
def root(shop: Path) -> Path:
    """The shop in a folder below another one, with an index."""
    (shop.parent / "above").mkdir()
    root = shop.rename(shop.parent / "above" / "shop").resolve()
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


@pytest.fixture
def elsewhere(root: Path, tmp_path: Path) -> Elsewhere:
    """A folder of somebody else with the same names in it, and a settings file of his."""
    place = tmp_path.resolve() / "outside" / "shop"
    elsewhere = Elsewhere(place)
    shutil.copytree(root, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".fathom"))
    for file in [*place.rglob("*.py"), place / "shop" / "outside.py"]:
        file.write_text(f"def {MARK}():\n    return '{MARK}'\n")
    (place / "fathom.toml").write_text(f"[search]\nlimit = '{MARK}'\n")
    elsewhere.look_again()
    return elsewhere


def root_itself(root: Path, outside: Path) -> Path:
    root.rename(root.with_name("true-shop"))
    root.symlink_to(outside)
    return root


def folder_above(root: Path, outside: Path) -> Path:
    root.parent.rename(root.parent.with_name("true-above"))
    root.parent.symlink_to(outside.parent)
    return root.parent


Move = Callable[[Path, Path], Path]
Moves = pytest.mark.parametrize("move", [root_itself, folder_above], ids=["root", "above"])

PLACE = "shop/pricing.py"
# All that may be asked of an engine, as far as it comes to the project.
QUESTIONS: dict[str, Callable[[Engine, Path], object]] = {
    "answer": lambda engine, _: result_of(engine, Question(MARK)),
    "ask": lambda engine, _: engine.ask(MARK),
    "ask_events": lambda engine, _: list(engine.ask_events(MARK)),
    "blame": lambda engine, _: engine.blame(PLACE, 1, 9),
    "backup": lambda engine, out: engine.backup(str(out / "backup")),
    "chat_model": lambda engine, _: engine.chat_model("ollama:m"),
    "context": lambda engine, _: engine.context(MARK, anyway=True),
    "damage": lambda engine, _: engine.damage,
    "doctor": lambda engine, _: engine.doctor(),
    "export": lambda engine, _: list(engine.export("jsonl")),
    "export_faiss": lambda engine, out: engine.export_faiss(str(out)),
    "export_snapshot": lambda engine, out: engine.export_snapshot(str(out / "snapshot")),
    "files": lambda engine, _: engine.files.lines(PLACE),
    "first_run": lambda engine, _: engine.first_run,
    "generation": lambda engine, _: engine.generation,
    "history": lambda engine, _: engine.history(PLACE),
    "impact": lambda engine, _: engine.impact("HEAD"),
    "glance": lambda engine, _: engine.glance(),
    "tour": lambda engine, _: engine.tour(),
    "import_index": lambda engine, _: engine.import_index(iter(["{}"]), "index-json"),
    "import_scip": lambda engine, out: engine.import_scip([written(out)]),
    "import_snapshot": lambda engine, out: engine.import_snapshot(str(out / "snapshot")),
    "index": lambda engine, _: engine.index(full=True),
    "index_events": lambda engine, _: list(engine.index_events()),
    "investigate": lambda engine, _: list(engine.investigate(MARK)),
    "is_written": lambda engine, _: engine.is_written,
    "kept_to": lambda engine, _: engine.kept_to([PLACE]),
    "lacks_views": lambda engine, _: engine.lacks_views,
    "leaving": lambda engine, _: engine.leaving(),
    "link_files": lambda engine, _: engine.link_files(),
    "map": lambda engine, _: engine.map(MARK),
    "marked": lambda engine, _: engine.marked((), 0),
    "module_map": lambda engine, _: engine.module_map(),
    "n_symbols": lambda engine, _: engine.n_symbols(MARK),
    "name_at": lambda engine, _: engine.name_at(PLACE, 1, MARK),
    "notices": lambda engine, _: next(engine.notices(lambda: False)),
    "opened": lambda engine, _: engine.opened,
    "picture": lambda engine, _: engine.picture(PLACE),
    "plan": lambda engine, _: engine.plan(),
    "rank_files": lambda engine, _: list(engine.rank_files()),
    "read_signs": lambda engine, _: engine.read_signs(),
    "recent_commits": lambda engine, _: engine.recent_commits(5),
    "refresh": lambda engine, _: engine.refresh(),
    "related": lambda engine, _: engine.related(PLACE),
    "remove_index": lambda engine, _: engine.remove_index(),
    "remove_scip": lambda engine, _: engine.remove_scip(),
    "restore": lambda engine, out: engine.restore(str(out / "backup")),
    "search": lambda engine, _: engine.search(MARK),
    "secrets": lambda engine, _: engine.secrets(),
    "status": lambda engine, _: engine.status(),
    "stores": lambda engine, _: engine.stores,
    "symbols": lambda engine, _: engine.symbols(MARK),
    "take_in": lambda engine, _: engine.take_in([PLACE]),
    "unindexed": lambda engine, _: engine.unindexed.search(MARK),
    "update": lambda engine, _: engine.update([PLACE]),
    "watch": lambda engine, _: next(engine.watch(lambda: False)),
    "with_settings": lambda engine, _: engine.with_settings(engine.settings),
}


def written(folder: Path) -> str:
    """Return the path of a SCIP index without documents."""
    path = folder / "index.scip"
    path.write_bytes(index([]))
    return str(path)


KINDS: dict[str, Callable[[Engine, Path], object]] = {  # that have no method of their own
    "parts of a map": lambda engine, _: result_of(engine, Question(kind="map", as_parts=True)),
    "lines": lambda engine, _: result_of(engine, Question(PLACE, "lines")),
    "texts": lambda engine, _: result_of(engine, Question(kind="texts", files=(PLACE,))),
    "outlines": lambda engine, _: result_of(engine, Question(kind="outlines", files=(PLACE,))),
}
# They come to no file of the project; indexes of revisions lie in the user's cache.
OTHERS = {
    "close",
    "damages",  # the same as `damage`
    "folder",
    "hides_secrets",
    "index_dir",
    "is_fleet",
    "open",
    "place",
    "remove_revision",
    "revisions",
    "root",
    "settings",
}


def test_the_table_of_questions_is_complete() -> None:
    assert QUESTIONS.keys() | OTHERS == {name for name in dir(Engine) if not name.startswith("_")}


@Moves
@pytest.mark.parametrize("is_open", [True, False], ids=["opened before", "opened afterwards"])
def test_an_engine_refuses_all_questions(
    root: Path, elsewhere: Elsewhere, tmp_path: Path, move: Move, is_open: bool
) -> None:
    with Engine.open(str(root)) as engine:
        if is_open:
            engine.search("price")
            engine.backup(str(tmp_path / "backup"))
            engine.export_snapshot(str(tmp_path / "snapshot"))
        part = move(root, elsewhere.path)
        for name, ask in {**QUESTIONS, **KINDS}.items():
            with pytest.raises(MovedError) as error:
                ask(engine, tmp_path)
            assert str(error.value) == (
                f"the project {str(root)!r} has moved: {str(part)!r} is a link or a file now, not a folder"
            ), name
    assert elsewhere.is_untouched()


@Moves
def test_a_run_stops_when_the_root_becomes_a_link(root: Path, elsewhere: Elsewhere, move: Move) -> None:
    """What the index has of the files stays: they are not taken for unreadable ones."""
    (root / "shop" / "pricing.py").write_text("def changed():\n    return 2\n")
    with Engine.open(str(root)) as engine:
        n_before = engine.status().n_documents
        with pytest.raises(MovedError):
            for event in engine.index_events(full=True):
                if isinstance(event, Progress) and event.phase == "index" and not event.n_done:
                    part = move(root, elsewhere.path)
    assert elsewhere.is_untouched()
    part.unlink()
    (part.parent / f"true-{part.name}").rename(part)
    with Engine.open(str(root)) as engine:
        assert engine.index().failures == ()
        assert engine.status().n_documents == n_before
        assert MARK not in "".join(engine.export("jsonl"))


def test_files_that_become_links_during_a_run_are_not_read(root: Path, elsewhere: Elsewhere) -> None:
    outside = elsewhere.path / "shop"
    with Engine.open(str(root)) as engine:
        report = None
        for event in engine.index_events(full=True):
            if isinstance(event, Progress) and event.phase == "index" and not event.n_done:
                (root / "shop").rename(root / "shop-was")
                (root / "shop").symlink_to(outside)
                (root / "fathom.toml").unlink()
                (root / "fathom.toml").symlink_to(elsewhere.path / "fathom.toml")
            report = event
        assert isinstance(report, IndexReport)
        assert {item.reason for item in report.failures} == {"unreadable"}
        assert MARK not in "".join(engine.export("jsonl"))
        assert MARK not in repr(engine.search(MARK, mode="lexical").hits)
    assert elsewhere.is_untouched()


@Moves
def test_a_watch_ends_with_the_reason(root: Path, elsewhere: Elsewhere, move: Move) -> None:
    with Engine.open(str(root)) as engine:
        reports = engine.watch(lambda: False, interval_s=0.01)
        next(reports)
        move(root, elsewhere.path)
        with pytest.raises(MovedError, match="has moved"):
            next(reports)
    assert elsewhere.is_untouched()


COMMANDS = {
    "search": ["search", MARK],
    "symbols": ["symbols", MARK],
    "related": ["related", PLACE],
    "map": ["map"],
    "context": ["context", MARK],
    "ask": ["ask", MARK],
}


@Moves
def test_a_named_project_that_moved_is_told_by_every_command(
    root: Path,
    elsewhere: Elsewhere,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    move: Move,
) -> None:
    ProjectList().add(str(root), "mine")
    move(root, elsewhere.path)
    monkeypatch.chdir(tmp_path)
    for name, words in COMMANDS.items():
        assert main([*words, "--project", "mine"]) == 2, name
        said = "".join(capsys.readouterr())
        assert "has moved" in said, name
        assert f"def {MARK}" not in said, name
    assert elsewhere.is_untouched()


@Moves
def test_a_session_of_an_agent_tells_it(root: Path, elsewhere: Elsewhere, tmp_path: Path, move: Move) -> None:
    ProjectList().add(str(root), "mine")
    with McpSession(root) as inside, McpSession(tmp_path, "--project", "mine") as named:
        tools = {
            "search": {"query": "price"},
            "read": {"path": PLACE},
            "related": {"target": PLACE},
            "map": {},
        }
        for session in (inside, named):
            listed = session.ask("tools/list")["result"]["tools"]
            assert {tool["name"] for tool in listed} == tools.keys()
        assert inside.content("search", query="price")["hits"]
        move(root, elsewhere.path)
        for session in (inside, named):
            for tool, arguments in tools.items():
                said = session.refusal(tool, **arguments)
                assert "has moved" in said, tool
                assert MARK not in said
    assert elsewhere.is_untouched()


@Moves
def test_questions_to_several_projects_tell_it(root: Path, elsewhere: Elsewhere, move: Move) -> None:
    ProjectList().add(str(root), "mine")
    move(root, elsewhere.path)
    with Federation.open(["mine"]) as federation, pytest.raises(MovedError):
        federation.search("price")
    assert elsewhere.is_untouched()


def test_a_folder_of_files_that_a_link_leads_out_of_the_project_is_refused(root: Path, elsewhere: Elsewhere) -> None:
    remove_folder(root / "shop")
    (root / "shop").symlink_to(elsewhere.path / "shop")
    settings = Engine.open(str(root)).settings
    settings = settings._replace(source=settings.source._replace(dir="shop"))
    with Engine.open(str(root), settings=settings) as engine, pytest.raises(SettingsError, match="over a link"):
        engine.index()
    assert elsewhere.is_untouched()
