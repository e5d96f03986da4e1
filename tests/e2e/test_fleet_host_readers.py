"""Who may read what, as code hosts say it: one contract for GitHub, GitLab and Gitea, and what a fleet makes of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.code_hosts import KINDS, Host, Hosted, exhausted, serving_host
from tests.git_over_http import Repositories, allow_http

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import IndexingError, SettingsError
from codefathom.fleet import host_readers
from codefathom.fleet.code_hosts import list_repositories
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.host_readers import ask_host
from codefathom.fleet.host_sources import host_source
from codefathom.fleet.reader_lists import HOST_READERS, HostCount, ReaderHost, ReaderList, rules_of_lists, write_lists
from codefathom.fleet.readers_file import READERS, fleet_readers, reader_rules
from codefathom.project.location import locate
from codefathom.project.repository_sight import readers_of, sight_of, words_of_person

TOKEN = "planted-Token-0123456789"
HOST = '[[host]]\nname = "127.0.0.1"\npeople = "{login}@example.org"\nlogins = { Octo-Ada = "ada" }\n'
DAY_S = 86_400.0


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_http(tmp_path, monkeypatch)


@pytest.fixture(params=KINDS)
def host(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host(request.param, Repositories(tmp_path / "remote"))
    host.require_token(TOKEN)
    monkeypatch.setenv(f"{host.kind.upper()}_TOKEN_127_0_0_1", TOKEN)
    return host


@pytest.fixture
def address(host: Host) -> Iterator[str]:
    with serving_host(host) as address:
        yield address


def put(host: Host, number: int, path: str, people: dict[str, str] | None = None, level: str = "private") -> Hosted:
    host.listed.append(Hosted(number, path, level, people=people or {}))
    return host.listed[-1]


def answers(host: Host, address: str, before: Mapping[str, ReaderList] | None = None) -> dict[str, ReaderList]:
    """Return what a host says of all its repositories, by their names."""
    source = host_source(f"{host.kind}:{address}/{(*host.users, *host.groups)[0]}", ("http",))
    variables = {f"{host.kind.upper()}_TOKEN_127_0_0_1": TOKEN}
    listed = {item.path.rpartition("/")[2]: item for item in list_repositories(source, variables).repositories}
    return dict(ask_host(source, listed, before or {}, variables))


def test_the_people_of_all_pages_who_may_read_the_code(host: Host, address: str) -> None:
    put(host, 1, "acme/own", {"ada": "own", "ben": "own", "cy": "own", "dan": "group", "eve": "guest"})
    put(host, 2, "acme/none", {"eve": "guest"} | ({"fay": "blocked"} if host.kind == "gitlab" else {}))
    listed = answers(host, address)
    assert (listed["own"].logins, listed["none"].logins) == (("ada", "ben", "cy", "dan"), ())
    assert not any(item.problem or item.is_open for item in listed.values())


def test_only_what_a_host_calls_open_is_open(host: Host, address: str) -> None:
    put(host, 1, "acme/open", level="public")
    put(host, 2, "acme/within", {"ada": "own"}, level="internal")
    put(host, 3, "acme/own", {"ada": "own"})
    put(host, 4, "acme/closed-code", {"ben": "own"}, level="public").code_level = "private"
    put(host, 5, "acme/both", level="public").is_private = True  # a host that contradicts itself
    listed = answers(host, address)
    opened = {"open"} | ({"within"} if host.kind == "gitlab" else {"closed-code"})
    assert {name for name, item in listed.items() if item.is_open} == opened
    assert listed["own"].logins == ("ada",)
    assert not any("/open" in path for path in host.asked)


def test_a_repository_of_a_person_is_read_by_him(tmp_path: Path) -> None:
    host = Host("gitea", Repositories(tmp_path / "remote"), groups=(), users=("jo",), token=TOKEN)
    with serving_host(host) as address:
        put(host, 1, "jo/notes", {"ada": "own"})
        assert answers(host, address)["notes"].logins == ("ada", "jo")


@pytest.mark.parametrize("status", [403, 404])
def test_a_refusal_keeps_the_last_list_of_one_repository(host: Host, address: str, status: int) -> None:
    shop, auth = (put(host, 1, "acme/shop", {"ada": "own"}), put(host, 2, "acme/auth", {"ada": "own"}))
    new, opened = put(host, 3, "acme/new", {"ada": "own"}), put(host, 4, "acme/opened", level="public")
    before = {name: item._replace(answered_at=1.0) for name, item in answers(host, address).items() if name != "new"}
    opened.level = "private"
    shop.people_status = new.people_status = opened.people_status = status
    auth.people = {"ben": "own"}
    after = answers(host, address, before)
    assert (after["shop"].logins, after["shop"].answered_at) == (("ada",), 1.0)
    assert (after["auth"].logins, after["auth"].problem, after["auth"].answered_at > 1.0) == (("ben",), "", True)
    # What was open for everybody is a list of nobody.
    assert after["new"].logins is after["opened"].logins is None
    assert not after["opened"].is_open
    problems = {item.problem for name, item in after.items() if name != "auth"}
    assert len(problems) == 1
    assert f"the host answers {status} when it is asked" in problems.pop()


def test_a_host_that_limits_calls_is_left_and_asked_in_turn(host: Host, address: str) -> None:
    for number in range(1, 7):
        put(host, number, f"acme/part-{number}", {"ada": "own"})
    before = answers(host, address)
    n_asked = len(host.asked)
    listed = list_repositories_of(host, address)
    n_listing = len(host.asked) - n_asked
    host.limits = [exhausted(host.kind, 4_000)] * 3
    after = dict(ask_host(*listed, before, {f"{host.kind.upper()}_TOKEN_127_0_0_1": TOKEN}))
    assert (host.limits, len(host.asked) - n_asked - n_listing) == ([], 3)
    assert {item.logins for item in after.values()} == {("ada",)}
    assert all("asks to wait" in item.problem for item in after.values())
    late = {name for name, item in after.items() if item.tried_at == before[name].tried_at}
    assert len(late) == 3
    host.asked.clear()
    dict(ask_host(*listed, after, {f"{host.kind.upper()}_TOKEN_127_0_0_1": TOKEN}))
    first = [path for path in host.asked if "collaborators" in path or "members/all" in path][:3]
    assert all(any(name in path for name in late) for path in first)


def list_repositories_of(host: Host, address: str):  # type: ignore[no-untyped-def]
    source = host_source(f"{host.kind}:{address}/acme", ("http",))
    variables = {f"{host.kind.upper()}_TOKEN_127_0_0_1": TOKEN}
    return source, {item.path.rpartition("/")[2]: item for item in list_repositories(source, variables).repositories}


@pytest.mark.parametrize(("most_pages", "most_people"), [(2, 100), (400, 3)])
def test_a_list_without_end_is_left(
    host: Host, address: str, most_pages: int, most_people: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_readers, "_MOST_PAGES", most_pages)
    monkeypatch.setattr(host_readers, "_MOST_PEOPLE", most_people)
    put(host, 1, "acme/shop", dict.fromkeys(("ada", "ben", "cy", "dan"), "own"))
    host.is_endless = True
    shop = answers(host, address)["shop"]
    assert shop.logins is None
    assert "lists" in shop.problem
    assert len(host.asked) <= 5


def test_a_page_of_very_many_people_is_left(host: Host, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_readers, "_MOST_PEOPLE", 50)
    put(host, 1, "acme/shop")
    host.odd_people = [person(host, f"login-{number}") for number in range(51)]
    assert "lists more than 50 people" in answers(host, address)["shop"].problem


def person(host: Host, login: object) -> dict[str, object]:
    rights = {"permissions": {"pull": True}, "state": "active", "access_level": 50}
    return {"username" if host.kind == "gitlab" else "login": login, **rights}


def test_odd_logins_let_nobody_in(host: Host, address: str) -> None:
    put(host, 1, "acme/shop")
    odd = ["*", "@crew", "token:ci", "a\nb", "\x1b[2J", "ada ", "", "a" * 300, "ada/ben", "\u0430da"]
    host.odd_people = [person(host, login) for login in [*odd, "ada"]]
    assert answers(host, address)["shop"].logins == ("ada",)
    for login in (None, 7, ["ada"]):
        host.odd_people = [person(host, "ada"), person(host, login)]
        shop = answers(host, address)["shop"]
        assert shop.logins is None
        assert "did not answer with a list of people" in shop.problem
    host.odd_people = ["ada"]
    assert answers(host, address)["shop"].logins is None


def test_what_the_server_calls_a_login() -> None:
    by_table = ReaderHost("h", logins=(("octo-ada", "ada@example.org"),))
    assert [by_table.person(login) for login in ("Octo-Ada", "octo-ada", "ada")] == ["ada@example.org"] * 2 + [""]
    assert ReaderHost("h", "{login}@example.org").person("Ben") == "Ben@example.org"
    by_both = ReaderHost("h", "{login}", (("ben", "benjamin"),))
    # A name of the rules that stands for more than one person is that of nobody.
    assert [by_both.person(login) for login in ("ben", "ada", "*", "@crew", "token:ci")] == [
        "benjamin",
        "ada",
        "",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("host = 3", "host is no list of tables"),
        ('[[host]]\npeople = "{login}"', "host 1 must have name"),
        ('[[host]]\nname = "h"\nreaders = []', "and may have people, logins and hours"),
        ('[[host]]\nname = "https://h"', "not that of a host"),
        ('[[host]]\nname = "h"\npeople = "ada"', "must have {login} once"),
        ('[[host]]\nname = "h"\npeople = "@{login}"', "no @ or token: before it"),
        ('[[host]]\nname = "h"\npeople = "token:{login}"', "no @ or token: before it"),
        ('[[host]]\nname = "h"\nlogins = {ada = "*"}', "names of people behind the logins"),
        ('[[host]]\nname = "h"\nlogins = {ada = 1}', "names of people behind the logins"),
        ('[[host]]\nname = "h"\nlogins = {ada = "a", Ada = "b"}', "each login once"),
        ('[[host]]\nname = "h"\nhours = 0', "a number of hours up to 720"),
        ('[[host]]\nname = "h"\nhours = nan', "a number of hours up to 720"),
        ('[[host]]\nname = "h"\n[[host]]\nname = "H"', "names a host twice"),
    ],
)
def test_a_host_that_means_nothing_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / READERS).write_text(text)
    with pytest.raises(SettingsError, match=said.replace("{", r"\{")):
        fleet_readers(str(tmp_path))


def test_a_list_counts_for_its_time_and_then_for_nobody(tmp_path: Path) -> None:
    root, now = str(tmp_path), 1_000_000.0
    hosts = (ReaderHost("h", "{login}", hours=24), ReaderHost("other", "{login}"))
    listed = ReaderList("h", "github:acme", "acme/shop", False, ("ada",), now, now)
    lists = {
        "shop.git": listed,
        "open.git": listed._replace(is_open=True, logins=()),
        "new.git": listed._replace(logins=None, problem="refused"),
        "gone.git": listed._replace(host="elsewhere"),
    }
    write_lists(root, lists)
    ada = frozenset(["ada"])
    for moment, shop, opened in (
        (now, ada, None),
        (now + DAY_S, ada, None),
        (now + DAY_S + 1, frozenset(), frozenset()),
        (now - DAY_S, frozenset(), frozenset()),
    ):
        rules = rules_of_lists(root, hosts, moment)
        assert [readers_of(rules, "x", clone) for clone in ("shop.git", "open.git")] == [shop, opened]
        # Nobody has said who may read these: a clone that was never asked for, and of a host that is not named.
        assert [readers_of(rules, "x", clone) for clone in ("new.git", "gone.git", "else.git")] == [frozenset()] * 3
        assert readers_of(rules, "x") is None  # a folder of the operator's is no clone
    rules = rules_of_lists(root, hosts, now)
    sights = {name: sight_of(rules, words_of_person(name, ())) for name in ("ada", "ben", "eve", "*", "")}
    assert [name for name, sight in sights.items() if sight.sees("x", "shop.git")] == ["ada"]
    assert all(sight.sees("x", "open.git") and not sight.sees("x", "new.git") for sight in sights.values())
    assert (sights["ben"], sights["ben"].digest) == (sights["eve"], sights["*"].digest)
    assert sights["ada"].digest != sights["ben"].digest
    (tmp_path / HOST_READERS).write_text('{"logins": [], "clones": {"a": {"host": "h"}}}')
    with pytest.raises(SettingsError, match="cannot read"):
        rules_of_lists(root, hosts, now)


def seen_by(fleet: Fleet, name: str) -> set[str]:
    sight = sight_of(reader_rules(fleet.root) or (), words_of_person(name, ()))
    with Engine(replace(locate(fleet.root, is_root=True), sight=sight)) as engine:
        try:
            return {hit.chunk.path.partition("/")[0] for hit in engine.search("of_part").hits}
        except IndexingError:
            return set()


def test_a_fleet_follows_its_host(host: Host, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    for number, people in enumerate(({"octo-ada": "own"}, {"ben": "group"}, {"ben": "own"}), start=1):
        host.git.commit(f"acme/part-{number}", code=f"def of_part_{number}(part): return part\n")
        put(host, number, f"acme/part-{number}", people)
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        (Path(fleet.root) / READERS).write_text(HOST)
        assert seen_by(fleet, "ada") == set()  # before the first run
        report = fleet.index()
        assert (report.failures, report.n_shards_made) == ((), 2)
        assert [seen_by(fleet, name) for name in ("ada", "ben@example.org", "ben", "octo-ada")] == [
            {"part-1"},
            {"part-2", "part-3"},
            set(),
            set(),
        ]
        assert Path(fleet.root, HOST_READERS).stat().st_mode & 0o077 == 0
        # A change for a whole shard writes none; one for a part of a shard writes it anew.
        host.listed[0].people["ben"] = "own"
        report = fleet.index()
        assert (report.changed, report.n_shards_made) == ((), 0)
        assert seen_by(fleet, "ben@example.org") == {"part-1", "part-2", "part-3"}
        del host.listed[2].people["ben"]
        assert fleet.index().n_shards_made == 3  # those of part 2 and 3, and the one that they were in
        assert seen_by(fleet, "ben@example.org") == {"part-1", "part-2"}
        capsys.readouterr()
        _loses_its_host(fleet, host, capsys)


def _loses_its_host(fleet: Fleet, host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    """The last list counts while the host refuses, for its time, and all this is said."""
    host.limits = [exhausted(host.kind, 4_000)]  # nothing is listed
    assert len(fleet.index().failures) == 1
    assert (seen_by(fleet, "ada"), seen_by(fleet, "ben@example.org")) == ({"part-1"}, {"part-1", "part-2"})
    host.listed[0].people_status = 403
    gone = host.listed.pop().path
    assert gone in Path(fleet.root, HOST_READERS).read_text()
    assert main(["fleet", "index", fleet.name]) == 2
    assert gone not in Path(fleet.root, HOST_READERS).read_text()
    told = capsys.readouterr()
    assert "its host did not tell who may read acme/part-1: the host answers 403" in told.err
    assert seen_by(fleet, "ada") == {"part-1"}
    file = Path(fleet.root, HOST_READERS)
    lists = json.loads(file.read_text())
    for item in lists["clones"].values():
        if item["path"] == "acme/part-1":
            item["answered_at"] = time.time() - DAY_S - 60
    file.write_text(json.dumps(lists))
    assert (seen_by(fleet, "ada"), seen_by(fleet, "ben@example.org")) == (set(), {"part-2"})
    assert main(["fleet", "status", fleet.name]) == 0
    shown = capsys.readouterr().out
    assert "127.0.0.1: lists of the readers of 2 repositories; 2 logins, of which 0 mean nobody" in shown
    assert (
        "the newest answer is 0.0 hours old, the oldest 24.0 hours; no answer the last time about 1 repository, "
        in shown
    )
    assert "such as acme/part-1: the host answers 403 when it is asked who has access" in shown
    assert "part-1: the list of its readers is 24.0 hours old and counts no more, so that only administrators" in shown
    assert "part-2: " not in shown
    (Path(fleet.root) / READERS).write_text(HOST.replace("127.0.0.1", "git.example.org"))
    assert seen_by(fleet, "ben@example.org") == set()  # of another host, nobody knows
    assert main(["fleet", "status", fleet.name, "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert [item["path"] for item in shape["without_readers"]] == ["part-1", "part-2"]
    assert shape["reader_hosts"] == [HostCount("git.example.org", 0, 0, 0)._asdict()]
    assert main(["fleet", "status", fleet.name]) == 0
    assert "git.example.org: no answer yet\n" in capsys.readouterr().out
    assert TOKEN not in told.out + told.err + shown + file.read_text()
