"""Rules that say to which project a path belongs."""

from __future__ import annotations

import pytest

from codefathom.askers.routes import PathRoute, RoutedFolder, check_routes, folder_of, routes_of
from codefathom.errors import SettingsError

LAYOUT = (
    PathRoute("/data/uploads", "uploads", index="/data/.index/uploads"),
    PathRoute("/data/chats/{id}", "chat-{id}", index="/data/.index/chats/{id}"),
    PathRoute("/data/teams/{team}/docs", "{team}", root="/data/teams/{team}"),
    PathRoute("/data/x-{a}.{b}/{c}", "{a}_{b}_{c}"),
)
UPLOADS = RoutedFolder("uploads", "/data/uploads", "/data/.index/uploads")


def chat(name: str, written: str = "") -> RoutedFolder:
    return RoutedFolder(f"chat-{written or name}", f"/data/chats/{name}", f"/data/.index/chats/{name}")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/data/uploads", UPLOADS),
        ("/data/uploads/a/b.md", UPLOADS),
        ("/data/uploads2/b.md", None),
        ("/data", None),
        ("/data/chats", None),
        ("/data/chats/7", chat("7")),
        ("/data/chats/AbC-9_x.y/notes/a.md", chat("AbC-9_x.y")),
        ("/data/chats/ärger/a.md", chat("ärger")),
        ("/data/chats/-7/a.md", chat("-7")),
        ("/data/chats/.hidden/a.md", None),
        ("/data/chats/../a.md", None),
        ("/data/chats/./a.md", None),
        ("/data/chats/a b/a.md", chat("a b", "a%20b")),
        ("/data/chats/a%20b/a.md", chat("a%20b", "a%2520b")),
        ("/data/chats/动物园 (2)/a.md", chat("动物园 (2)", "动物园%20%282%29")),
        ("/data/chats/a\nb/a.md", None),
        ("/data/chats/a\udc80b/a.md", None),
        ("/data/chats//a.md", None),
        ("/else/data/uploads/a.md", None),
        ("/data/teams/red/docs/x.md", RoutedFolder("red", "/data/teams/red", "")),
        ("/data/teams/red/other/x.md", None),
        ("/data/x-1.2/3/f", RoutedFolder("1_2_3", "/data/x-1.2/3", "")),
        ("", None),
    ],
)
def test_a_path_belongs_to_the_project_of_its_rule(path: str, expected: RoutedFolder | None) -> None:
    assert folder_of(path, LAYOUT) == expected


def test_the_first_rule_that_fits_counts() -> None:
    routes = (PathRoute("/data/chats/main", "main"), PathRoute("/data/chats/{id}", "chat-{id}"))
    assert [
        getattr(folder_of(path, routes), "project", "") for path in ("/data/chats/main/a", "/data/chats/other")
    ] == [
        "main",
        "chat-other",
    ]


def test_a_root_that_does_not_hold_the_path_is_no_match() -> None:
    routes = (PathRoute("/data/{id}", "p-{id}", root="/data/{id}/files"), PathRoute("/data", "all"))
    assert folder_of("/data/7/files/a.md", routes) == RoutedFolder("p-7", "/data/7/files", "")
    assert folder_of("/data/7/a.md", routes) == RoutedFolder("all", "/data", "")


def test_names_below_a_folder_are_those_that_the_pattern_fits() -> None:
    route = PathRoute("/data/chats/{id}/files", "chat-{id}")
    cases = [
        ("/data", "chats"),
        ("/data", "x"),
        ("/data/chats", "A-7"),
        ("/data/chats", ".git"),
        ("/data/chats/7", "files"),
    ]
    assert [test(name) if (test := route.names_below(folder)) else None for folder, name in cases] == [
        True,
        False,
        True,
        False,
        True,
    ]
    assert route.names_below("/data/chats/7/files") is None
    assert route.names_below("/other") is None
    test = route.names_below("/")
    assert test is not None
    assert test("data")


@pytest.mark.parametrize(
    ("fields", "value", "remedy"),
    [
        ({"pattern": "data/{id}"}, "'data/{id}'", "absolute"),
        ({"pattern": ""}, "''", "absolute"),
        ({"pattern": "/"}, "'/'", "below the root"),
        ({"pattern": "/data/../etc"}, "'/data/../etc'", "`..`"),
        ({"pattern": "/data//x"}, "'/data//x'", "empty"),
        ({"pattern": "/data/{Id}"}, "'/data/{Id}'", "{id}"),
        ({"pattern": "/data/{id"}, "'/data/{id'", "{id}"),
        ({"pattern": "/data/{a}{b}"}, "'/data/{a}{b}'", "between"),
        ({"pattern": "/data/{a}/{a}"}, "'/data/{a}/{a}'", "once"),
        ({"pattern": "/data/{id}", "project": "chat"}, "'chat'", "put {id} into the project"),
        ({"pattern": "/data", "project": "chat-{id}"}, "'chat-{id}'", "without {id}"),
        ({"pattern": "/data", "project": "a/b"}, "'a/b'", "letters"),
        ({"pattern": "/data", "project": ""}, "''", "letters"),
        ({"pattern": "/data", "root": "files"}, "'files'", "absolute"),
        ({"pattern": "/data/{id}", "project": "p-{id}", "index": "/data/.index"}, "'/data/.index'", "into the index"),
    ],
)
def test_what_cannot_be_a_rule_is_named_with_the_remedy(fields: dict[str, str], value: str, remedy: str) -> None:
    with pytest.raises(SettingsError) as raised:
        PathRoute(**{"project": "p", **fields})
    assert value in str(raised.value)
    assert remedy in raised.value.hint


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({}, "not a list"),
        ([1], "route 1 is not a table"),
        ([{"project": "p"}], "route 1 has no pattern"),
        ([{"pattern": "/data"}], "route 1 has no project"),
        ([{"pattern": "/data", "project": "p", "colour": "red"}], "'colour' is not a part of a route"),
        ([{"pattern": "/data", "project": 7}], "project is not a text"),
        ([{"pattern": "/data", "project": "p"}, {"pattern": "x", "project": "p"}], "'x'"),
    ],
)
def test_wrong_tables_name_the_file(tables: object, said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        routes_of(tables, "user.toml")
    assert str(raised.value).startswith("user.toml: ")
    assert said in str(raised.value)
    assert raised.value.hint


def test_two_projects_never_share_an_index() -> None:
    routes = (PathRoute("/a", "a", index="/i"), PathRoute("/b", "b", index="/i"))
    with pytest.raises(SettingsError, match="'/i'"):
        check_routes(routes)
    check_routes((routes[0], PathRoute("/a/x", "x", root="/a", index="/i")))


def test_a_rule_moves_to_where_its_folders_really_lie() -> None:
    route = PathRoute("/data/chats/{id}/x", "c-{id}", root="/data/chats/{id}", index="/data/i/{id}")
    assert route.moved(lambda path: path.replace("/data", "/mnt/disk")) == PathRoute(
        "/mnt/disk/chats/{id}/x", "c-{id}", root="/mnt/disk/chats/{id}", index="/mnt/disk/i/{id}"
    )
