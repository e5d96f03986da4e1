"""Readers of the repositories of a fleet: its file, the shards that it makes, and what a sight shows of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import IndexingError, SettingsError, UsageError
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.readers_file import READERS, reader_rules
from codefathom.project.location import locate
from codefathom.project.repository_sight import (
    ReaderRule,
    RepositorySight,
    readers_of,
    sight_of,
    words_of_person,
    words_of_token,
)
from codefathom.types import SearchResult

ADA = '[[rule]]\nrepositories = ["alpha"]\nreaders = ["ada"]\n'
BEN = '[[rule]]\nrepositories = ["beta"]\nreaders = ["ben"]\n'
NOBODY = '[[rule]]\nrepositories = ["*"]\nreaders = []\n'
NAMES = ("alpha", "beta", "gamma")


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet of three repositories in one shard."""
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").write_text(f"def token_{name}(user):\n    return user.token\n")
        (tmp_path / name / "same.py").write_text("def parse_header(line):\n    return line\n")
    assert main(["-q", "fleet", "add", "team", *(str(tmp_path / name) for name in NAMES)]) == 0
    with Fleet.open("team") as fleet:
        fleet.index()
        yield fleet


def write(fleet: Fleet, text: str) -> None:
    (Path(fleet.root) / READERS).write_text(text)


def seen_by(fleet: Fleet, name: str, question: str = "token") -> SearchResult:
    sight = sight_of(reader_rules(fleet.root) or (), words_of_person(name, ()))
    with Engine(replace(locate(fleet.root, is_root=True), sight=sight)) as engine:
        return engine.search(question)


def repositories(result: SearchResult) -> set[str]:
    return {hit.chunk.path.partition("/")[0] for hit in result.hits}


def places(result: SearchResult) -> list[tuple[str, float]]:
    return [(hit.chunk.path, hit.score) for hit in result.hits]


def test_who_may_read_what() -> None:
    rules = (
        *_rules(("shop-*", "Auth"), {"ada", "@pay"}),
        *_rules(("shop-web",), {"*"}),
        *_rules(("*-key",), set()),
    )
    assert readers_of(rules, "other") is None
    assert readers_of(rules, "SHOP-API") == readers_of(rules, "auth") == {"ada", "@pay"}
    assert readers_of(rules, "shop-web") is None
    assert readers_of(rules, "root-key") == frozenset()
    assert readers_of(rules, "shop-key") == {"ada", "@pay"}
    assert readers_of(rules, "authority") is None
    sights = {
        name: RepositorySight(rules, words)
        for name, words in (
            ("ada", words_of_person("ada", ())),
            ("ben", words_of_person("ben", ("pay",))),
            ("eve", words_of_person("@pay", ())),
            ("bot", words_of_token("ada")),
            ("odd", words_of_person("", ())),
        )
    }
    assert {name for name, sight in sights.items() if sight.sees("auth")} == {"ada", "ben"}
    assert all(sight.sees("shop-web") and not sight.sees("root-key") for sight in sights.values())
    assert len({sight.digest for sight in sights.values()}) >= 3


def _rules(names: tuple[str, ...], readers: set[str]) -> tuple[ReaderRule, ...]:
    return (ReaderRule(names, frozenset(readers)),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule", "cannot read"),
        ("rules = []", "'rules', which means nothing"),
        ("rule = 3", "no list of tables"),
        ('[[rule]]\nrepositories = ["a"]', "rule 1 must have"),
        ('[[rule]]\nrepositories = ["a"]\nreaders = ["b"]\nwho = 1', "and nothing else"),
        ('[[rule]]\nrepositories = "a"\nreaders = ["b"]', "repositories of rule 1 must be a list"),
        ('[[rule]]\nrepositories = ["a"]\nreaders = [1]', "readers of rule 1 must be a list"),
        ('[[rule]]\nrepositories = ["*a*b*c*d*"]\nreaders = []', "more than 4 stars"),
        ("#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_means_nothing_is_an_error(team: Fleet, text: str, said: str) -> None:
    write(team, text)
    with pytest.raises(SettingsError, match=said.replace("(", r"\(")):
        reader_rules(team.root)


def test_a_link_is_no_such_file(team: Fleet, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (Path(team.root) / READERS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError):
        reader_rules(team.root)


def test_shards_follow_the_readers(team: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    write(team, ADA + BEN)
    assert main(["fleet", "status", "team"]) == 0
    assert "1 shard with repositories of different readers" in capsys.readouterr().out
    with pytest.raises(IndexingError, match="you may read none"):
        seen_by(team, "ada")
    assert len(team.index().changed) == 0
    status = team.status()
    assert (len({item.slot for item in status.repositories}), len(status.shards), status.mixed) == (3, 3, ())
    assert repositories(seen_by(team, "ada")) == {"alpha", "gamma"}
    assert repositories(seen_by(team, "ben")) == {"beta", "gamma"}
    assert repositories(seen_by(team, "eve")) == {"gamma"}
    with Engine.open(team.root) as engine:
        assert repositories(engine.search("token")) == set(NAMES)
    # The same rules again change nothing.
    assert team.index().n_shards_made == 0
    capsys.readouterr()
    write(team, ADA + BEN.replace("beta", "bata"))
    assert main(["fleet", "status", "team"]) == 0
    out = capsys.readouterr().out
    assert f"{READERS}: 2 rules; 1 repository not for everybody" in out
    assert f"{READERS}: no repository is called 'bata'" in out
    assert main(["fleet", "status", "team", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reader_rules"] == 2


def test_who_lacks_a_part_of_his_own_is_told(team: Fleet, tmp_path: Path) -> None:
    write(team, ADA + BEN)
    team.index()
    (tmp_path / "delta").mkdir()
    (tmp_path / "delta" / "code.py").write_text("def token_delta(user):\n    return user.token\n")
    team.add([str(tmp_path / "delta")])
    team.index()
    assert seen_by(team, "ada").partial is None
    # Delta is in the shard of gamma. Until that is made again, only who may read both reads gamma.
    write(team, ADA + BEN + ADA.replace("alpha", "delta").replace("ada", "eve"))
    result = seen_by(team, "ada")
    assert repositories(result) == {"alpha"}
    assert result.partial is not None
    assert [item.repositories for item in result.partial.unasked] == [("gamma",)]
    assert "until `fathom fleet index NAME` makes it again" in str(result.partial.unasked[0].reason)
    assert repositories(seen_by(team, "eve")) == {"gamma", "delta"}
    team.index()
    assert repositories(seen_by(team, "ada")) == {"alpha", "gamma"}
    assert seen_by(team, "ada").partial is None


def test_what_was_taken_away_counts_in_no_score(team: Fleet, tmp_path: Path) -> None:
    """A reader's scores are those of a fleet that never had the rest, also after the rules have changed."""
    for number in range(10):
        (tmp_path / "beta" / f"more_{number}.py").write_text(f"def token_{number}(token):\n    return token\n")
    team.index()
    write(team, BEN)
    team.index()
    after = seen_by(team, "eve")
    assert main(["-q", "fleet", "add", "rest", str(tmp_path / "alpha"), str(tmp_path / "gamma")]) == 0
    with Fleet.open("rest") as rest:
        rest.index()
        with Engine.open(rest.root) as engine:
            assert places(engine.search("token")) == places(after)


def test_equal_files_are_one_only_for_the_same_readers(team: Fleet) -> None:
    write(team, ADA)
    team.index()
    hit = seen_by(team, "eve", "parse_header").hits[0]
    assert hit.chunk.path == "beta/same.py"
    assert [reason for reason in map(str, hit.reasons) if "also in" in reason] == ["also in gamma/same.py"]
    paths = {hit.chunk.path for hit in seen_by(team, "ada", "parse_header").hits}
    assert {"alpha/same.py", "beta/same.py"} <= paths
    assert [hit.chunk.path for hit in seen_by(team, "eve", "parse_header repo:gamma").hits] == ["beta/same.py"]
    with pytest.raises(UsageError, match="no repository 'alpha'") as error:
        seen_by(team, "eve", "parse_header repo:alpha")
    assert error.value.hint == "it has beta, gamma"  # as where it is not there


def test_without_a_rule_for_him_nobody_reads(team: Fleet) -> None:
    write(team, NOBODY + ADA)
    team.index()
    assert repositories(seen_by(team, "ada")) == {"alpha"}
    with pytest.raises(IndexingError, match="you may read none"):
        seen_by(team, "ben")
