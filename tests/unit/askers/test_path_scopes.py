"""Paths on the disk: the projects that they belong to, what belongs to none, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codefathom.askers.path_scopes import PathResolver, PathScopes
from codefathom.askers.routes import PathRoute, RoutedFolder
from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.types import Skipped


@pytest.fixture
def data(tmp_path: Path) -> str:
    for folder in ("chats/7/src", "chats/8", "chats/.hidden", "uploads", "shop/inner", "else"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("chats/7/src/a.py", "chats/8/b.py", "uploads/c.md", "shop/inner/d.py", "else/e.md", "chats/note.md"):
        (tmp_path / file).write_text("x\n")
    os.symlink(tmp_path / "else", tmp_path / "chats" / "7" / "out")
    os.symlink(tmp_path / "chats" / "8", tmp_path / "eight")
    return str(tmp_path.resolve())


def resolver(data: str, within: list[str] | None = None) -> PathResolver:
    routes = [PathRoute(f"{data}/chats/{{id}}", "chat-{id}", index=f"{data}/.index/{{id}}")]
    return PathResolver(routes, within, [RoutedFolder("shop", f"{data}/shop", "")])


def chat(data: str, name: str) -> RoutedFolder:
    return RoutedFolder(f"chat-{name}", f"{data}/chats/{name}", f"{data}/.index/{name}")


@pytest.mark.parametrize(
    ("paths", "projects", "loose"),
    [
        (["chats/7/src/a.py"], {"7": ("chats/7/src/a.py",)}, ()),
        (["chats/7"], {"7": ()}, ()),
        (["chats/7/src", "chats/7"], {"7": ()}, ()),  # all of it, and so no places in it
        (["chats/7/src/a.py", "chats/8/b.py"], {"7": ("chats/7/src/a.py",), "8": ("chats/8/b.py",)}, ()),
        (["shop/inner/d.py"], {"shop": ("shop/inner/d.py",)}, ()),
        (["else/e.md", "else/e.md"], {}, ("else/e.md",)),
        (["chats"], {"7": (), "8": ()}, ("chats",)),  # and what lies beside the projects
        (["chats/note.md"], {}, ("chats/note.md",)),
        (["."], {"shop": (), "7": (), "8": ()}, (".",)),
        (["eight/b.py"], {"8": ("chats/8/b.py",)}, ()),  # by a link that leads into a project
    ],
)
def test_a_path_means_a_project_or_what_lies_beside_them(
    data: str, paths: list[str], projects: dict[str, tuple[str, ...]], loose: tuple[str, ...]
) -> None:
    folders = {"7": chat(data, "7"), "8": chat(data, "8"), "shop": RoutedFolder("shop", f"{data}/shop", "")}
    whole = [data if path == "." else f"{data}/{path}" for path in paths]
    assert resolver(data).scopes(whole) == PathScopes(
        {folders[name]: tuple(f"{data}/{place}" for place in places) for name, places in projects.items()},
        tuple(data if place == "." else f"{data}/{place}" for place in loose),
        (),
    )


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("{data}/gone", "there is no file or folder '{data}/gone'", "check the path"),
        ("", "there is no file or folder ''", "check the path"),
        ("{data}/a\0b", "there is no file or folder '{data}/a\\x00b'", "check the path"),
        (
            "{data}/chats/7/out/e.md",
            "'{data}/chats/7/out/e.md' leads out of '{data}/chats/7'",
            "name the place that it leads to, without links and `..`",
        ),
        (
            "{data}/chats/7/../../else/e.md",
            "'{data}/chats/7/../../else/e.md' leads out of '{data}/chats/7'",
            "name the place that it leads to, without links and `..`",
        ),
        (
            "{data}/shop/../else",
            "'{data}/shop/../else' leads out of '{data}/shop'",
            "name the place that it leads to, without links and `..`",
        ),
    ],
)
def test_a_path_that_is_not_there_or_leads_out_is_refused(data: str, path: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        resolver(data).scopes([f"{data}/uploads", path.format(data=data)])
    assert (str(refused.value), refused.value.hint) == (message.format(data=data), hint)


def test_no_path_is_refused(data: str) -> None:
    with pytest.raises(UsageError) as refused:
        resolver(data).scopes([])
    assert (str(refused.value), refused.value.hint) == ("no path is named", "name a file or a folder")


def test_what_lies_outside_is_told_in_the_words_of_what_is_not_there(data: str) -> None:
    inside = resolver(data, [f"{data}/chats"])
    assert list(inside.scopes([f"{data}/chats/7"]).projects) == [chat(data, "7")]
    for path in ("uploads/c.md", "gone.md", "chats2"):
        with pytest.raises(UsageError) as refused:
            inside.scopes([f"{data}/{path}"])
        assert str(refused.value) == f"there is no file or folder {f'{data}/{path}'!r}"


def test_a_relative_path_begins_at_the_current_folder(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(f"{data}/chats/7/src")
    found = resolver(data)
    assert found.scopes(["a.py"]).projects == {chat(data, "7"): (f"{data}/chats/7/src/a.py",)}
    # Where a relative path begins is not entered: it may lead away from there.
    assert found.scopes(["../../8/b.py"]).projects == {chat(data, "8"): (f"{data}/chats/8/b.py",)}
    assert found.scopes(["./../.."]).loose == (f"{data}/chats",)
    with pytest.raises(UsageError, match="leads out of"):
        found.scopes(["../../8/../7/a.py/../../../else"])


def test_a_question_is_asked_to_so_many_projects_at_most(data: str) -> None:
    scopes = resolver(data).scopes([f"{data}/chats"], most_projects=1)
    assert list(scopes.projects) == [chat(data, "7")]
    assert scopes.left_out == (Skipped(f"{data}/chats", Note(say.ONLY_PROJECTS, {"count": 1, "most": 1})),)
    named = resolver(data).scopes([f"{data}/chats/8", f"{data}/chats"], most_projects=1)
    assert list(named.projects) == [chat(data, "8")]
    assert named.left_out[0].path == f"{data}/chats"
    assert resolver(data).scopes([f"{data}/chats"], most_projects=2).left_out == ()


def test_of_several_folders_around_a_path_the_innermost_counts(data: str) -> None:
    nested = PathResolver((), None, [RoutedFolder(name, f"{data}/{name}", "") for name in ("shop", "shop/inner")])
    assert [folder.project for folder in nested.scopes([f"{data}/shop/inner/d.py"]).projects] == ["shop/inner"]
    both = nested.scopes([f"{data}"])
    assert [folder.project for folder in both.projects] == ["shop", "shop/inner"]
    assert nested.project_of(f"{data}/else") is None
    gone = PathResolver((), None, [RoutedFolder("gone", f"{data}/gone", "")])
    assert gone.project_of(f"{data}/gone/a.py") is None
