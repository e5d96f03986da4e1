"""Projects by name, and one question to several of them."""

from __future__ import annotations

import json
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest
from tests.e2e.test_ask import call
from tests.e2e.test_ask_agent import final, told
from tests.protocols.server import Turn, serving
from tests.removing import remove_folder

from codefathom.answer.tokens import estimate
from codefathom.askers.open_projects import Federation
from codefathom.askers.project_list import ProjectList
from codefathom.cli import main
from codefathom.config.settings import EmbedSettings, Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.search.federation import BY_RANK, BY_SCORE, order_of
from codefathom.search.graph.project_map import map_text

SHOP = Path(__file__).parent.parent / "repos" / "shop"


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three projects: a shop, a copy of it with one more file, and a zoo."""
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FATHOM_CONFIG", str(tmp_path / "none.toml"))
    for name in ("shop", "copy"):
        shutil.copytree(SHOP, tmp_path / name)
    (tmp_path / "copy" / "extra.py").write_text(
        "def price_of_a_gift(order):\n    total = order\n    return total\n\n\n"
    )
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "zoo.py").write_text("def feed_the_kangaroo(grass):\n    eaten = grass\n    return eaten\n\n\n")
    for name in ("shop", "copy", "zoo"):
        (tmp_path / name / "fathom.toml").touch()
    return tmp_path


@pytest.fixture
def named(projects: Path) -> Path:
    for name, groups in (("shop", ["team"]), ("copy", ["team"]), ("zoo", [])):
        ProjectList().add(str(projects / name), groups=groups)
    return projects


def test_names_are_given_changed_and_forgotten(projects: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["projects"]) == 0
    assert "no project has a name yet" in capsys.readouterr().out
    assert main(["projects", "add", str(projects / "shop" / "shop"), "--group", "team"]) == 0
    assert capsys.readouterr().out == f"shop is {projects}/shop\n"
    assert main(["projects", "add", str(projects / "zoo"), "--name", "animals"]) == 0
    assert main(["projects", "rename", "animals", "--name", "zoo"]) == 0
    capsys.readouterr()
    assert main(["projects", "list"]) == 0
    assert capsys.readouterr().out == f"shop  {projects}/shop  (team)\nzoo   {projects}/zoo\n"
    assert main(["projects", "remove", "zoo"]) == 0
    capsys.readouterr()
    assert main(["projects", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"name": "shop", "root": f"{projects}/shop", "groups": ["team"], "revision": ""}
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "/nowhere"], "'/nowhere' is not a folder"),
        (["add", "{}/zoo", "--name", "shop"], "'shop' is the name of {}/shop already"),
        (["add", "{}/zoo", "--name", "team"], "'team' would be a project and a group"),
        (["add", "{}/zoo", "--group", "shop"], "'shop' would be a project and a group"),
        (["add", "{}/zoo", "--name", "new", "--group", "new"], "'new' would be a project and a group"),
        (["add", "{}/zoo", "--name", "../x"], "'../x' cannot be a name"),
        (["remove", "klingon"], "there is no project 'klingon'"),
        (["rename", "shop"], "needs the name of a project and --name"),
        (["rename", "shop", "--name", "copy"], "there is a project 'copy' already"),
        (["remove"], "needs the name of a project"),
    ],
)
def test_wrong_names_are_clear_errors(
    named: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    before = ProjectList().listed()
    assert main(["projects", *(word.format(named) for word in words)]) == 2
    assert said.format(named) in capsys.readouterr().err
    assert ProjectList().listed() == before


def test_a_project_whose_folder_is_gone_can_be_renamed(named: Path) -> None:
    remove_folder(named / "zoo")
    assert ProjectList().rename("zoo", "animals").root == str(named / "zoo")


def test_one_question_to_several(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "-p", "team", "-p", "zoo", "-n", "20", "--json", "feed the kangaroo"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["hits"][0]["project"], said["hits"][0]["path"]) == ("zoo", "zoo.py")
    assert [item["project"] for item in said["projects"]] == ["copy", "shop", "zoo"]
    assert said["ranking"] == BY_SCORE
    assert main(["search", "--all", "price of a gift"]) == 0
    assert capsys.readouterr().out.startswith("copy/extra.py:")
    assert main(["search", "--all", "--dir", "shop", "--json", "price of an order"]) == 0
    assert {hit["path"].split("/")[0] for hit in json.loads(capsys.readouterr().out)["hits"]} == {"shop"}
    assert main(["search", "-p", str(named / "zoo"), "--format", "path", "feed the kangaroo"]) == 0
    assert capsys.readouterr().out.startswith("zoo/zoo.py:1:")


def test_named_files_are_taken_in_where_they_belong(
    named: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["search", "--all", "feed the kangaroo"]) == 0
    for name in ("zoo", "copy"):
        (named / name / "new.py").write_text(f"def feed_the_zebra_of_{name}():\n    return 1\n", encoding="utf-8")
    capsys.readouterr()

    def files_found(*words: str, code: int = 0) -> list[str]:
        line = ["search", "--all", "--set", "search.refresh=never", "--json", *words, "feed the zebra"]
        assert main(line) == code
        return sorted(f"{hit['project']}/{hit['path']}" for hit in json.loads(capsys.readouterr().out)["hits"])

    assert files_found("--file", "zoo/new.py") == ["zoo/new.py"]
    assert files_found("--file", str(named / "copy" / "new.py"), "--file", "zoo/new.py") == [
        "copy/new.py",
        "zoo/new.py",
    ]
    monkeypatch.chdir(named / "zoo")
    assert files_found("--file", "new.py") == ["zoo/new.py"]
    assert set(files_found("--file", "zoo")) == {"zoo/new.py", "zoo/zoo.py"}
    monkeypatch.chdir(named / "shop")  # in which there is a folder called shop
    # Nothing in this file answers the question.
    assert set(files_found("--file", "shop/pricing.py", code=1)) == {"shop/shop/pricing.py"}


@pytest.mark.parametrize("path", ["nowhere.py", "/etc/passwd", "zoo/../shop/shop/orders.py", "../outside.py"])
def test_a_named_file_of_no_project_is_an_error(named: Path, path: str) -> None:
    with Federation.open(is_all=True) as projects, pytest.raises(FathomError, match=r"not inside any|outside"):
        projects.search("price of an order", files=[path])


def test_doubts_and_signals_are_told_as_for_one(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--all", "--explain", "-n", "1", "feed the kangaroo"]) == 0
    assert "file_words" in capsys.readouterr().out
    main(["search", "--all", "zebra crossing in Vienna"])
    said = capsys.readouterr()
    assert "most likely" in said.err or "nothing found" in said.err
    assert main(["search", "--all", "-q", "--mode", "lexical", "zyxwvut"]) == 1


def test_equal_files_are_there_once(named: Path) -> None:
    with Federation.open(["team"]) as team:
        result = team.search("price of an order", limit=20)
    texts = [item.hit.chunk.text for item in result.hits]
    assert len(texts) > 3
    assert len(set(texts)) == len(texts)
    scores = [item.hit.score for item in result.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_project_that_fails_stops_no_other(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (named / "shop" / "fathom.toml").write_text("[search]\nlimit = 0\n")
    remove_folder(named / "copy")
    assert main(["search", "--all", "--json", "feed the kangaroo"]) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert said["hits"][0]["project"] == "zoo"
    assert set(said["failed"]) == {"shop", "copy"}
    assert "search.limit" in said["failed"]["shop"]
    assert "shop: " in captured.err
    remove_folder(named / "zoo")
    assert main(["search", "--all", "feed the kangaroo"]) == 2


def test_two_models_in_one_process(named: Path) -> None:
    """Vectors of two lengths do not meet."""
    shorter = Settings(embed=EmbedSettings(dimensions=64, reduce="truncate"))
    engines = {"shop": Engine.open(str(named / "shop")), "zoo": Engine.open(str(named / "zoo"), settings=shorter)}
    with Federation(engines) as projects:
        result = projects.search("feed the kangaroo", mode="vector", limit=20)
        assert {item.project_id for item in result.hits} == {"shop", "zoo"}
        assert (set(result.results), result.failed) == ({"shop", "zoo"}, {})
        assert order_of(result.results.values()) == BY_RANK
        sizes = {engine.opened.embedder.dimensions for engine in projects.engines.values()}
    assert sizes == {64, 256}


def test_symbols_of_several(named: Path) -> None:
    with Federation.open(is_all=True) as projects:
        result = projects.symbols("feed_the_kangaroo")
    assert [(name, item.symbol.name) for name, item in result.symbols] == [("zoo", "feed_the_kangaroo")]


def test_commands_ask_several(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["symbols", "-p", "team", "-p", "zoo", "feed_the_kangaroo"]) == 0
    assert capsys.readouterr().out.startswith("zoo/zoo.py:1  function feed_the_kangaroo")
    assert main(["symbols", "--all", "klingon"]) == 1
    assert main(["related", "--all", "@@total_cents"]) == 0
    said = capsys.readouterr()
    assert {line.split("/")[0].strip() for line in said.out.splitlines() if "/" in line} == {"shop", "copy"}
    assert "zoo" not in said.err
    assert main(["related", "-p", "team", "--json", "shop/shop/pricing.py"]) == 0
    assert set(json.loads(capsys.readouterr().out)["projects"]) == {"shop"}
    assert main(["related", "--all", "@@klingon"]) == 2
    assert main(["context", "--all", "--json", "--max-files", "4", "feed the kangaroo"]) == 0
    context = json.loads(capsys.readouterr().out)
    assert context["files"][0]["path"] == "zoo/zoo.py"
    assert "feed_the_kangaroo" in context["files"][0]["text"]
    assert main(["ask", "--all", "where is the kangaroo fed"]) == 0
    assert "zoo/zoo.py" in capsys.readouterr().out
    assert main(["ask", "--all", "--pin", "shop/shop/pricing.py", "--contexts-only", "where is the kangaroo fed"]) == 0
    paths = [item["path"] for item in json.loads(capsys.readouterr().out)["files"]]
    assert {"shop/shop/pricing.py", "zoo/zoo.py"} <= set(paths)
    assert main(["ask", "--all", "--agent", "where is the kangaroo fed"]) == 2
    assert "an agent needs a language model" in capsys.readouterr().err


@pytest.mark.parametrize("max_tokens", [1, 20, 60, 200, 4_000])
def test_one_map_of_several_has_one_budget_and_takes_turns(named: Path, max_tokens: int) -> None:
    with Federation.open(is_all=True) as projects:
        result = projects.map(max_tokens=max_tokens)
        alone = {name: engine.map(max_tokens=max_tokens).n_files for name, engine in projects.engines.items()}
    paths = [file.path for file in result.map.files]
    assert paths == sorted(paths)
    assert estimate(map_text(result.map.files)) == result.map.n_tokens <= max_tokens
    assert (result.map.n_files, result.failed) == (sum(alone.values()), {})
    if max_tokens >= 60:
        assert {path.partition("/")[0] for path in paths} == {"shop", "copy", "zoo"}


def test_a_mark_keeps_a_map_to_a_project(named: Path) -> None:
    with Federation.open(["shop", "zoo"]) as projects:

        def lines_of(name: str, *question: str) -> int:
            files = projects.map(*question, max_tokens=100).map.files
            return sum(1 + len(file.symbols) for file in files if file.path.startswith(f"{name}/"))

        assert lines_of("zoo", "feed the kangaroo @zoo/") == 3
        assert lines_of("shop", "feed the kangaroo @zoo/") == 0


def test_a_map_of_several_by_the_command(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", "-p", "shop", "-p", "zoo", "--max-tokens", "100"]) == 0
    said = capsys.readouterr()
    heads = {line.split("/")[0] for line in said.out.splitlines() if not line.startswith(" ")}
    assert heads == {"shop", "zoo"}
    assert re.search(r"files are shown; .* left out; a higher --max-tokens shows more, and --offset \d+", said.err)
    assert main(["map", "--all", "--json", "--dir", "shop", "--file", "shop/shop/pricing.py"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert {"/".join(file["path"].split("/")[:2]) for file in shape["files"]} == {"shop/shop", "copy/shop"}
    assert shape["failed"] == {}
    remove_folder(named / "copy")
    assert main(["map", "--all", "--json"]) == 0
    captured = capsys.readouterr()
    assert set(json.loads(captured.out)["failed"]) == {"copy"}
    assert "copy: no such folder" in captured.err
    for words in (["--dir", "nowhere"], ["--file", "nowhere.py"], ["--file", "shop/nowhere.py"]):
        assert main(["map", "-p", "shop", "-p", "zoo", *words]) == 2
    assert "is not in the index" in capsys.readouterr().err
    with Federation.open(["zoo"]) as projects, pytest.raises(UsageError, match="max_tokens cannot be 0"):
        projects.map(max_tokens=0)


def test_a_mark_keeps_a_question_to_a_project(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--all", "--json", "price of an order @copy/shop/"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [item["project"] for item in said["projects"]] == ["copy"]
    assert {(hit["project"], hit["path"].split("/")[0]) for hit in said["hits"]} == {("copy", "shop")}
    assert main(["context", "--all", "--json", "feed the kangaroo @zoo/zoo.py"]) == 0
    assert [file["path"] for file in json.loads(capsys.readouterr().out)["files"]] == ["zoo/zoo.py"]


def test_an_agent_looks_in_several(
    named: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (named / "note.txt").write_text("Kangaroos eat grass.\n")
    looks = [
        Turn([call("search_code", question="feed the kangaroo @zoo/")]),
        Turn([call("find_symbol", name="total_cents")]),
        Turn([call("related_files", target="@@total_cents")]),
        Turn([call("related_files", target="shop/shop/pricing.py")]),
        Turn([call("read_file", file_path="zoo/zoo.py")]),
    ]
    answer = final("Grass [zoo/zoo.py:1-2], not [shop/zoo.py:1].", ("zoo/zoo.py", 1, 2), ("shop/shop/pricing.py", 1, 1))
    with serving(*looks, answer) as served:
        monkeypatch.setenv("FATHOM_LLM__MODEL", "openai:m")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served.base_url}/v1")
        given = ("--pin", "shop/README.md", "--doc", str(named / "note.txt"), "--set", "agent.rounds=8")
        assert main(["ask", "--all", "--agent", "--json", *given, "who feeds the kangaroo"]) == 0
        said = json.loads(capsys.readouterr().out)
        observations = [told(served, number) for number in range(1, 6)]
        opening = told(served)
    assert "several projects: copy, shop, zoo" in opening
    assert "shop/README.md:1-" in opening
    assert "Kangaroos eat grass." in opening
    assert "zoo/zoo.py:1" in observations[0]
    assert "shop/" not in observations[0]
    assert {"copy/shop/pricing.py", "shop/shop/pricing.py"} <= set(re.findall(r"[\w/]+\.py", observations[1]))
    assert {"copy/shop/orders.py", "shop/shop/orders.py"} <= set(re.findall(r"[\w/]+\.py", observations[2]))
    assert set(re.findall(r"(\w+)/shop/\w+\.py", observations[3])) == {"shop"}
    assert "def feed_the_kangaroo" in observations[4]
    assert {place["path"] for place in said["citations"]} == {"zoo/zoo.py"}
    assert len(said["dropped_citations"]) == 2
    assert said["citations"][0]["symbol"] == "feed_the_kangaroo"


def test_a_conversation_about_several(
    named: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("where is the kangaroo fed\nwhere is the gift priced\n"))
    assert main(["chat", "-p", "team", "-p", "zoo"]) == 0
    text = capsys.readouterr().out
    assert text.index("zoo/zoo.py") < text.index("copy/extra.py")


def test_a_text_that_was_given_belongs_to_no_project(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (named / "notes.txt").write_text("Kangaroos eat grass.\n")
    note = str(named / "notes.txt")
    assert main(["ask", "--all", "--doc", note, "--contexts-only", "where is the kangaroo fed"]) == 0
    paths = [item["path"] for item in json.loads(capsys.readouterr().out)["files"]]
    assert [path for path in paths if "notes" in path] == [note]


def test_an_answer_names_a_project_that_fails(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (named / "shop" / "fathom.toml").write_text("[search]\nlimit = 0\n")
    for command in ("ask", "context", "symbols"):
        assert main([command, "--all", "kangaroo"]) == 0
        assert "shop: " in capsys.readouterr().err


def test_what_means_nothing_is_an_error(projects: Path) -> None:
    with pytest.raises(UsageError, match="no project has a name yet"):
        Federation.open(is_all=True)
    with pytest.raises(UsageError, match="'klingon' is not a project, group or folder"):
        Federation.open(["klingon"])
    ProjectList().add(str(projects / "zoo"))
    with Federation.open(["zoo"]) as zoo, pytest.raises(UsageError):
        zoo.search("  ")


def test_a_list_that_somebody_has_damaged_loses_one_entry(named: Path) -> None:
    (named / "state" / "projects" / "shop").write_text("[")
    (named / "state" / "projects" / "copy").write_text('{"name": "other", "root": "/", "groups": []}')
    assert [item.name for item in ProjectList().listed()] == ["zoo"]


def test_an_engine_of_a_federation_is_an_engine(named: Path) -> None:
    with Federation.open(["zoo"]) as projects:
        engine = projects.engines["zoo"]
        assert isinstance(engine, Engine)
        assert projects.search("feed the kangaroo").hits[0].hit == engine.search("feed the kangaroo").hits[0]
