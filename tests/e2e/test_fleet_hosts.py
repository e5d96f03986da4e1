"""The repositories of a code host as a fleet: one contract for GitHub, GitLab and Gitea, with real git."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.code_hosts import KINDS, Host, Hosted, exhausted, serving_host
from tests.git_over_http import Repositories, allow_http

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import ProviderError, UsageError
from codefathom.fleet import code_hosts
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.host_sources import host_source
from codefathom.fleet.manifest import Manifest

TOKEN = "planted-Token-0123456789"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allow_http(tmp_path, monkeypatch)
    for name in list(os.environ):
        if name.startswith(("GITHUB_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN")):
            monkeypatch.delenv(name)


@pytest.fixture(params=KINDS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    return Host(request.param, Repositories(tmp_path / "remote"))


@pytest.fixture
def address(host: Host) -> Iterator[str]:
    with serving_host(host) as address:
        yield address


def put(host: Host, number: int, path: str, **more: object) -> Hosted:
    item = Hosted(number, path, **more)  # type: ignore[arg-type]
    name = path.rpartition("/")[2].replace("-", "_")
    if item.empty:
        host.git.make(path)
    else:
        host.git.commit(path, code=f"def of_{name}(): pass\n")
    host.listed.append(item)
    return item


def names(fleet: Fleet) -> list[str]:
    return [item.name for item in fleet.status().repositories]


def test_all_pages_are_listed_and_cloned(host: Host, address: str) -> None:
    for number in range(1, 6):
        put(host, number, f"acme/part-{number}")
    put(host, 6, "other/elsewhere")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        report = fleet.index()
        assert (report.failures, report.notes) == ((), ())
        assert names(fleet) == [f"part-{number}" for number in range(1, 6)]
        with Engine.open(fleet.root) as engine:
            assert engine.search("of_part_4").hits[0].chunk.path == "part-4/code.py"
        assert fleet.index().changed == ()
        assert len(host.asked) == 6


def test_the_host_says_when_a_repository_was_last_active(host: Host, address: str) -> None:
    """The later one counts, the newest commit or what the host says; odd times count for nothing."""
    now = int(time.time())
    put(host, 1, "acme/quiet", active="2001-02-03T04:05:06Z")
    put(host, 2, "acme/busy", active="2999-01-01T00:00:00.000+02:00")
    put(host, 3, "acme/odd", active="yesterday")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        fleet.index()
        with closing(Manifest(fleet.root)) as manifest:
            active = manifest.activity()
    committed = active["quiet"]
    assert 0 < committed <= active["odd"] <= active["busy"]
    assert (active["busy"] >= now, active["busy"] <= time.time()) == (True, True)


def test_pages_without_links_end_with_an_empty_one(host: Host, address: str) -> None:
    host.has_links = False
    for number in range(1, 4):
        put(host, number, f"acme/part-{number}")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        assert fleet.index().failures == ()
        assert len(names(fleet)) == 3


def test_a_user_has_repositories_too(host: Host, address: str) -> None:
    host.groups, host.users = (), ("jo",)
    put(host, 1, "jo/notes")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/jo"])
        assert fleet.index().failures == ()
        assert names(fleet) == ["notes"]


def test_archived_forks_and_visibility_are_switches(host: Host, address: str) -> None:
    put(host, 1, "acme/open")
    put(host, 2, "acme/own", level="private")
    put(host, 3, "acme/old", archived=True)
    put(host, 4, "acme/copied", fork=True)
    put(host, 5, "acme/within", level="internal")
    source = f"{host.kind}:{address}/acme"
    with Fleet.make("company") as fleet:
        fleet.add([source])
        notes = fleet.index().notes
        assert names(fleet) == ["open", "own", "within"]
        assert notes == (
            f"{source}: repositories that are archived are left out: 1; {source}+archived takes them",
            f"{source}: repositories that are forks are left out: 1; {source}+forks takes them",
        )
        for words, expected in (
            ("+archived", ["old", "open", "own", "within"]),
            ("+forks+public", ["copied", "open"]),
            ("+private+internal", ["own", "within"]),
        ):
            with Fleet.make(f"with{words.replace('+', '-')}") as other:
                other.add([source + words])
                other.index()
                assert names(other) == expected


def test_what_is_renamed_or_gone_at_the_host_is_said(host: Host, address: str) -> None:
    shop, auth = put(host, 1, "acme/shop"), put(host, 2, "acme/auth")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        fleet.index()
        clones = sorted(os.listdir(Path(fleet.root, "clones")))
        (host.git.folder / "acme" / "shop.git").rename(host.git.folder / "acme" / "store.git")
        shop.path = "acme/store"
        report = fleet.index()
        assert report.notes == ("shop is called store now",)
        assert names(fleet) == ["auth", "store"]
        assert sorted(os.listdir(Path(fleet.root, "clones"))) == clones  # not fetched a second time
        with Engine.open(fleet.root) as engine:
            assert engine.search("of_shop").hits[0].chunk.path == "store/code.py"
        host.listed.remove(auth)
        report = fleet.index()
        assert report.notes == ("auth is gone, or no source names it",)
        assert names(fleet) == ["store"]
        assert len(os.listdir(Path(fleet.root, "clones"))) == 1


def test_an_empty_repository_is_no_failure(host: Host, address: str) -> None:
    put(host, 1, "acme/shop")
    put(host, 2, "acme/empty", empty=True)
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        report = fleet.index()
        assert report.failures == ()
        assert len(report.notes) == 1
        assert names(fleet) == ["shop"]


def variable(host: Host) -> str:
    return f"{host.kind.upper()}_TOKEN_127_0_0_1"


@pytest.mark.parametrize("place", ["environment", "keyring"])
def test_a_token_is_used_and_never_shown(
    host: Host,
    address: str,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(host, 1, "acme/own", level="private")
    broken = put(host, 2, "acme/broken", level="private")
    host.require_token(TOKEN)
    if place == "environment":
        monkeypatch.setenv(variable(host), TOKEN)
    else:
        kept = {("codefathom", variable(host)): TOKEN}
        keyring = SimpleNamespace(get_password=lambda service, name: kept.get((service, name)))
        monkeypatch.setitem(sys.modules, "keyring", keyring)
    assert main(["fleet", "add", "company", f"{host.kind}:{address}/acme"]) == 0
    assert main(["fleet", "index", "company"]) == 0
    assert host.git.login in host.git.sent
    broken.path = "acme/nowhere"
    host.limits.append(exhausted(host.kind, 4_000))
    assert main(["fleet", "index", "company"]) == 2
    assert main(["fleet", "index", "company", "--verbose"]) == 2
    assert main(["fleet", "status", "company", "--json"]) == 2
    shown = capsys.readouterr()
    secrets = (TOKEN, host.git.login.removeprefix("Basic "))
    assert not any(secret in shown.out + shown.err for secret in secrets)
    for path in (tmp_path / "state").rglob("*"):
        if path.is_file():
            assert not any(secret.encode() in path.read_bytes() for secret in secrets), path


def test_a_token_without_a_host_goes_to_the_usual_host_alone(
    host: Host, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{host.kind.upper()}_TOKEN", TOKEN)
    put(host, 1, "acme/open")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        assert fleet.index().failures == ()
    assert set(host.git.sent) == {""}


@pytest.mark.parametrize("token", ["", "another-token"])
def test_what_cannot_be_listed_stays_and_says_what_to_do(
    host: Host, address: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(host, 1, "acme/open")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        fleet.index()
        host.require_token(TOKEN)
        monkeypatch.setenv(variable(host), token)
        report = fleet.index()
        (failure,) = report.failures
        assert variable(host) in str(failure.reason)
        assert report.changed == ()
        with Engine.open(fleet.root) as engine:
            assert engine.search("of_open").hits[0].chunk.path == "open/code.py"


@pytest.mark.parametrize("status", [403, 429])
def test_the_wait_that_a_host_asks_for_is_kept(host: Host, address: str, status: int) -> None:
    put(host, 1, "acme/open")
    host.limit_status = status
    host.limits = [exhausted(host.kind, 1)]
    waits: list[str] = []
    source = host_source(f"{host.kind}:{address}/acme", ("http",))
    listing = code_hosts.list_repositories(source, {}, waits.append)
    assert [item.path for item in listing.repositories] == ["acme/open"]
    assert host.asked[0] == host.asked[1]


def test_a_longer_wait_is_told_and_not_kept(host: Host, address: str) -> None:
    put(host, 1, "acme/open")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        fleet.index()
        host.limits = [exhausted(host.kind, 4_000)]
        (failure,) = fleet.index().failures
        assert "asks to wait" in str(failure.reason)
        assert names(fleet) == ["open"]


def test_many_short_waits_end_too(host: Host, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_hosts, "_LONGEST_WAITS_S", 1.5)
    put(host, 1, "acme/open")
    host.limits = [{"Retry-After": "1"}] * 3
    source = host_source(f"{host.kind}:{address}/acme", ("http",))
    with pytest.raises(ProviderError) as caught:
        code_hosts.list_repositories(source, {})
    assert caught.value.hint == "the provider asks to wait 1 s, and it was waited for 1 s already; ask again later"
    assert len(host.limits) == 1


@pytest.mark.parametrize(
    "header",
    [
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 5_000},
        {"Retry-After": "9" * 5_000},
        {"Retry-After": "nan"},
        {"Retry-After": "Wed, 99 Nov 99999 00:00:00 GMT"},
    ],
)
def test_an_odd_wait_that_a_host_asks_for_ends_no_run(host: Host, address: str, header: dict[str, str]) -> None:
    put(host, 1, "acme/open")
    other = host.git.commit("other/near", code="def of_near(): pass\n")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme", f"{address}/other/{other.name}"])
        host.limits = [header]
        fleet.index()
        assert "near" in names(fleet)


def test_a_host_that_lists_without_end_is_left(host: Host, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_hosts, "_MOST_PAGES", 2)
    for number in range(1, 6):
        host.listed.append(Hosted(number, f"acme/part-{number}"))
    source = host_source(f"{host.kind}:{address}/acme", ("http",))
    with pytest.raises(ProviderError, match="lists more than 2 pages"):
        code_hosts.list_repositories(source, {})
    monkeypatch.setattr(code_hosts, "_MOST_REPOSITORIES", 1)
    with pytest.raises(ProviderError, match="lists more than 1 repositories"):
        code_hosts.list_repositories(source, {})
    assert len(host.asked) == 3


@pytest.mark.parametrize("path", ["acme/../../etc", "acme/..", "acme/-x", "acme/a b", "acme/x?y", "acme//x", "acme/\n"])
def test_odd_names_of_a_host_are_left_out(host: Host, address: str, path: str) -> None:
    put(host, 1, "acme/open")
    put(host, 2, "acme/.github")
    host.listed.append(Hosted(3, path))
    host.groups = ("acme", "acme/..", "acme/../..")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        report = fleet.index()
        assert report.failures == ()
        assert names(fleet) == ["github", "open"]
        assert len(host.git.sent) <= 6


@pytest.mark.parametrize("number", ["7", None, [7]])
def test_an_answer_that_is_no_list_of_repositories_changes_nothing(host: Host, address: str, number: object) -> None:
    put(host, 1, "acme/open")
    with Fleet.make("company") as fleet:
        fleet.add([f"{host.kind}:{address}/acme"])
        fleet.index()
        host.listed[0].number = number  # type: ignore[assignment]
        report = fleet.index()
        assert "did not answer with a list of repositories" in str(report.failures[0].reason)
        assert (report.changed, names(fleet)) == ((), ["open"])


def test_a_group_below_another_is_a_source_of_gitlab(tmp_path: Path) -> None:
    host = Host("gitlab", Repositories(tmp_path / "remote"), groups=("acme", "acme/deep"))
    with serving_host(host) as address:
        put(host, 1, "acme/top")
        put(host, 2, "acme/deep/one")
        put(host, 3, "acme/deep/er/two")
        for group, expected in (("acme", ["one", "top", "two"]), ("acme/deep", ["one", "two"])):
            with Fleet.make(group.replace("/", "-")) as fleet:
                fleet.add([f"gitlab:{address}/{group}"])
                assert fleet.index().failures == ()
                assert names(fleet) == expected


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("github:", "is not a source"),
        ("github:acme+everything", "is not a source"),
        ("github:acme/shop", "names no organisation"),
        ("github:a b", "is not the address"),
        ("gitea:acme", "names no host"),
        ("gitlab:ssh://git@host.example/acme", "names no organisation"),
        ("gitlab:file:///etc", "does not clone from"),
        ("gitlab:http://host.example/acme", "does not clone from"),
        ("gitlab:https://jo:secret@host.example/acme", "contains a login"),
        ("gitlab:https://host.example/", "names no organisation"),
        ("gitlab:https://host.example/-x", "is not the address"),
        ("gitlab:https://host.example/a/../b", "names no organisation"),
    ],
)
def test_sources_that_are_refused(source: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        host_source(source, ("https", "ssh"))
    assert caught.value.hint
    assert "secret" not in f"{caught.value} {caught.value.hint}"


def test_usual_hosts_have_short_names() -> None:
    assert host_source("github:acme+forks", ("https",))[1:] == (
        "github",
        "https://github.com",
        "acme",
        frozenset({"forks"}),
    )
    assert host_source("gitlab:acme/deep", ("https",)).host == "https://gitlab.com"
    assert host_source("forgejo:https://codeberg.org/acme", ("https",)).group == "acme"
