"""What of a fleet cannot be asked: it is said by name, the rest answers, and the next run mends it."""

from __future__ import annotations

import json
import math
import os
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import DamagedError
from codefathom.fleet import fleet_run, opened_fleet
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.reach import FleetReach, reaching
from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.fleet.shards import SHARDS
from codefathom.question.asker import result_of
from codefathom.question.question import Question

NAMES = ("alpha", "beta", "gamma")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def team(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet of three repositories, a shard for each."""
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    sources = []
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").write_text(f"def refresh_token_{name}(user):\n    return user.token_{name}\n")
        sources.append(str(tmp_path / name))
    with Fleet.make("team") as fleet:
        fleet.add(sources)
        fleet.index()
        assert main(["-q", "fleet", "add", "team", *sources]) == 0
        yield fleet


def shard_of(fleet: Fleet, name: str) -> Path:
    slot = next(item.slot for item in fleet.status().repositories if item.name == name)
    shard = next(item for item in fleet.status().shards if item.slot == slot)
    return Path(fleet.root) / SHARDS / shard.folder


def flip(path: Path, place: int) -> None:
    """Change one byte of a file, whose size stays."""
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.chmod(0o600)
    path.write_bytes(content)


def blank(path: Path) -> None:
    """Write zeros into a file, but for what is compared before it is opened."""
    content = path.read_bytes()
    path.write_bytes(content[:16_384] + bytes(len(content) - 2 * 16_384) + content[-16_384:])


def truncate_words(shard: Path) -> None:
    words = next(iter((shard / "lexical" / "1").glob("*.idx")))
    os.truncate(words, words.stat().st_size - 1)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "the catalogue is gone": lambda shard: (shard / "catalog.db").unlink(),
    "the catalogue is cut off": lambda shard: os.truncate(shard / "catalog.db", 9_000),
    "the head of the catalogue": lambda shard: flip(shard / "catalog.db", 20),
    "all between the ends of the catalogue": lambda shard: blank(shard / "catalog.db"),
    "the end of the catalogue": lambda shard: flip(shard / "catalog.db", -20),
    "a list of words is cut off": truncate_words,
    "vectors are gone": lambda shard: next(shard.glob("vectors-*/vectors.bin")).unlink(),
    "vectors differ": lambda shard: flip(next(shard.glob("vectors-*/vectors.bin")), 100),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_shard_is_named_and_the_rest_answers(team: Fleet, damage: str) -> None:
    shard = shard_of(team, "beta")
    with Engine.open(team.root) as engine:
        whole = engine.search("refresh token", limit=10)
        assert (whole.partial, {hit.chunk.path for hit in whole.hits}) == (None, {f"{name}/code.py" for name in NAMES})
        assert not whole.degraded
    DAMAGES[damage](shard)
    told: list[str] = []
    with Engine.open(team.root, on_wait=told.append) as engine:
        result = engine.search("refresh token", limit=10)
        assert {hit.chunk.path for hit in result.hits} == {"alpha/code.py", "gamma/code.py"}
        assert result.partial is not None
        assert (result.partial.n_shards, result.partial.n_repositories) == (3, 1)
        (unasked,) = result.partial.unasked
        assert (unasked.shard, unasked.repositories) == (shard.name, ("beta",))
        assert f"shard {shard.name} (beta): its file " in result.degraded[0]
        assert not result.rest.is_exact
        # All that the others hold is found in all other ways, too; what needs every shard names the damaged one.
        assert [item.path for item in engine.related("@@refresh_token_alpha").edges] == []
        assert engine.files.lines("gamma/code.py", 1, 1).text.startswith("def refresh_token_gamma")
        symbols, outline = result_of(engine, Question("", "symbols")), engine.map()
        assert {item.path for item in symbols.symbols} == {"alpha/code.py", "gamma/code.py"}
        assert {item.path for item in outline.files} == {"alpha/code.py", "gamma/code.py"}
        for answer in (symbols, outline, engine.related("@@refresh_token_alpha")):
            assert f"shard {shard.name} (beta): its file " in answer.completeness
        files = result_of(engine, Question("", "files"))
        assert [item.path for item in files.files] == ["alpha/code.py", "gamma/code.py"]
        assert f"shard {shard.name} (beta): its file " in files.completeness
        # A list in which no sentence has a place tells it to `on_wait`.
        told.clear()
        assert {item.path for item in engine.symbols()} == {"alpha/code.py", "gamma/code.py"}
        assert f"shard {shard.name} (beta): its file " in told[0]
        assert engine.n_symbols() == 2
        # What names a file of the damaged shard ends with an error.
        with pytest.raises(DamagedError, match=shard.name):
            engine.files.lines("beta/code.py", 1, 1)
    assert [item.path for item in team.verify()] == [shard.name]


def test_the_whole_comparison_finds_what_the_quick_one_does_not(
    team: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fleet", "verify", "team"]) == 0
    assert capsys.readouterr().out == "team: 3 shards as written\n"
    shard = shard_of(team, "gamma")
    flip(shard / "catalog.db", (shard / "catalog.db").stat().st_size // 2)
    assert main(["fleet", "verify", "team"]) == 2
    out = capsys.readouterr().out
    assert f"shard {shard.name} is damaged: its file catalog.db holds something else" in out
    assert "fathom fleet index team --full" in out
    assert main(["--json", "fleet", "verify", "team"]) == 2
    assert [item["path"] for item in json.loads(capsys.readouterr().out)["damaged"]] == [shard.name]
    report = team.index(full=True)
    assert [item.path for item in report.damaged] == [shard.name]
    assert team.verify() == ()
    with Engine.open(team.root) as engine:
        assert engine.search("refresh_token_gamma").hits[0].chunk.path == "gamma/code.py"


def test_a_run_makes_shards_again_whose_files_are_gone(team: Fleet) -> None:
    DAMAGES["the catalogue is gone"](shard_of(team, "alpha"))
    report = team.index()
    assert (len(report.damaged), report.n_shards_made, report.changed) == (1, 1, ())
    with Engine.open(team.root) as engine:
        result = engine.search("refresh token", limit=10)
        assert (result.partial, len(result.hits)) == (None, 3)
    assert team.index().n_shards_made == 0


def test_no_shard_can_be_asked(team: Fleet) -> None:
    for name in NAMES:
        (shard_of(team, name) / "catalog.db").unlink()
    with Engine.open(team.root) as engine, pytest.raises(DamagedError, match=r"its file catalog\.db is missing"):
        engine.search("refresh token")


def test_a_question_without_time_names_all_shards(team: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    (Path(team.root) / "fathom.toml").write_text("[search]\nfleet_timeout_s = 0.0001\n")
    with Engine.open(team.root) as engine:
        engine.opened  # noqa: B018  # a shard that is open is no faster: the end of a question is a time
        result = engine.search("refresh token " * 2_000)
        assert result.partial is not None
        assert {name for item in result.partial.unasked for name in item.repositories} == set(NAMES)
        assert pickle.loads(pickle.dumps(result)).partial == result.partial
    assert main(["--json", "search", "-p", "team", "refresh token " * 2_000]) in (0, 1)
    shape = json.loads(capsys.readouterr().out)
    partial = shape["projects"][0]["partial"] if "projects" in shape else shape["partial"]
    assert (partial["n_shards"], partial["n_unasked"], partial["n_repositories"]) == (3, 3, 3)
    assert [item["repositories"] for item in partial["shards"]] == [["alpha"], ["beta"], ["gamma"]]
    assert "3 of 3 shards were not searched to the end, with 3 repositories" in json.dumps(shape)


def test_lists_without_time_say_so(
    team: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened_fleet, "FleetReach", partial(FleetReach, clock=lambda: math.inf))
    said = "3 of 3 shards were not searched to the end"
    for words in (["symbols"], ["map"], ["map", "refresh token"]):
        main([*words, "-p", "team"])
        assert said in capsys.readouterr().err, words
        main(["--json", *words, "-p", "team"])
        assert said in json.loads(capsys.readouterr().out)["completeness"], words
    main(["related", "-p", "team", "@@refresh_token_alpha"])
    assert said in capsys.readouterr().err
    main(["-C", team.root, "files"])
    assert said in capsys.readouterr().err
    main(["-C", team.root, "--json", "files"])
    assert said in json.loads(capsys.readouterr().out)["completeness"]
    told: list[str] = []
    with Engine.open(team.root, on_wait=told.append) as engine:
        assert engine.symbols() == ()
    assert said in told[0]


def test_what_was_asked_before_the_end_is_shown(team: Fleet) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1
        return now

    manifest = team._manifest
    catalogs = ShardCatalogs(manifest)
    with reaching(FleetReach(team.root, until=2.5, clock=clock)) as reach:
        assert [item.path for item in catalogs.documents()] == ["alpha/code.py", "beta/code.py"]
        # A place in a shard that was asked is read to its end.
        assert [item.path for item in catalogs.documents_at(["alpha/code.py", "gamma/code.py"])] == ["alpha/code.py"]
        assert list(reach.unasked) == [3]
        assert catalogs.paths() == []  # and what was made of a part is not kept
    assert catalogs.paths() == [f"{name}/code.py" for name in NAMES]
    catalogs.close()
