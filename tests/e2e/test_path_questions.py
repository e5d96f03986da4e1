"""Answers, contexts, symbols, connections and maps about paths: nothing is told of what lies beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path

import pytest
from tests.e2e.test_ask import call, sse
from tests.e2e.test_ask_agent import final, told
from tests.layout import CHAT, MORNING, NOTES, add_code, make_layout, routes_of, routes_text
from tests.protocols.server import Turn, serving

from codefathom import AnswerRequest
from codefathom.answer.ask import AnswerSources
from codefathom.askers.open_paths import PathSearch
from codefathom.cli import main
from codefathom.config.settings import Settings
from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.stores.lock import writer_lock

QUESTION = "who feeds the kangaroo in the morning"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"FATHOM_{name}_DIR", str(tmp_path / name.lower()))
    top = make_layout(tmp_path / "data")
    add_code(top)
    (top / "uploads" / "aside.py").write_text(MORNING.format(name="aside"))
    (tmp_path / "user.toml").write_text(f"{routes_text(top)}")
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.setenv("FATHOM_RERANK__TOP_N", "50")
    return top


def opened(data: Path, *paths: str) -> PathSearch:
    return PathSearch.open([str(data / path) for path in paths], routes_of(data))


def named(paths: Sequence[str], search: PathSearch) -> set[str]:
    """Return absolute paths for those that begin with their project."""
    return {f"{search.roots[path.partition('/')[0]]}/{path.partition('/')[2]}" for path in paths}


def searched(search: PathSearch) -> set[str]:
    result = search.search(QUESTION, limit=100)
    return {result.path_of(item) for item in result.hits}


def collected(search: PathSearch) -> set[str]:
    return named([file.path for file in search.context(QUESTION, max_files=50, anyway=True).files], search)


def answered(search: PathSearch) -> set[str]:
    """Return what a model would be shown for the answer."""
    first = next(iter(search.ask_events(AnswerRequest(QUESTION, anyway=True))))
    assert isinstance(first, AnswerSources)
    return named([source.path for source in first.sources], search)


def defined(search: PathSearch) -> set[str]:
    return {search.shown_path(name, item.path) for name, item in search.symbols("feed_the_kangaroo").symbols}


def connected(search: PathSearch) -> set[str]:
    results = search.related("@@feed_the_kangaroo").results
    return {search.shown_path(name, edge.path) for name, result in results.items() for edge in result.edges}


def mapped(search: PathSearch) -> set[str]:
    return named([file.path for file in search.map(QUESTION).map.files], search)


FACES: Mapping[str, tuple[Callable[[PathSearch], set[str]], str]] = {
    # each question, and the file that it names in every project
    "search": (searched, "notes.md"),
    "context": (collected, "notes.md"),
    "ask": (answered, "notes.md"),
    "symbols": (defined, "keeper.py"),
    "related": (connected, "morning.py"),
    "map": (mapped, "keeper.py"),
}
CHATS = [f"chats/{CHAT}/notes", "chats/second", "chats/third"]
LAYOUT = [
    (["uploads"], ["uploads/zoo"]),
    (["uploads/zoo"], ["uploads/zoo"]),
    ([f"chats/{CHAT}/notes"], [f"chats/{CHAT}/notes"]),
    (["uploads/zoo", "chats/second"], ["uploads/zoo", "chats/second"]),
    (["chats/../uploads/zoo"], ["uploads/zoo"]),
    (["misc"], ["misc"]),
    (["chats"], CHATS),
    ([""], [*CHATS, "uploads/zoo", "misc"]),
    (["chats/second", "misc"], ["chats/second", "misc"]),
]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("scopes", "expected"), LAYOUT)
def test_each_question_is_answered_from_the_paths_and_from_all_of_them(
    data: Path, face: str, scopes: Sequence[str], expected: Sequence[str]
) -> None:
    ask, name = FACES[face]
    with opened(data, *scopes) as search:
        paths = ask(search)
        assert not search.left_out
    assert {str(data / folder / name) for folder in expected} <= paths
    inside = tuple(f"{os.path.normpath(data / scope)}/" for scope in scopes)
    assert [path for path in paths if not path.startswith(inside)] == []


@pytest.mark.parametrize("face", FACES)
def test_one_file_is_all_that_is_asked_about(data: Path, face: str) -> None:
    ask, name = FACES[face]
    paths = [f"uploads/zoo/{name}", f"chats/second/{name}", f"misc/{name}"]
    with opened(data, *paths) as search:
        result = ask(search)
    own = {str(data / path) for path in paths}
    # The connection of a file of no project with another one is not known: the other one is not read.
    assert result == (own - {str(data / "misc" / name)} if face == "related" else own)


@pytest.mark.parametrize("face", FACES)
def test_a_named_place_is_brought_up_to_date_for_each_question(data: Path, face: str) -> None:
    with opened(data, "uploads/zoo") as search:
        search.search(QUESTION)
    (data / "uploads" / "zoo" / "new.md").write_text(NOTES.format(name="new"))
    (data / "uploads" / "zoo" / "new.py").write_text(MORNING.format(name="new"))
    (data / "uploads" / "zoo" / "more.py").write_text("def feed_the_kangaroo(grass):\n    return 1\n")
    with opened(data, "uploads/zoo") as search:
        assert {str(data / "uploads" / "zoo" / name) for name in ("new.md", "new.py", "more.py")} & FACES[face][0](
            search
        )


def overwrite(catalogue: Path) -> None:
    content = catalogue.read_bytes()
    catalogue.write_bytes(content[:50] + b"x" * (len(content) - 50))


@pytest.mark.parametrize("face", FACES)
def test_a_corrupt_project_of_three_is_named_beside_the_others(
    data: Path, face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_INDEX__WAIT_S", "0")
    ask, name = FACES[face]
    with opened(data, "chats") as search:
        search.search(QUESTION)
        folder = search.engines["chat-second"].place.index_folder
    overwrite(data / ".index" / "chats" / "second" / "catalog.db")
    with writer_lock(folder):  # nobody can make it again
        with opened(data, "chats") as search:
            paths = ask(search)
        with opened(data, "chats") as search:
            failed = {
                "search": lambda: list(search.search(QUESTION).failed),
                "context": lambda: [note.partition(":")[0] for note in search.context(QUESTION).degraded],
                "ask": lambda: [note.partition(":")[0] for note in search.ask(QUESTION).degraded],
                "symbols": lambda: list(search.symbols("feed").failed),
                "related": lambda: list(search.related("@@feed_the_kangaroo").failed),
                "map": lambda: list(search.map(QUESTION).failed),
            }[face]()
    assert {str(data / folder / name) for folder in (CHATS[0], CHATS[2])} <= paths
    assert not any("second" in path for path in paths)
    assert "chat-second" in failed
    with opened(data, "chats") as search:  # once it can be written, it is made again
        assert str(data / "chats" / "second" / name) in ask(search)


@pytest.mark.parametrize("face", FACES)
def test_projects_with_two_models_answer_in_one_process(data: Path, face: str) -> None:
    def settings_of(root: str) -> Settings:
        settings = Settings()
        settings = settings._replace(rerank=settings.rerank._replace(top_n=50))
        if root.endswith("uploads"):
            return settings
        return settings._replace(embed=settings.embed._replace(dimensions=64, reduce="truncate"))

    ask, name = FACES[face]
    paths = [str(data / path) for path in ("uploads/zoo", "chats/second", "misc")]
    with PathSearch.open(paths, routes_of(data), settings_of=settings_of) as search:
        result = ask(search)
        sizes = {name: engine.opened.embedder.dimensions for name, engine in search.engines.items()}
    assert sizes == {"uploads": 256, "chat-second": 64, "files": 256}
    assert {f"{path}/{name}" for path in paths} <= result


def test_a_target_is_a_path_of_the_disk_or_begins_with_its_project(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(data, "uploads/zoo", "chats/second") as search:
        for target in (str(data / "uploads/zoo/keeper.py"), "uploads/zoo/keeper.py"):
            result = search.related(target)
            assert {name: {edge.path for edge in one.edges} for name, one in result.results.items()} == {
                "uploads": {"zoo/morning.py"}
            }
        monkeypatch.chdir(data / "chats")
        assert set(search.related("second/keeper.py").results) == {"chat-second"}
        for target in (str(data / "uploads/aside.py"), "uploads/aside.py"):
            with pytest.raises(UsageError, match="is not in the places that are asked about"):
                search.related(target)
        with pytest.raises(FathomError):
            search.related(str(data.parent / "user.toml"))


def test_a_map_is_kept_to_folders_inside_of_the_paths(data: Path) -> None:
    with opened(data, "uploads", f"chats/{CHAT}") as search:
        outline = search.map(folders=["zoo"], files=[str(data / "uploads/zoo/morning.py")])
        assert {file.path.rpartition("/")[0] for file in outline.map.files} == {"uploads/zoo"}
        assert not outline.failed
        with pytest.raises(SourceError, match="there is no indexed file below 'nowhere'"):
            search.map(folders=["nowhere"])
    with opened(data, "uploads/zoo/keeper.py", "uploads/aside.py") as search:
        assert [file.path for file in search.map(folders=["zoo"]).map.files] == ["uploads/zoo/keeper.py"]
        with pytest.raises(UsageError, match="none of the searched paths is inside nowhere"):
            search.map(folders=["nowhere"])


def test_only_what_lies_in_the_paths_can_be_pinned(data: Path) -> None:
    with opened(data, "uploads/zoo", "chats/second") as search:
        first = next(iter(search.ask_events(AnswerRequest(QUESTION, pinned=("uploads/zoo/keeper.py",)))))
        assert isinstance(first, AnswerSources)
        assert "uploads/zoo/keeper.py" in {source.path for source in first.sources}
        for path in ("uploads/aside.py", "uploads", "uploads/", "chat-third/notes.md", "notes.md"):
            with pytest.raises(SourceError, match="is not inside any of the projects"):
                search.ask(AnswerRequest(QUESTION, pinned=(path,)))


def test_a_file_that_a_search_names_lies_in_the_paths(data: Path) -> None:
    with opened(data, "uploads/zoo", "chats/second") as search:
        result = search.search(QUESTION, files=["uploads/zoo/notes.md"])
        assert {result.path_of(item) for item in result.hits} == {str(data / "uploads/zoo/notes.md")}
        assert not search.search(QUESTION, files=["uploads/aside.py"]).hits


def test_what_is_left_out_is_told_with_an_answer(data: Path) -> None:
    (data / "misc" / "program").write_bytes(b"\0\1\2" * 100)
    with opened(data, "misc", "uploads") as search:
        for degraded in (search.context(QUESTION).degraded, search.ask(QUESTION).degraded):
            assert f"{data / 'misc' / 'program'}: binary" in degraded


def test_a_model_is_shown_and_offered_nothing_beside_the_paths(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the highest level a model chooses from an outline, and connected files are added."""
    judged = Turn([sse('{"relevance_score": 9, "reason": "it says so"}')])
    chosen = Turn([sse('{"files": [{"path": "uploads/zoo/keeper.py"}, {"path": "uploads/aside.py"}]}')])
    with serving(chosen, *[judged] * 6, Turn([sse("Grass [uploads/zoo/notes.md:3].")])) as served:
        monkeypatch.setenv("FATHOM_LLM__MODEL", "openai:m")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served.base_url}/v1")
        main(["ask", "--in", str(data / "uploads" / "zoo"), "--filter-level", "2", "--anyway", QUESTION])
        told_all = json.dumps([one.body for one in served.asked])
    assert "uploads/zoo/keeper.py" in told_all
    assert "aside" not in told_all


def test_an_agent_sees_the_paths_only(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = [
        Turn([call("search_code", question=QUESTION, top_k=20)]),
        Turn([call("find_symbol", name="morning")]),
        Turn([call("related_files", target="@@feed_the_kangaroo")]),
        Turn([call("read_file", file_path="uploads/aside.py")]),
        Turn([call("list_files")]),
    ]
    with serving(*looks, final("Grass [uploads/zoo/notes.md:3].", ("uploads/zoo/notes.md", 3, 3))) as served:
        monkeypatch.setenv("FATHOM_LLM__MODEL", "openai:m")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served.base_url}/v1")
        words = ["--in", str(data / "uploads" / "zoo"), "--in", str(data / "chats" / "second")]
        assert main(["ask", "--agent", "--json", "--set", "agent.rounds=8", *words, QUESTION]) == 0
        observations = [told(served, number) for number in range(1, 6)]
    assert all("uploads/zoo/" in text for text in (*observations[:3], observations[4]))
    assert not any("aside.py:" in text or "morning_of_aside" in text for text in observations)
    assert "chat-third" not in "".join(observations)
    said = json.loads(capsys.readouterr().out)
    assert [place["path"] for place in said["citations"]] == ["uploads/zoo/notes.md"]


# ---- the commands


@pytest.mark.parametrize("command", ["ask", "context", "symbols", "related", "map"])
def test_the_commands_take_paths(data: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    zoo, misc = data / "uploads" / "zoo", data / "misc"
    words = {"symbols": ["feed_the_kangaroo"], "related": ["@@feed_the_kangaroo"]}.get(command, [QUESTION])
    (misc / "program").write_bytes(b"\0\1\2" * 100)
    assert main([command, "--in", str(zoo), "--in", str(misc), *words]) == 0
    said = capsys.readouterr()
    is_absolute = command in ("symbols", "related")
    for written in (zoo, misc) if is_absolute else ("uploads/zoo", "files/"):
        assert str(written) in said.out
    assert "aside" not in said.out
    assert f"{misc / 'program'}: binary" in said.err
    if not is_absolute:
        assert f"uploads/ is {data / 'uploads'}" in said.err
        assert f"files/ is {misc}" in said.err
    assert main([command, "--in", str(zoo), "--in", str(misc), "--json", *words]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["roots"] == {"uploads": str(data / "uploads"), "files": str(misc)}
    if command not in ("ask", "context"):
        assert shape["left_out"] == [{"path": str(misc / "program"), "reason": "binary"}]
        assert shape["failed"] == {}
    else:
        assert f"{misc / 'program'}: binary" in shape["degraded"]


@pytest.mark.parametrize("command", ["ask", "context", "symbols", "related", "map"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--in", "{}/uploads/../user.toml"], "leads out of"),
        (["--in", "{}/nothing"], "there is no file or folder"),
        (["--in", "{}/uploads", "--all"], "--in cannot be used with --all"),
        (["--in", "{}/uploads", "-p", "x"], "--in cannot be used with --project"),
        (["--in", "{}/uploads", "--rev", "x"], "--in cannot be used with --rev"),
        (["--in", "{}/uploads", "-C", "{}"], "--in cannot be used with --source-dir"),
    ],
)
def test_wrong_words_are_clear_errors(
    data: Path, capsys: pytest.CaptureFixture[str], command: str, words: list[str], said: str
) -> None:
    assert main([command, *(word.format(data) for word in words), "kangaroo"]) == 2
    assert said in capsys.readouterr().err


def test_a_conversation_about_paths(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(f"{QUESTION}\n"))
    assert main(["chat", "--anyway", "--in", str(data / "chats" / "second")]) == 0
    said = capsys.readouterr().out
    assert "chat-second/" in said
    assert "uploads" not in said
