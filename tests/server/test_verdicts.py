"""Whether most likely nothing here answers a question: the same verdict on every face and in every mode."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.fathom import Fathom
from tests.many_places import is_named
from tests.server.agents import call, post
from tests.server.conftest import SHOP, serving
from tests.waiting import LONG_S

from codefathom import Engine, Federation
from codefathom.answer.answer_types import AnswerRequest
from codefathom.cli import main
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig

LEDGER = """\
import os

MAGIC = 0xdeadbeefcafe
税 = 7


def close(book):
    if book == "frozen":  # really?
        raise RuntimeError("ledger is frozen by the auditor 4711-X")
    return os.path.join(book, "x")


def reopen(book):
    return close(book)
"""
OTHERS = "".join(f"class Box{n}:\n    def shut(self):\n        return {n}\n\n\n" for n in range(6))
USES = "def all_shut(boxes):\n    for one in boxes:\n        one.shut()\n"


class Asked(NamedTuple):
    """The verdict on a question."""

    weak: bool
    confidence: float


class Case(NamedTuple):
    """A question, and what is to be said of it."""

    question: str
    weak: bool
    nothing: bool = False  # it is as good as certain that nothing here answers
    least: float = 0.0
    most: float = 1.0


CASES = [
    Case("where are orders priced", weak=False),
    Case("total_cents", weak=False, least=1.0),
    Case("zzqqxx", weak=True, nothing=True),
    Case("how to bake bread", weak=True, nothing=True),
    Case("quantum chromodynamics of zebras", weak=True, nothing=True),
    Case("如何烤面包", weak=True, nothing=True),
    Case("zz_no_such_name(", weak=True, nothing=True),
    # What stands in a file as it is written is never said to be nowhere.
    Case("deadbeef", weak=False, most=0.9),
    Case("ledger is frozen by the auditor 4711-X", weak=False),
    Case("the auditor 4711", weak=False, most=0.99),
    Case("0xdeadbeefcafe", weak=False, most=0.99),
    Case("税", weak=False),
    # The certainty of edges is that of the answer.
    Case("who calls total_cents", weak=False, least=1.0),
    Case("who calls shut", weak=False, most=0.6),
    # One sign says little, wherever it stands.
    Case("x", weak=False, most=0.5),
    Case("?", weak=False, most=0.5),
    Case("~", weak=True, nothing=True),
]
NOTHING = ("most likely nothing here answers this", "not found: ", "nothing found for ")
IDS = [case.question for case in CASES]


class Faces(NamedTuple):
    """A project, and all ways to ask it."""

    root: Path
    http: httpx.Client
    mcp: dict[str, Any]  # results of the tools over stdio, by tool and question


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("verdicts").resolve()
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(place / name))
        root = place / "shop"
        shutil.copytree(SHOP, root)
        (root / "fathom.toml").touch()
        (root / "ledger.py").write_text(LEDGER)
        (root / "boxes.py").write_text(OTHERS)
        (root / "uses.py").write_text(USES)
        with Engine.open(str(root)) as engine:
            engine.index()
        app = create_app(ServerConfig(data_dir=str(place / "data"), allowed_roots=(str(place),)))
        app.state.server.projects.find_or_add(str(root))
        with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            yield Faces(root, client, over_stdio(root))


def over_stdio(root: Path) -> dict[str, Any]:
    wanted = [(tool, case.question) for case in CASES for tool in ("search", "map")]
    bodies = [call(tool, key=key, query=question, max_tokens=4_000) for key, (tool, question) in enumerate(wanted)]
    lines = b"".join(json.dumps(body).encode() + b"\n" for body in bodies)
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Fathom(["mcp"], cwd=root, **streams) as process:
        out, _ = process.communicate(lines)
    found = {answer["id"]: answer["result"] for answer in map(json.loads, out.splitlines())}
    return {" ".join(pair): found[key] for key, pair in enumerate(wanted)}


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(faces: Faces, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    def runner(*words: str) -> Ran:
        monkeypatch.chdir(faces.root)
        capsys.readouterr()
        code = main(list(words))
        return Ran(code, *capsys.readouterr())

    return runner


def judged(content: dict[str, Any]) -> Asked:
    return Asked(content["weak"], round(content["confidence"], 4))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_every_face_says_the_same(faces: Faces, run: Callable[..., Ran], case: Case) -> None:
    question = case.question
    with Engine.open(str(faces.root)) as engine:
        result = engine.search(question)
        drawn = engine.map(question)
        context = engine.context(question)
        answer = engine.ask(question)
    assert (result.weak, result.unanswerable) == (case.weak, case.nothing), result
    assert case.least <= result.confidence <= case.most
    expected = Asked(result.weak, round(result.confidence, 4))
    with Federation.open([str(faces.root)]) as projects:
        several = projects.search(question)
        assert Asked(several.verdict.weak, round(several.verdict.confidence, 4)) == expected
        assert projects.context(question).weak is expected.weak
    found = json.loads(run("search", "--json", question).out)
    body = {"query": question}
    served = faces.http.post("/search", json=body).json()
    tool = post(faces.http, call("search", query=question, max_tokens=4_000)).json()["result"]
    stdio = faces.mcp[f"search {question}"]
    maps = [
        judged(json.loads(run("map", "--json", question).out)),
        judged(faces.http.get("/map", params={"query": question}).json()),
        judged(faces.http.get("/federated/map", params={"query": question}).json()),
        judged(faces.mcp[f"map {question}"]["structuredContent"]),
    ]
    assert [judged(found), judged(served), *map(judged, (tool["structuredContent"], stdio["structuredContent"]))] == [
        expected
    ] * 4
    assert judged(json.loads(run("search", "--json", "--in", str(faces.root), question).out)) == expected
    assert drawn.verdict is not None
    assert [Asked(drawn.verdict.weak, round(drawn.verdict.confidence, 4)), *maps] == [expected] * 5
    assert [context.weak, answer.weak] == [expected.weak] * 2
    assert faces.http.post("/context", json=body).json()["weak"] is expected.weak
    assert json.loads(run("ask", "--contexts-only", question).out)["weak"] is expected.weak


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_project_that_has_nothing_ends_each_command_alike(run: Callable[..., Ran], case: Case) -> None:
    question = case.question
    wanted = (
        ("search", question),
        ("search", "--json", question),
        ("search", "--in", ".", question),
        ("context", question),
        ("context", "--in", ".", question),
        ("ask", question),
        ("ask", "--contexts-only", question),
        ("--rag", question),
        ("map", question),
        ("map", "--in", ".", question),
    )
    ran = {words: run(*words) for words in wanted}
    assert {words: one.code for words, one in ran.items()} == dict.fromkeys(wanted, int(case.nothing))
    for words, one in ran.items():
        if case.nothing and "--json" not in words:
            assert any(text in one.err for text in NOTHING), (words, one.err)
    if case.nothing:
        handed = [json.loads(ran["ask", "--contexts-only", question].out)["files"], ran["context", question].out]
        assert [*handed, ran["--rag", question].out] == [[], "", ""]


def test_what_follows(faces: Faces, run: Callable[..., Ran]) -> None:
    closest, everything = run("search", "--format", "path", "zzqqxx"), run("search", "--anyway", "zzqqxx")
    found = json.loads(run("search", "--json", "zzqqxx").out)["hits"]
    assert len(closest.out.splitlines()) == min(len(found), 3)
    assert everything.code == 0
    assert all(hit["path"] in everything.out for hit in found)
    tool = faces.mcp["search zzqqxx"]["structuredContent"]
    assert [hit["path"] for hit in tool["hits"]] == [hit["path"] for hit in found[:3]]
    named = found[3 : len(found) - tool["left_out"]]
    assert all(is_named((hit["path"], hit["start_line"], hit["end_line"]), tool) for hit in named)
    # A map is that of the whole project: no hit has drawn anything into it.
    assert run("map", "zzqqxx").out == run("map").out
    text = faces.mcp["map zzqqxx"]["content"][0]["text"]
    assert "Most likely nothing here answers this" in text


def test_text_that_stands_somewhere_is_shown_where_it_stands(faces: Faces, run: Callable[..., Ran]) -> None:
    for question, line in (("deadbeef", 3), ("税", 4), ("the auditor 4711", 9)):
        hit = json.loads(run("search", "--json", question).out)["hits"][0]
        assert (hit["path"], hit["line"]) == ("ledger.py", line)
        assert faces.mcp[f"search {question}"]["structuredContent"]["hits"][0]["path"] == "ledger.py"
    for mode in ("hybrid", "vector"):
        assert json.loads(run("search", "--json", "--mode", mode, "deadbeef").out)["weak"] is False
    assert json.loads(run("search", "--json", "--file", "README.md", "deadbeef").out)["weak"] is True


def test_a_question_that_names_a_file_is_answered_from_it(run: Callable[..., Ran]) -> None:
    for words in (("search",), ("context",), ("ask",), ("ask", "--contexts-only")):
        assert run(*words, "@shop/orders.py bake bread for 4 hours").code == 0


def test_a_question_by_name_in_a_list_without_its_edges_is_not_sure(run: Callable[..., Ran]) -> None:
    result = json.loads(run("search", "--json", "what imports reopen").out)
    assert (result["plan"]["route"], result["confidence"] <= 0.5) == ("graph", True)


def test_a_model_is_not_asked_to_judge_what_nothing_answers(faces: Faces) -> None:
    steps: list[str] = []
    with Engine.open(str(faces.root)) as engine:
        settings = engine.settings
        judging = settings._replace(
            llm=settings.llm._replace(model="openai:none", base_url="http://127.0.0.1:9/v1"),
            select=settings.select._replace(filter_level=2),
        )
        request = AnswerRequest("zzqqxx", on_step=lambda step: steps.append(step.phase))
        answer = engine.with_settings(judging).ask(request)
    assert (answer.failure, answer.sources, answer.weak) == ("", (), True)
    assert "plan" not in steps
