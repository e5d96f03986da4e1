"""Shards of an older format of catalogues: they are named, and the next run writes them in the format of now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.older_formats import made_older

from codefathom import Engine
from codefathom.cli import main
from codefathom.fleet import fleet_run, shards
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.shard_parts import parts_of
from codefathom.fleet.shards import SHARDS
from codefathom.stores.catalog.schema import FORMAT
from codefathom.stores.folder import Folder

OLD = FORMAT - 1


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    """A fleet of two shards, of which the version before has written one."""
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    for name in ("alpha", "beta"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.py").write_text(f"def token_{name}(user):\n    return user.token\n")
    assert main(["-q", "fleet", "add", "team", str(tmp_path / "alpha"), str(tmp_path / "beta")]) == 0
    with Fleet.open("team") as fleet, monkeypatch.context() as before:
        before.setattr(shards, "FORMAT", OLD)
        fleet.index()
        with closing(Manifest(fleet.root)) as manifest, manifest.transaction():
            old = manifest.shards()[0]
            made_older(Path(fleet.root) / SHARDS / old.folder / "catalog.db", OLD)
            manifest.write("DELETE FROM parts WHERE slot = ?", [(old.slot,)])
            manifest.put_parts(old.slot, parts_of(Folder(fleet.root).below(SHARDS).below(old.folder)))
    with Fleet.open("team") as fleet:
        yield fleet


def test_a_shard_of_an_older_format_is_named_and_written_anew(team: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    remedy = "run `fathom fleet index team`"
    with Engine.open(team.root) as engine:
        result = engine.search("token of a user")
        assert {hit.chunk.path for hit in result.hits} == {"beta/code.py"}
        said = " ".join(map(str, result.problems))
        assert f"format {OLD} of an older fathom" in said
        assert "`fathom fleet index NAME`" in said

    assert main(["fleet", "status", "team"]) == 0
    assert f"1 shard has format {OLD} of an older fathom, and cannot be asked: {remedy}" in capsys.readouterr().out
    assert main(["--json", "fleet", "status", "team"]) == 0
    assert json.loads(capsys.readouterr().out)["old_shards"] == [team.status().shards[0].folder]

    assert main(["fleet", "index", "team"]) == 0
    told = capsys.readouterr().err
    assert f"1 shard has format {OLD} of an older fathom: it is written in format {FORMAT}" in told

    with Engine.open(team.root) as engine:
        result = engine.search("token of a user")
        assert {hit.chunk.path for hit in result.hits} == {"alpha/code.py", "beta/code.py"}
        assert result.partial is None
    assert team.verify() == ()
    assert main(["fleet", "index", "team"]) == 0
    assert "older fathom" not in capsys.readouterr().err
