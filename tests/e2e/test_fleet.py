"""A fleet: many repositories in shards give what one index of all text gives, from every face, also after a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest

from codefathom import Engine, Federation
from codefathom.cli import main
from codefathom.errors import FathomError, LockedError, UsageError
from codefathom.fleet import fleet_run, manifest
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.fleet_list import FleetList
from codefathom.fleet.repository_filter import for_fleet, with_names
from codefathom.fleet.shards import SHARDS
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.source.changes import FileStat
from codefathom.stores.conditions import matches
from codefathom.types import Filter, SearchResult

PACKAGE = Path(fleet_run.__file__).parents[1]
# Rooms of this project as repositories: they have words, names and texts in common.
ROOMS = ("search", "stores", "source", "answer", "question", "text")
QUESTIONS = (
    "where is the confidence of a search calculated",
    "how are equal scores ordered",
    "LexicalView",
    "reciprocal_rank",
    "which files are ignored by git",
    "write a file so that a kill leaves the old one",
    "regular expression takes too long",
    "what counts the tokens of a context",
    "flat_vectors.py",
    "Catalog.matching",
    "who calls combine",
    "budget of tokens lang:python",
    "question options path:question_options.py",
    "stop words of a question -path:query.py",
    "@@RankingQuery",
    "read_text(",
    "a knitting pattern for woollen socks",
)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def one_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a shard of each repository, however small."""
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)


def repository(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def clone(folder: Path, **files: str) -> Path:
    """Make a repository of git with one commit of these files."""
    repository(folder, **files)
    git = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        subprocess.run([*git, *words], check=True, capture_output=True, timeout=60)
    return folder


def places(result: SearchResult) -> list[tuple[str, int, float]]:
    return [(hit.chunk.path, hit.chunk.start_line, hit.score) for hit in result.hits]


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    for name in ROOMS:
        shutil.copytree(PACKAGE / name, tmp_path / "all" / "rooms" / name, ignore=shutil.ignore_patterns("__pycache__"))
    # What is equal in two of them is indexed once in a fleet.
    for path in (tmp_path / "all" / "rooms").rglob("__init__.py"):
        path.write_text(f'"""{path.parent}"""\n')
    return tmp_path / "all" / "rooms"


def test_shards_give_what_one_index_gives(rooms: Path, state: Path, one_each: None) -> None:
    with Fleet.make("rooms") as fleet:
        fleet.add([str(rooms / name) for name in ROOMS])
        report = fleet.index()
        assert report.failures == ()
        assert report.n_shards_made == len(ROOMS)
        with Engine.open(fleet.root) as shards, Engine.open(str(rooms), is_root=True) as one:
            one.index()
            assert shards.opened.catalog.n_chunks() == one.opened.catalog.n_chunks()
            for question in QUESTIONS:
                expected, result = one.search(question, limit=10), shards.search(question, limit=10)
                assert places(result) == places(expected), question
                assert (result.mode, result.confidence) == (expected.mode, expected.confidence), question
                assert [hit.reason for hit in result.hits] == [hit.reason for hit in expected.hits]
            for mode in ("lexical", "vector", "symbol", "regex"):
                asked = {"query": "combine", "mode": mode, "limit": 10}
                assert places(shards.search(**asked)) == places(one.search(**asked)), mode  # type: ignore[arg-type]
            assert shards.symbols("score") == one.symbols("score")
            assert shards.n_symbols("score") == one.n_symbols("score")


def test_a_rare_name_opens_few_shards(tmp_path: Path, state: Path, one_each: None) -> None:
    with Fleet.make("many") as fleet:
        for number in range(12):
            repository(tmp_path / f"r{number}", code=f"def only_here_{number}(x):\n    return thing_{number}(x)\n")
        fleet.add([str(tmp_path / f"r{number}") for number in range(12)])
        fleet.index()
        with Engine.open(fleet.root) as engine:
            catalogs = engine.opened.catalog
            assert [item.path for item in catalogs.symbols_named("only_here_7")] == ["r7/code.py"]  # type: ignore[attr-defined]
            assert catalogs.n_open <= 3  # type: ignore[attr-defined]


def test_equal_files_are_indexed_once(tmp_path: Path, state: Path) -> None:
    shared = "def shared_helper(y):\n    return y + 1\n"
    with Fleet.make("forks") as fleet:
        for number in range(5):
            repository(tmp_path / f"fork{number}", same=shared, own=f"def own_{number}():\n    return {number}\n")
        fleet.add([str(tmp_path / f"fork{number}") for number in range(5)])
        fleet.index()
        status = fleet.status()
        assert status.shards[0].n_files == 6
        assert status.n_bytes_distinct == status.n_bytes_text - 4 * len(shared)
        with Engine.open(fleet.root) as engine:
            hit = engine.search("shared_helper").hits[0]
            assert hit.chunk.path == "fork0/same.py"
            assert "also in 4 other places, such as fork1/same.py, fork2/same.py" in hit.reason
            assert engine.files.lines("fork3/same.py", 1, 1).text.startswith("def shared_helper")
            # A file belongs to all that have it.
            assert engine.search("shared_helper repo:fork3").hits[0].chunk.path == "fork0/same.py"
            assert engine.search("own_3 repo:fork3").hits[0].chunk.path == "fork3/own.py"
            left = {hit.chunk.path for hit in engine.search("shared_helper own -repo:fork0", limit=50).hits}
            assert left == {"fork0/same.py", *(f"fork{number}/own.py" for number in range(1, 5))}
            every = " ".join(f"-repo:fork{number}" for number in range(5))
            assert engine.search(f"shared_helper {every}").hits == ()


def test_repositories_that_are_forks(tmp_path: Path, state: Path, one_each: None) -> None:
    shared = "def shared_helper(y):\n    return y + 1\n" * 5
    with Fleet.make("forks") as fleet:
        repository(tmp_path / "a", same=shared, own="def own_a():\n    return shared_helper(1)\n")
        repository(tmp_path / "b", same=shared, new="def own_b():\n    return shared_helper(2)\n")
        repository(tmp_path / "c", own="def own_c():\n    return shared_helper(3)\n")
        fleet.add([str(tmp_path / name) for name in "abc"])
        fleet.index()
        assert fleet.status().forks == ("b",)
        with Engine.open(fleet.root) as engine:

            def paths(question: str) -> set[str]:
                return {hit.chunk.path for hit in engine.search(question, limit=50).hits}

            every = {"a/same.py", "a/own.py", "b/new.py", "c/own.py"}
            assert paths("shared_helper") == every
            assert paths("shared_helper fork:no") == every - {"b/new.py"}
            assert paths("shared_helper fork:yes") == {"a/same.py", "b/new.py"}
            assert paths("shared_helper -fork:yes") == every - {"b/new.py"}
            assert paths("shared_helper repo:a repo:c") == every - {"b/new.py"}
            assert paths("shared_helper -repo:a -repo:c") == {"a/same.py", "b/new.py"}
            assert paths("shared_helper fork:no repo:b") == {"a/same.py"}  # it is also in a, which is no fork
    project = repository(tmp_path / "alone", same=shared)
    with Engine.open(str(project), is_root=True) as engine:
        engine.index()
        for refresh in ("shared_helper fork:no", "fork:yes"):
            with pytest.raises(UsageError, match="fork"):
                engine.search(refresh)


@pytest.mark.parametrize("most_bytes", [1, fleet_run.MOST_BYTES])
def test_names_of_repositories_in_other_case(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch, most_bytes: int
) -> None:
    monkeypatch.setattr(fleet_run, "MOST_BYTES", most_bytes)
    shared = "def shared_helper(y):\n    return y + 1\n"
    with Fleet.make("cases") as fleet:
        folders = [tmp_path / name for name in ("first", "Second", "a/shop", "b/Shop")]
        for folder in folders:
            own = f"def helper_{len(folder.name)}(): return {folder.name!r}\n"
            repository(folder, own=own, **({} if "op" in folder.name else {"same": shared}))
        fleet.add([str(folder) for folder in folders])
        fleet.index()
        with Engine.open(fleet.root) as engine:

            def paths(question: str, where: str = "") -> set[str]:
                chosen = parse_filter(where) if where else None
                return {hit.chunk.path for hit in engine.search(question, where=chosen, limit=50).hits}

            other = {"Second/same.py"}  # it came before the other one
            for name in ("second", "SECOND", "Second"):
                assert paths(f"helper repo:{name}") == {"Second/own.py", *other}
                assert paths("helper", f"module = {name}") == {"Second/own.py", *other}
                assert paths("helper", f"module != {name}") == {"first/own.py", "shop/own.py", "Shop/own.py", *other}
                assert paths(f"helper -repo:{name}") == {"first/own.py", "shop/own.py", "Shop/own.py", *other}
            # Of two names that differ in case only, the one that was written.
            assert paths("helper repo:shop") == {"shop/own.py"}
            assert paths("helper repo:Shop") == {"Shop/own.py"}
            assert paths("helper repo:SHOP") == {"Shop/own.py", "shop/own.py"}
            assert paths("helper -repo:shop") == {"first/own.py", "Second/own.py", "Shop/own.py", *other}


def test_a_repository_that_is_not_there_is_named(tmp_path: Path, state: Path) -> None:
    with Fleet.make("team") as fleet:
        for name in ("checkout", "Payments", "web"):
            repository(tmp_path / name, code=f"def {name}_token(): pass\n")
        fleet.add([str(tmp_path / name) for name in ("checkout", "Payments", "web")])
        fleet.index()
        with Engine.open(fleet.root) as engine:
            for condition in ("repo:chekout", "-repo:chekout", "repo:web,chekout", "module:chekout"):
                with pytest.raises(UsageError, match="the fleet has no repository 'chekout'") as error:
                    engine.search(f"token {condition}")
                assert error.value.hint == "did you mean checkout?"
            with pytest.raises(UsageError) as error:
                engine.search("token", where=parse_filter("module = PAYMENT"))
            assert error.value.hint == "did you mean Payments?"
            with pytest.raises(UsageError) as error:
                engine.context("token repo:zzz")
            assert error.value.hint == "it has Payments, checkout, web"
            for condition in ("fork:yes", "-fork:no"):
                with pytest.raises(UsageError, match="no repository of the fleet is a fork"):
                    engine.search(f"token {condition}")
            assert len(engine.search("token -fork:yes fork:no").hits) == 3


def test_places_of_a_fleet_and_a_project_are_gathered(tmp_path: Path, state: Path) -> None:
    with Fleet.make("team") as fleet:
        for number, name in enumerate(("one", "two", "three")):
            lines = {f"f{place}": 1 + (place + number) % 3 for place in range(3)}
            texts = {key: f"# {key} of {name}\n" + "token(user)\n" * n for key, n in lines.items()}
            repository(tmp_path / name, **texts, own=f"def {name}(): pass\n")
        fleet.add([str(tmp_path / "one"), str(tmp_path / "two")])
        fleet.index()
    with Engine.open(str(tmp_path / "three"), is_root=True) as engine:
        engine.index()
    with Federation.open([fleet.root, str(tmp_path / "three")]) as both:
        asked = {"query": r"token\(", "mode": "regex"}
        ranked = both.search(**asked).hits  # type: ignore[arg-type]
        gathered = both.search(**asked, group="repository").hits  # type: ignore[arg-type]
        page = both.search(**asked, group="repository", limit=3, offset=2).hits  # type: ignore[arg-type]
    assert len(gathered) == len(ranked) == 9
    assert gathered[0] == ranked[0]
    owners = [(item.project_id, *item.hit.chunk.path.split("/")[:-1]) for item in gathered]
    assert len([owner for owner, _ in groupby(owners)]) == len(set(owners)) == 3
    assert {item.hit.chunk.path for item in page} == {item.hit.chunk.path for item in ranked[2:5]}


def test_a_repository_that_is_left_out_shares_very_many_files(tmp_path: Path) -> None:
    n_files = 20_100
    with closing(manifest.Manifest(str(tmp_path))) as fleet:
        with fleet.transaction():
            for name in ("first", "second"):
                fleet.put_repository(manifest.Repository(0, name, f"/{name}", "", "x", 1, n_files, n_files))
            for number in (1, 2):
                files = (FileStat(f"{place:05}.py", 1, 0, 0, 0) for place in range(n_files))
                fleet.put_files(number, (manifest.ListedFile(file, file.path.encode()) for file in files))
        where = Filter("module", "ne", "first")
        slots = {"first": 1, "second": 1}
        meaning = for_fleet(with_names(where, slots), slots, fleet)
        for path in ("first/00000.py", f"first/{n_files - 1:05}.py"):
            assert matches(meaning.where, {"path": path, "module": "first"})


def test_symbols_of_a_copy_are_found_with_its_repository(tmp_path: Path, state: Path) -> None:
    shared = "def shared_helper(y):\n    return y + 1\n"
    with Fleet.make("forks") as fleet:
        for number in range(2):
            repository(tmp_path / f"fork{number}", same=shared)
        fleet.add([str(tmp_path / f"fork{number}") for number in range(2)])
        fleet.index()
        with Engine.open(fleet.root) as engine:
            for level in ("chunk", "symbol", "function", "file"):
                result = engine.search("shared_helper repo:fork1", level=level)
                assert [hit.chunk.path for hit in result.hits] == ["fork0/same.py"], level


def test_the_home_of_a_content_moves_with_it(tmp_path: Path, state: Path, one_each: None) -> None:
    shared = "def wandering_content(y):\n    return y\n"
    for name in ("first", "second"):
        repository(tmp_path / name, same=shared, own=f"def in_{name}(): pass\n")
    with Fleet.make("moves") as fleet:
        fleet.add([str(tmp_path / "first"), str(tmp_path / "second")])
        fleet.index()
        with Engine.open(fleet.root) as engine:
            assert engine.search("wandering_content").hits[0].chunk.path == "first/same.py"
            (tmp_path / "first" / "same.py").unlink()
            report = fleet.index()
            assert (report.changed, report.n_shards_made) == (("first",), 2)
            hit = engine.search("wandering_content").hits[0]
            assert (hit.chunk.path, "also in" in hit.reason) == ("second/same.py", False)
            assert fleet.index().n_shards_made == 0


def test_a_change_makes_one_shard_anew(tmp_path: Path, state: Path, one_each: None) -> None:
    for name in ("one", "two", "three"):
        clone(tmp_path / "clones" / name, code=f"def of_{name}(): pass\n")
    with Fleet.make("team") as fleet:
        fleet.add([str(tmp_path / "clones")])
        assert fleet.index().changed == ("one", "three", "two")
        clone(tmp_path / "clones" / "two", code="def freshly_written(): pass\n")
        (tmp_path / "clones" / "one" / "code.py").write_text("def not_committed(): pass\n")
        with Engine.open(fleet.root) as engine:
            assert engine.search("of_two").hits[0].chunk.path == "two/code.py"
            report = fleet.index()
            assert (report.changed, report.n_shards_made, report.generation) == (("two",), 1, 2)
            assert engine.search("freshly_written").hits[0].chunk.symbol == "freshly_written"
            assert "not_committed" not in engine.search("not_committed").hits[0].chunk.text
        shutil.rmtree(tmp_path / "clones" / "three")
        assert fleet.index().changed == ("three",)
        assert [item.name for item in fleet.status().repositories] == ["one", "two"]


def test_what_cannot_be_read_is_named_and_stays_as_it_was(tmp_path: Path, state: Path) -> None:
    clone(tmp_path / "clones" / "sound", code="def sound_code(): pass\n")
    broken = clone(tmp_path / "clones" / "broken", code="def broken_code(): pass\n")
    empty = tmp_path / "clones" / "empty"
    empty.mkdir()
    subprocess.run(["git", "init", "-q", str(empty)], check=True, timeout=60)
    with Fleet.make("team") as fleet:
        fleet.add([str(tmp_path / "clones")])
        assert [item.path for item in fleet.index().failures] == ["empty"]
        (broken / ".git" / "HEAD").write_text("ref: refs/heads/nowhere\n")
        report = fleet.index()
        assert [item.path for item in report.failures] == ["broken", "empty"]
        problem = next(item for item in fleet.status().failed if item.name == "broken")
        assert problem.problem and problem.remedy
        with Engine.open(fleet.root) as engine:
            assert engine.search("broken_code").hits[0].chunk.path == "broken/code.py"


def test_names_and_links_of_strangers(tmp_path: Path, state: Path) -> None:
    secret = repository(tmp_path / "elsewhere", secret="def outside_of_it(): pass\n")
    strange = clone(tmp_path / "clones" / "..x; rm -rf ~\n\x1b[31m", code="def strange_name(): pass\n")
    os.symlink(secret, strange / "link")
    os.symlink(secret, tmp_path / "clones" / "linked-clone")
    twin = clone(tmp_path / "clones" / "group" / "twin", code="def first_twin(): pass\n")
    clone(tmp_path / "clones" / "other" / "twin", code="def second_twin(): pass\n")
    clone(twin.parent / "code.git", code="def named_git(): pass\n")
    with Fleet.make("strange") as fleet:
        fleet.add([str(tmp_path / "clones")])
        fleet.index()
        names = {item.name for item in fleet.status().repositories}
        assert names == {"x-rm--rf-31m", "twin", "other-twin", "code"}
        with Engine.open(fleet.root) as engine:
            assert engine.search("strange_name").hits[0].chunk.path == "x-rm--rf-31m/code.py"
            assert all("outside_of_it" not in hit.chunk.text for hit in engine.search("outside_of_it").hits)


def test_a_folder_that_nobody_has_named_is_no_fleet(tmp_path: Path, state: Path) -> None:
    repository(tmp_path / "source", code="def inside(): pass\n")
    with Fleet.make("real") as fleet:
        fleet.add([str(tmp_path / "source")])
        fleet.index()
        shutil.copytree(fleet.root, tmp_path / "planted")
    (tmp_path / "planted" / "mine.py").write_text("def mine(): pass\n")
    with Engine.open(str(tmp_path / "planted")) as engine:
        assert engine.search("mine").hits[0].chunk.path == "mine.py"
        assert engine.place.revision is None


def test_lists_of_folders_and_wrong_sources(tmp_path: Path, state: Path) -> None:
    repository(tmp_path / "one", code="def in_one(): pass\n")
    (tmp_path / "list.txt").write_text("# the team\none\n\n")
    with Fleet.make("listed", str(tmp_path / "place")) as fleet:
        fleet.add([str(tmp_path / "list.txt")])
        assert fleet.index().changed == ("one",)
        (tmp_path / "list.txt").write_text("list.txt\n")
        (failure,) = fleet.index().failures
        assert "names a file; put it back" in str(failure.reason)
        assert [item.name for item in fleet.status().repositories] == ["one"]
        with pytest.raises(UsageError, match="is not there"):
            fleet.add([str(tmp_path / "nothing")])
        with pytest.raises(UsageError, match="is not a source"):
            fleet.remove_source("nothing")
    with pytest.raises(UsageError, match="other files are there"):
        Fleet.make("other", str(tmp_path))
    with pytest.raises(UsageError, match="cannot be the name"):
        Fleet.make("../up")


@pytest.fixture
def shop(tmp_path: Path, state: Path) -> Iterator[Path]:
    clone(tmp_path / "clones" / "web", code="def price_of_basket(basket):\n    return sum(basket)\n")
    clone(tmp_path / "clones" / "store", code="def price_in_store(item):\n    return item.price\n")
    assert main(["-q", "fleet", "add", "shop", str(tmp_path / "clones")]) == 0
    assert main(["-q", "fleet", "index", "shop"]) == 0
    yield tmp_path


def test_the_command_asks_a_fleet_like_a_project(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(list(words))
        return code, capsys.readouterr().out

    assert "shop/web/code.py:1-2" in run("search", "-p", "shop", "price_of_basket")[1]
    assert "web/" not in run("search", "-p", "shop", "price", "--repo", "store")[1]
    for words in (("-repo:web", "price"), ("price", "-repo:web"), ("--", "price", "-repo:web")):
        code, out = run("search", "-p", "shop", *words)
        assert (code, "shop/store/" in out, "web/" in out) == (0, True, False)
    assert "shop/store/code.py:1" in run("symbols", "-p", "shop", "price_in")[1]
    assert "def price_of_basket" in run("context", "-p", "shop", "price_of_basket")[1]
    status = json.loads(run("--json", "fleet", "status", "shop")[1])
    assert (status["repositories"], status["shards"], status["lines"]) == (2, 1, 4)
    assert ": 2 repositories, 1 shard, 4 lines\n" in run("fleet", "status", "shop")[1]
    assert run("fleet")[1].startswith("shop  ")
    assert run("fleet", "index", "shop")[1].startswith("shop: 0 repositories changed, 0 shards made")
    assert run("fleet", "add", "other", "not-there")[0] == 2
    assert [fleet.name for fleet in FleetList().listed()] == ["shop"]
    code, out = run("fleet", "remove", "shop")
    assert (code, out.startswith("removed the fleet shop")) == (0, True)
    assert FleetList().listed() == ()
    assert run("fleet", "status", "shop")[0] == 2
    assert run("fleet", "add", "shop", str(shop / "clones"))[0] == 0  # where its settings have stayed


def test_programs_ask_it_together_with_projects(shop: Path) -> None:
    other = repository(shop / "tools", tool="def price_tool(): pass\n")
    with Federation.open(["shop", str(other)]) as several:
        result = several.search("price")
        assert {item.project_id for item in result.hits} == {"shop", "tools"}
        assert not result.failed


def test_an_empty_fleet_says_what_to_do(tmp_path: Path, state: Path) -> None:
    with Fleet.make("empty") as fleet, Engine.open(fleet.root) as engine:
        with pytest.raises(FathomError, match="no text yet"):
            engine.search("anything")
        with pytest.raises(UsageError, match="is a fleet"):
            engine.index()


def test_a_long_run_keeps_nobody_from_asking(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "_WAIT_S", 0.1)
    running = manifest.Manifest(FleetList().named("shop").root)
    with closing(running), running.transaction(), Fleet.open("shop") as fleet:
        assert fleet.status().repositories
        with Engine.open(fleet.root) as engine:
            assert engine.search("price").hits
        with pytest.raises(LockedError, match="another process is indexing the fleet"):
            fleet.add([str(shop)])
        with pytest.raises(LockedError, match="another process is indexing the fleet"):
            fleet.remove_source(fleet.status().sources[0])


_KILLED = """
import os, signal, sys
from codefathom.fleet import fleet_run
from codefathom.fleet.fleet import Fleet

moment, wanted = 0, int(sys.argv[1])

def die(kind):
    real = getattr(fleet_run.FleetRun, kind)
    def step(self, *values, **options):
        global moment
        result = real(self, *values, **options)
        moment += 1
        if moment == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(fleet_run.FleetRun, kind, step)

for kind in ("_take", "_assign", "_take_in", "_join_words"):
    die(kind)
fleet_run.MOST_BYTES = 1
Fleet.open("team").index()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_kill_leaves_the_old_or_the_new_fleet(tmp_path: Path, state: Path, one_each: None) -> None:
    for name in ("one", "two"):
        repository(tmp_path / name, code=f"def old_{name}(): pass\n")
    with Fleet.make("team") as fleet:
        fleet.add([str(tmp_path / "one"), str(tmp_path / "two")])
        fleet.index()
    for name in ("one", "two"):
        repository(tmp_path / name, code=f"def new_{name}(): pass\n")
    n_killed = 0
    for moment in range(1, 9):
        ended = subprocess.run([sys.executable, "-c", _KILLED, str(moment)], check=False, timeout=300)
        with Engine.open(FleetList().named("team").root) as engine:
            names = {item.symbol.name for item in engine.symbols()}
        if ended.returncode != -signal.SIGKILL:
            break
        n_killed += 1
        assert names == {"old_one", "old_two"}
    assert n_killed == 6  # two repositories, their shards, two shards made, the words
    assert names == {"new_one", "new_two"}
    with Fleet.open("team") as fleet:
        fleet.index()
        folders = {shard.folder for shard in fleet.status().shards}
        assert folders <= set(os.listdir(os.path.join(fleet.root, SHARDS)))
