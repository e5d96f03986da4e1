"""A question to paths: routes say to which projects they belong, and what belongs to none is searched on the fly."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.layout import CHAT, NOTES, make_layout, routes_of, routes_text

from codefathom.askers.joined import FederatedSearch
from codefathom.askers.loose_files import LooseBudget
from codefathom.askers.open_paths import PathSearch, user_routes
from codefathom.askers.path_scopes import PathResolver
from codefathom.askers.routes import PathRoute
from codefathom.cli import main
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.project.location import locate
from codefathom.search.federation import BY_RANK, order_of


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The layout of the document: uploads and chats, and files that belong to neither."""
    for name in ("CACHE", "STATE"):
        monkeypatch.setenv(f"FATHOM_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "none.toml"))
    top = make_layout(tmp_path / "data")
    (top / "uploads" / "price.py").write_text("def price_of_an_order(order):\n    return sum(order.prices)\n")
    (tmp_path / "secret.md").write_text(NOTES.format(name="secret"))
    return top


def asked(data: Path, *paths: object, question: str = "who feeds the kangaroo", limit: int = 20) -> FederatedSearch:
    with PathSearch.open([str(path) for path in paths], routes_of(data)) as search:
        return search.search(question, limit=limit)


def places(result: FederatedSearch, data: Path) -> set[str]:
    return {os.path.relpath(result.path_of(item), data) for item in result.hits}


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (["uploads"], {"uploads": "uploads/zoo/notes.md"}),
        (["uploads/zoo"], {"uploads": "uploads/zoo/notes.md"}),
        (["uploads/zoo/notes.md"], {"uploads": "uploads/zoo/notes.md"}),
        ([f"chats/{CHAT}/notes"], {f"chat-{CHAT}": f"chats/{CHAT}/notes/notes.md"}),
        (
            ["uploads", "chats/second/notes.md"],
            {"uploads": "uploads/zoo/notes.md", "chat-second": "chats/second/notes.md"},
        ),
        (["chats/../uploads/zoo"], {"uploads": "uploads/zoo/notes.md"}),
        (["misc/notes.md"], {"files": "misc/notes.md"}),
        (["misc"], {"files": "misc/notes.md"}),
        (
            ["chats"],
            {
                f"chat-{CHAT}": f"chats/{CHAT}/notes/notes.md",
                "chat-second": "chats/second/notes.md",
                "chat-third": "chats/third/notes.md",
            },
        ),
        (
            [""],
            {
                f"chat-{CHAT}": f"chats/{CHAT}/notes/notes.md",
                "chat-second": "chats/second/notes.md",
                "chat-third": "chats/third/notes.md",
                "uploads": "uploads/zoo/notes.md",
                "files": "misc/notes.md",
            },
        ),
    ],
)
def test_a_path_is_searched_in_the_projects_that_it_belongs_to(
    data: Path, scopes: Sequence[str], expected: dict[str, str]
) -> None:
    result = asked(data, *(data / scope for scope in scopes))
    best = {item.project_id: os.path.relpath(result.path_of(item), data) for item in reversed(result.hits)}
    assert best == expected
    assert set(result.results) == set(expected)
    assert not result.failed
    assert not result.left_out
    scores = [item.hit.score for item in result.hits]
    assert scores == sorted(scores, reverse=True)


def test_each_index_lies_where_its_rule_says(data: Path) -> None:
    asked(data, data / "uploads", data / "chats" / CHAT)
    assert (data / ".index" / "uploads" / "catalog.sqlite").is_file() or list((data / ".index" / "uploads").iterdir())
    assert (data / ".index" / "chats" / CHAT).is_dir()
    assert not (data / "uploads" / ".fathom").exists()


def test_a_named_place_is_brought_up_to_date_and_nothing_else_is_shown(data: Path) -> None:
    asked(data, data / "uploads")
    (data / "uploads" / "zoo" / "notes.md").write_text("# New\n\nThe wombat sleeps all day.\n")
    result = asked(data, data / "uploads" / "zoo", question="wombat sleeps")
    assert [item.hit.chunk.text for item in result.hits if "wombat" in item.hit.chunk.text]
    assert places(result, data) == {"uploads/zoo/notes.md"}


def test_a_folder_with_spaces_is_a_project(data: Path) -> None:
    folder = data / "chats" / "my notes (2)"
    folder.mkdir()
    (folder / "notes.md").write_text("The kangaroo sleeps at noon.\n", encoding="utf-8")
    result = asked(data, folder)
    assert result.roots == {"chat-my%20notes%20%282%29": str(folder)}
    assert places(result, data) == {"chats/my notes (2)/notes.md"}


def test_the_root_is_what_the_rule_says_whatever_lies_above(data: Path) -> None:
    (data / "fathom.toml").touch()
    (data / ".git").mkdir()
    result = asked(data, data / "chats" / "second")
    assert result.roots == {"chat-second": str(data / "chats" / "second")}
    assert places(result, data) == {"chats/second/notes.md"}
    assert locate(str(data / "chats" / "second")).root == str(data)
    with Engine.open(str(data / "chats" / "second"), is_root=True) as engine:
        assert engine.root == str(data / "chats" / "second")
    with pytest.raises(SourceError, match="no such folder"):
        Engine.open(str(data / "nothing"), is_root=True)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("uploads/../../secret.md", "leads out of"),
        ("uploads/../chats/second/notes.md", "leads out of"),
        (f"chats/{CHAT}/../second/notes.md", "leads out of"),
        ("uploads/link.md", "leads out of"),
        ("uploads/folder/secret.md", "leads out of"),
        ("chats/linked/secret.md", "leads out of"),
        ("chats/linked", "leads out of"),
        ("uploads/../../nothing.md", "leads out of"),
        ("x/../uploads/../../secret.md", "leads out of"),
        ("uploads/nothing.md", "there is no file or folder"),
        ("nothing", "there is no file or folder"),
        ("misc/a\0b", "there is no file or folder"),
    ],
)
def test_no_path_leads_out_of_a_project_or_to_nothing(data: Path, path: str, said: str) -> None:
    (data / "uploads" / "link.md").symlink_to(data.parent / "secret.md")
    (data / "uploads" / "folder").symlink_to(data.parent)
    (data / "chats" / "linked").symlink_to(data.parent)
    with pytest.raises(UsageError, match=said) as raised:
        asked(data, data / "misc", f"{data}/{path}")
    assert repr(f"{data}/{path}")[1:-1] in str(raised.value)
    assert raised.value.hint
    assert not (data / ".index").exists()


def test_links_inside_a_project_and_to_the_layout_work(data: Path) -> None:
    (data / "uploads" / "same.md").symlink_to(data / "uploads" / "zoo" / "notes.md")
    assert places(asked(data, data / "uploads" / "same.md"), data) == {"uploads/zoo/notes.md"}
    (data.parent / "other").symlink_to(data)
    with PathSearch.open([f"{data.parent}/other/uploads"], routes_of(data.parent / "other")) as search:
        assert search.search("who feeds the kangaroo").roots == {"uploads": f"{data}/uploads"}


def test_nothing_exists_outside_of_what_may_be_named(data: Path) -> None:
    said = []
    for path in (data.parent / "secret.md", data.parent / "nothing.md", data / "nothing.md"):
        with pytest.raises(UsageError) as raised:
            PathSearch.open([str(path)], routes_of(data), within=[str(data)])
        said.append(str(raised.value).replace(str(path), "PATH"))
    assert len(set(said)) == 1
    with pytest.raises(UsageError, match="there is no file or folder"):
        PathSearch.open([str(data / "misc")], routes_of(data), within=[])
    with PathSearch.open([str(data / "misc")], routes_of(data), within=[str(data)]) as search:
        assert search.search("who feeds the kangaroo").hits


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_an_empty_question_is_an_error(data: Path, question: str) -> None:
    with pytest.raises(UsageError, match="the query is empty"):
        asked(data, data / "uploads", data / "misc", question=question)
    with pytest.raises(UsageError, match="no path is named"):
        asked(data)
    with pytest.raises(UsageError, match="there is no file or folder ''"):
        asked(data, "")


@pytest.mark.parametrize("part", ["catalog.db", "lexical", "vectors-*"])
@pytest.mark.parametrize("is_open", [False, True])
def test_a_damaged_project_stops_no_other(data: Path, part: str, is_open: bool) -> None:
    names = (CHAT, "second", "third")
    chats = [str(data / "chats" / name) for name in names]
    with PathSearch.open(chats, routes_of(data), settings_of=never_refreshed) as search:
        assert len(search.search("who feeds the kangaroo", limit=20).results) == 3
        if is_open:
            damage(data / ".index" / "chats" / "second", part)
            check_others_answer(search.search("the weight of the animal", limit=20))
    damage(data / ".index" / "chats" / "second", part)
    with PathSearch.open(chats, routes_of(data), settings_of=never_refreshed) as search:
        check_others_answer(search.search("who feeds the kangaroo", limit=20))


def damage(folder: Path, part: str) -> None:
    (place,) = folder.glob(part)
    for file in [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]:
        content = file.read_bytes()
        with file.open("r+b") as opened:
            opened.write(content[:50] + b"x" * (len(content) - 50))


def check_others_answer(result: FederatedSearch) -> None:
    """What is damaged is made again or named; the others answer in any case."""
    assert {f"chat-{CHAT}", "chat-third"} <= {item.project_id for item in result.hits}
    assert set(result.failed) | set(result.results) == {f"chat-{CHAT}", "chat-second", "chat-third"}
    assert set(result.failed) <= {"chat-second"}


def test_a_project_that_cannot_be_opened_or_read_is_named(data: Path) -> None:
    chats = [data / "chats" / name for name in (CHAT, "second", "third")]
    (chats[0] / "fathom.toml").write_text("[search]\nlimit = 0\n")
    (data / ".index" / "chats").mkdir(parents=True)
    (data / ".index" / "chats" / "third").write_text("no folder")
    result = asked(data, *chats, data / "misc")
    assert {item.project_id for item in result.hits} == {"chat-second", "files"}
    assert set(result.failed) == {f"chat-{CHAT}", "chat-third"}
    assert "search.limit" in str(result.failed[f"chat-{CHAT}"])
    with pytest.raises(FathomError, match=r"search\.limit"):
        asked(data, chats[0])


def never_refreshed(root: str) -> Settings:
    settings = Settings()
    return settings._replace(search=settings.search._replace(refresh="never"))


def test_more_projects_than_one_question_takes_are_counted(data: Path) -> None:
    scopes = PathResolver(routes_of(data)).scopes([str(data / "uploads"), str(data)], most_projects=2)
    assert [folder.project for folder in scopes.projects] == ["uploads", f"chat-{CHAT}"]
    assert [(item.path, item.reason) for item in scopes.left_out] == [
        (str(data), "2 of the projects here are left out: one question is asked to at most 2")
    ]


def test_folders_with_nothing_to_search_are_an_error(data: Path) -> None:
    (data / "empty" / "inside").mkdir(parents=True)
    os.mkfifo(data / "empty" / "pipe")
    with pytest.raises(UsageError, match="nothing can be searched in"):
        asked(data, data / "empty")
    with pytest.raises(UsageError, match="not a regular file"):
        asked(data, data / "empty" / "pipe")


def test_two_projects_of_one_name_are_told_apart(data: Path) -> None:
    routes = (PathRoute(f"{data}/uploads", "files"), PathRoute(f"{data}/chats/second", "files"))
    paths = [str(data / name) for name in ("uploads", "chats/second", "misc")]
    with PathSearch.open(paths, routes) as search:
        result = search.search("who feeds the kangaroo", limit=20)
    assert result.roots == {"files": paths[0], "files-2": paths[1], "files-3": paths[2]}
    assert {item.project_id for item in result.hits} == {"files", "files-2", "files-3"}


def test_equal_files_are_listed_once_and_the_limit_holds(data: Path) -> None:
    text = (data / "uploads" / "zoo" / "notes.md").read_text()
    for name in ("chats/second", "misc"):
        (data / name / "notes.md").write_text(text)
    result = asked(data, data / "uploads", data / "chats" / "second", data / "misc")
    assert len([item for item in result.hits if item.hit.chunk.text == text]) == 1
    assert len(asked(data, data, limit=2).hits) == 2


def test_projects_with_two_models_are_ordered_by_rank(data: Path) -> None:
    def settings_of(root: str) -> Settings:
        settings = Settings()
        if root.endswith("uploads"):
            return settings
        return settings._replace(embed=settings.embed._replace(dimensions=64, reduce="truncate"))

    paths = [str(data / name) for name in ("uploads", "chats/second", "misc")]
    with PathSearch.open(paths, routes_of(data), settings_of=settings_of) as search:
        result = search.search("who feeds the kangaroo", mode="vector", limit=20)
    assert order_of(result.results.values()) == BY_RANK
    assert {item.project_id for item in result.hits} == {"uploads", "chat-second", "files"}


# ---- the command


@pytest.fixture
def configured(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The layout, with its rules in the user's settings file."""
    (data.parent / "user.toml").write_text(f"[search]\nlimit = 7\n{routes_text(data)}")
    monkeypatch.setenv("FATHOM_CONFIG", str(data.parent / "user.toml"))
    return data


def test_the_command_takes_paths(configured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chat, misc = configured / "chats" / CHAT, configured / "misc"
    (misc / "program").write_bytes(b"\0\1\2" * 100)
    words = ["search", "--in", str(chat), "--in", str(misc), "who feeds the kangaroo"]
    assert main([*words, "--format", "path"]) == 0
    said = capsys.readouterr()
    assert {line.partition(":")[0] for line in said.out.splitlines()} == {
        str(chat / "notes" / "notes.md"),
        str(misc / "notes.md"),
    }
    assert f"{misc / 'program'}: binary" in said.err
    assert main(words) == 0
    assert str(misc / "notes.md") in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["roots"] == {f"chat-{CHAT}": str(chat), "files": str(misc)}
    assert {(hit["project"], hit["path"]) for hit in shape["hits"]} == {
        (f"chat-{CHAT}", "notes/notes.md"),
        ("files", "notes.md"),
    }
    assert shape["left_out"] == [{"path": str(misc / "program"), "reason": "binary"}]
    assert shape["failed"] == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--in", "{}/uploads/../../secret.md", "kangaroo"], "leads out of"),
        (["--in", "{}/nothing", "kangaroo"], "there is no file or folder"),
        (["--in", "{}/uploads", " "], "the query is empty"),
        (["--in", "{}/uploads", "--all", "kangaroo"], "--in cannot be used with --all"),
        (["--in", "{}/uploads", "-p", "x", "kangaroo"], "--in cannot be used with --project"),
        (["--in", "{}/uploads", "--file", "x", "kangaroo"], "--in cannot be used with --file"),
        (["--in", "{}/uploads", "--rev", "x", "kangaroo"], "--in cannot be used with --rev"),
        (["--in", "{}/uploads", "-C", "{}", "kangaroo"], "--in cannot be used with --source-dir"),
    ],
)
def test_wrong_words_are_clear_errors(
    configured: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["search", *(word.format(configured) for word in words)]) == 2
    assert said in capsys.readouterr().err


def test_a_path_as_it_was_typed_begins_at_the_current_folder(
    configured: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(configured / "chats" / CHAT / "notes")
    for typed, place in [
        (".", f"chats/{CHAT}/notes/notes.md"),
        ("notes.md", f"chats/{CHAT}/notes/notes.md"),
        ("../../second", "chats/second/notes.md"),
    ]:
        assert main(["search", "--in", typed, "--format", "path", "who feeds the kangaroo"]) == 0
        assert capsys.readouterr().out.startswith(f"{configured / place}:")


def test_only_the_user_sets_routes(configured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = configured / "chats" / "second"
    (folder / "fathom.toml").write_text('[[routes]]\npattern = "/"\nproject = "all"\n')
    assert user_routes() == routes_of(configured)
    assert main(["-C", str(folder), "search", "who feeds the kangaroo"]) == 0
    assert "fathom.toml sets routes, which is ignored" in capsys.readouterr().err
    (folder / "fathom.toml").write_text("routes = 7\n")
    assert main(["-C", str(folder), "search", "who feeds the kangaroo"]) == 0
    assert "fathom.toml sets routes, which is ignored" in capsys.readouterr().err
    Path(os.environ["FATHOM_CONFIG"]).write_text('[[routes]]\npattern = "data"\nproject = "p"\n')
    assert main(["search", "--in", str(folder), "kangaroo"]) == 2
    said = capsys.readouterr().err
    assert "user.toml: the pattern of a route cannot be 'data'" in said
    assert main(["-C", str(folder), "search", "who feeds the kangaroo"]) == 0


# ---- files of no project


def test_named_files_are_searched_whatever_their_folder_and_name(data: Path) -> None:
    for name in ("node_modules/a/quokka.js", ".cache/quokka.txt", "build/quokka.min.css"):
        place = data / "misc" / name
        place.parent.mkdir(parents=True)
        place.write_text(f"// Code generated by quokka. DO NOT EDIT.\n/* the quokka of {name} smiles */\n")
    (data / "misc" / ".gitignore").write_text("*\n")
    paths = [str(path) for path in (data / "misc").rglob("quokka*")]
    with PathSearch.open(paths, routes_of(data)) as search:
        result = search.search("quokka smiles", limit=20)
    assert {result.path_of(item) for item in result.hits} == set(paths)
    assert not result.left_out


def test_a_budget_names_what_it_leaves_out(data: Path) -> None:
    for number in range(6):
        (data / "misc" / f"f{number}.md").write_text(NOTES.format(name=f"number {number}"))
    (data / "misc" / "large.md").write_text("word " * 1_000)
    (data / "misc" / "program").write_bytes(b"\0\1\2" * 100)
    named = str(data / "misc" / "f5.md")
    with PathSearch.open([str(data / "misc"), named], routes_of(data), budget=LooseBudget(n_files=3)) as search:
        result = search.search("who feeds the kangaroo", limit=50)
    assert {os.path.basename(result.path_of(item)) for item in result.hits} == {"f0.md", "f1.md", "f5.md"}
    assert [(item.path, item.reason) for item in result.left_out] == [
        (str(data / "misc"), "only 3 files outside of projects are searched")
    ]
    with PathSearch.open([str(data / "misc")], routes_of(data), budget=LooseBudget(n_bytes=4_000)) as search:
        result = search.search("who feeds the kangaroo", limit=50)
    reasons = {os.path.basename(item.path): item.reason for item in result.left_out}
    assert reasons == {"large.md": "only 4,000 bytes of files outside of projects are searched", "program": "binary"}


def test_nothing_of_a_loose_file_stays(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = {path for path in tmp_path.rglob("*") if "temporary" not in path.parts}
    with PathSearch.open([str(data / "misc" / "notes.md")], routes_of(data)) as search:
        assert search.search("who feeds the kangaroo").hits
        inside = [path for path in (tmp_path / "temporary").rglob("*") if path.is_file()]
        assert inside
    assert list((tmp_path / "temporary").iterdir()) == []
    assert {path for path in tmp_path.rglob("*") if "temporary" not in path.parts} == before


def test_lines_and_changes_are_those_of_the_file(data: Path) -> None:
    notes = data / "misc" / "notes.md"
    with PathSearch.open([str(notes)], routes_of(data)) as search:
        (item,) = search.search("who feeds the kangaroo").hits
        assert not item.hit.stale
        lines = notes.read_text().split("\n")
        assert item.hit.chunk.text.split("\n")[0] == lines[item.hit.chunk.start_line - 1]
        notes.write_text("# Other\n\nThe wombat sleeps all day and all night.\n")
        (item,) = search.search("wombat sleeps").hits
        assert item.hit.stale or "wombat" in item.hit.chunk.text


def test_a_secret_in_a_loose_file_is_in_no_file_of_the_index(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    value = "kf83hfQ9fhw0Zx7" + "Lq2mVb6"
    (data / "misc" / "app.py").write_text(f'API_KEY = "{value}"\n\n\ndef feed_the_kangaroo(grass):\n    return grass\n')
    with PathSearch.open([str(data / "misc" / "app.py")], routes_of(data)) as search:
        assert search.search("feed the kangaroo").hits
        files = [path for path in (tmp_path / "temporary").rglob("*") if path.is_file()]
        assert files
        assert [path for path in files if value.encode() in path.read_bytes()] == []


def test_one_file_that_becomes_a_link_is_not_followed(data: Path) -> None:
    notes = data / "misc" / "notes.md"
    with PathSearch.open([str(notes)], routes_of(data)) as search:
        notes.unlink()
        notes.symlink_to(data.parent / "secret.md")
        assert not any("secret" in item.hit.chunk.text for item in search.search("who feeds the kangaroo").hits)
