"""One question, whoever is asked: every face gives the same places, verdict, confidence, counts, budget and masks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.fathom import Fathom
from tests.server.agents import call, post
from tests.server.conftest import SHOP, serving
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.cli import main
from codefathom.errors import UsageError
from codefathom.search.grouping import by_repository
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig

N_PLACES, N_FILES = 113, 9
KEY = "AKIA" + "Q7ZRW2MXLK5TPV3D"
WORD = "purple-monkey-dishwasher-81"
SECRETS = f"""\
AWS_ACCESS_KEY_ID = "{KEY}"
DATABASE_PASSWORD = "{WORD}"


def deploy_depot():
    return AWS_ACCESS_KEY_ID, DATABASE_PASSWORD
"""
LEDGER = """\
def close(book):
    if book == "frozen":
        raise RuntimeError("ledger is frozen by the auditor 4711-X")
    return 0xdeadbeefcafe


def reopen(book):
    return close(book)
"""
# Users of a cellar have it by imports of a package that is not here, two of them by the import of one other file.
CELLAR = {
    "cellar.py": "def draw_cider():\n    return 1\n",
    "tap.py": "from farm.cellar import draw_cider\n\n\ndef serve():\n    return draw_cider() + draw_cider()\n",
    "stock.py": "from farm import *\n",
    "feast.py": "from stock import draw_cider\n\n\ndef dine():\n    return draw_cider()\n",
    "supper.py": "from stock import draw_cider\n\n\ndef sup():\n    return draw_cider()\n",
}
LOST = "2 imports of a package of this name could not be followed"
BOXES = "".join(f"class Box{n}:\n    def shut(self):\n        return {n}\n\n\n" for n in range(6))


class Question(NamedTuple):
    """A question, and how it is asked."""

    text: str
    mode: str = "auto"
    budget: int = 4_000  # tokens

    @property
    def id(self) -> str:
        return f"{self.mode}-{self.budget}-{self.text}"


ANSWERABLE = [
    "where are orders priced",
    "total_cents",
    "how is the shipping label printed",
    "retry a failed payment",
    "open the database",
    "AccountError",
    "shop/orders.py",
    "订单在哪里定价",
]
FOREIGN = [
    "zzqqxx",
    "how to bake bread",
    "kubernetes ingress controller",
    "quantum chromodynamics of zebras",
    "如何烤面包",
    "zz_no_such_name(",
]
LITERAL = [
    "ledger is frozen by the auditor 4711-X",
    "the auditor 4711",
    "deadbeef",
    "0xdeadbeefcafe",
    'raise RuntimeError("ledger is frozen',
]
EXPRESSIONS = [r"def place_\d+", r"return 'mark \d+'", r"def shut\(", r"zz\d{7}"]
CALLS = ["who calls total_cents", "who calls shut", "who calls close", "what imports shop/pricing.py", "@@reopen"]
SECRET = ["AWS_ACCESS_KEY_ID", "how is the depot deployed", "DATABASE_PASSWORD", KEY, "deploy_depot"]
SIGNS = ["x", "?", "~", "税"]

QUESTIONS = [
    *(Question(text) for text in (*ANSWERABLE, *FOREIGN, *LITERAL, *CALLS, *SECRET, *SIGNS)),
    *(Question(text, "regex") for text in EXPRESSIONS),
    Question("where are orders priced", budget=20_000),
    Question("place", budget=20_000),
    Question("place", budget=300),
]


class Shown(NamedTuple):
    """What a face shows of an answer."""

    places: tuple[str, ...]
    weak: bool
    confidence: float
    n_all: int  # places that are shown or said to be left out
    text: str


class Faces(NamedTuple):
    """A project, and all ways to ask it."""

    root: Path
    engine: Engine
    http: httpx.Client
    stdio: Callable[[Mapping[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("faces").resolve()
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(place / name))
        root = project(place / "shop")
        with Engine.open(str(root)) as engine:
            engine.index()
            app = create_app(ServerConfig(data_dir=str(place / "data"), allowed_roots=(str(place),)))
            app.state.server.projects.find_or_add(str(root))
            streams = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
            with (
                serving(app) as address,
                httpx.Client(base_url=address, timeout=LONG_S) as client,
                Fathom(["mcp"], cwd=root, **streams) as process,
            ):
                yield Faces(root, engine, client, lambda body: told(process, body))
                process.stdin.close()


def project(root: Path) -> Path:
    shutil.copytree(SHOP, root)
    (root / "fathom.toml").touch()
    (root / "ledger.py").write_text(LEDGER)
    (root / "boxes.py").write_text(f"{BOXES}def all_shut(boxes):\n    for one in boxes:\n        one.shut()\n")
    (root / "deploy.py").write_text(SECRETS)
    for name, text in CELLAR.items():
        (root / name).write_text(text)
    (root / "places").mkdir()
    for file in range(N_FILES):
        numbers = range(file, N_PLACES, N_FILES)
        text = "".join(f"def place_{n}():\n    return 'mark {n}'\n\n\n" for n in numbers)
        (root / "places" / f"part{file}.py").write_text(text)
    return root


def told(process: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    process.stdin.write(json.dumps(body).encode() + b"\n")
    process.stdin.flush()
    result: dict[str, Any] = json.loads(process.stdout.readline())["result"]
    return result


@pytest.fixture
def run(faces: Faces, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def runner(*words: str) -> str:
        monkeypatch.chdir(faces.root)
        capsys.readouterr()
        main(list(words))
        return capsys.readouterr().out

    return runner


def place(hit: Mapping[str, Any]) -> str:
    return f"{hit['path']}:{hit['start_line']}-{hit['end_line']}"


def of_json(found: Mapping[str, Any]) -> Shown:
    """Read the JSON of the command line or of the server."""
    text = "\n".join(hit["content"] for hit in found["hits"])
    places = tuple(map(place, found["hits"]))
    return Shown(places, found["weak"], round(found["confidence"], 4), len(places) + found["n_left_out"], text)


def of_python(engine: Engine, question: Question) -> Shown:
    result = engine.search(question.text, mode=question.mode, limit=10)
    places = tuple(f"{hit.chunk.path}:{hit.chunk.start_line}-{hit.chunk.end_line}" for hit in result.hits)
    text = "\n".join(hit.chunk.text for hit in result.hits)
    return Shown(places, result.weak, round(result.confidence, 4), len(places) + result.rest.n, text)


def of_tool(result: Mapping[str, Any]) -> Shown:
    assert not result["isError"], result
    content = result["structuredContent"]
    places = tuple(map(place, content["hits"]))
    text = result["content"][0]["text"] + json.dumps(content, ensure_ascii=False)
    return Shown(places, content["weak"], content["confidence"], len(places) + content["left_out"], text)


def tool_call(question: Question, **more: object) -> dict[str, Any]:
    return call("search", query=question.text, mode=question.mode, limit=10, max_tokens=question.budget, **more)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_every_face_gives_the_same(faces: Faces, run: Callable[..., str], question: Question) -> None:
    python = of_python(faces.engine, question)
    line = of_json(json.loads(run("search", "--json", "-n", "10", "--mode", question.mode, question.text)))
    body = {"query": question.text, "limit": 10, "mode": question.mode}
    served = of_json(faces.http.post("/search", json=body).json())
    stdio = faces.stdio(tool_call(question))
    tool = post(faces.http, tool_call(question)).json()["result"]
    assert (line._replace(text=""), served._replace(text="")) == (python._replace(text=""),) * 2
    # The two ways to a tool give the same to the last sign, and no more than the budget.
    assert (tool["content"], tool["structuredContent"]) == (stdio["content"], stdio["structuredContent"])
    assert estimate(stdio["content"][0]["text"]) <= question.budget
    shown = of_tool(stdio)
    n = min(len(shown.places), len(python.places))
    assert shown.places[:n] == python.places[:n]
    assert (n > 0) == (len(python.places) > 0)
    assert shown._replace(places=(), text="") == python._replace(places=(), text="")
    check_masks(question, shown, (python, served))


def test_every_face_gathers_places_by_repository_and_file(faces: Faces, run: Callable[..., str]) -> None:
    text = r"return|raise"
    ranked = faces.engine.search(text, mode="regex", limit=40).hits
    expected = by_repository(
        [f"{hit.chunk.path}:{hit.chunk.start_line}-{hit.chunk.end_line}" for hit in ranked],
        lambda name: ("", name.partition(":")[0]),
    )
    gathered = faces.engine.search(text, mode="regex", limit=40, group="repository").hits
    places = tuple(f"{hit.chunk.path}:{hit.chunk.start_line}-{hit.chunk.end_line}" for hit in gathered)
    assert places == expected != tuple(f"{h.chunk.path}:{h.chunk.start_line}-{h.chunk.end_line}" for h in ranked)
    words = ("-n", "40", "--mode", "regex", "--group", "repository", text)
    assert of_json(json.loads(run("search", "--json", *words))).places == expected
    shown = [line.split(" ")[0] for line in run("search", *words).splitlines() if re.match(r"\S+:\d+-\d+ ", line)]
    assert shown == list(expected)
    body = {"query": text, "limit": 40, "mode": "regex", "group": "repository"}
    assert of_json(faces.http.post("/search", json=body).json()).places == expected
    asked = call("search", query=text, mode="regex", limit=40, group="repository", max_tokens=20_000)
    assert of_tool(post(faces.http, asked).json()["result"]).places == expected
    assert of_tool(faces.stdio(asked)).places == expected


@pytest.mark.parametrize("text", ["who calls draw_cider", "what imports draw_cider", "uses of draw_cider"])
def test_every_face_counts_imports_that_nobody_could_follow(
    faces: Faces, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(faces.root)
    main(["search", text])
    assert LOST in capsys.readouterr().err
    main(["search", "--json", text])
    assert LOST in json.loads(capsys.readouterr().out)["degraded"]
    assert LOST in faces.engine.search(text).degraded
    assert LOST in faces.http.post("/search", json={"query": text}).json()["degraded"]
    assert LOST in faces.stdio(call("search", query=text))["content"][0]["text"]
    # The same number as of the list itself.
    assert [str(note) for note in faces.engine.related("@@draw_cider").notes] == [LOST]
    assert LOST in faces.stdio(call("related", target="@@draw_cider"))["content"][0]["text"]


class Choice(NamedTuple):
    """Which connections of a symbol are asked for."""

    target: str
    direction: str = "both"
    kind: tuple[str, ...] = ()


CHOICES = [
    Choice("@@total_cents"),
    Choice("@@total_cents", "callers"),
    Choice("@@all_shut", "callees"),
    Choice("shop/pricing.py", "callers", ("imports",)),
    Choice("shop/orders.py", "callees", ("calls", "imports")),
    Choice("@@total_cents", kind=("tests",)),
    Choice("@@shut", kind=("references", "calls")),
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_every_face_chooses_the_same_connections(faces: Faces, run: Callable[..., str], choice: Choice) -> None:
    options = {"direction": choice.direction, "kind": list(choice.kind)}
    python = [(e.path, e.line) for e in faces.engine.related(choice.target, **options).edges]  # type: ignore[arg-type]
    words = [word for kind in choice.kind for word in ("--kind", kind)]
    line = json.loads(run("related", "--json", "--direction", choice.direction, *words, choice.target))
    served = faces.http.get("/related", params={"target": choice.target, **options}).json()
    both = faces.http.get("/federated/related", params={"target": choice.target, **options}).json()
    tool = faces.stdio(call("related", target=choice.target, **options))["structuredContent"]
    assert [(edge["path"], edge["line"]) for edge in line["edges"]] == python
    assert [(edge["path"], edge["line"]) for edge in served["edges"]] == python
    assert [(edge["path"], edge["line"]) for one in both["projects"] for edge in one["edges"]] == python
    assert [(group["path"], int(at.split()[0])) for group in tool["edges"] for at in group["at"]] == python
    assert (python == []) == (choice.kind == ("tests",))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"direction": "up"}, ["--direction", "up"]),
        ({"kind": ["calls", "call"]}, ["--kind", "calls", "--kind", "call"]),
    ],
)
def test_every_face_refuses_a_word_that_is_no_choice(
    faces: Faces, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: Any, words: list[str]
) -> None:
    monkeypatch.chdir(faces.root)
    wrong = words[-1]
    with pytest.raises(UsageError, match=wrong):
        faces.engine.related("@@total_cents", **options)
    assert main(["related", *words, "@@total_cents"]) == 2
    assert f"cannot be '{wrong}'" in capsys.readouterr().err
    assert faces.http.get("/related", params={"target": "@@total_cents", **options}).status_code == 422
    assert (
        f"cannot be '{wrong}'" in faces.stdio(call("related", target="@@total_cents", **options))["content"][0]["text"]
    )


def test_every_face_gives_the_same_tour(faces: Faces, run: Callable[..., str]) -> None:
    python = [step._asdict() for step in faces.engine.tour()]
    assert len(python) == 10
    assert json.loads(run("map", "--tour", "--json")) == {"steps": python}
    assert faces.http.get("/tour").json()["steps"] == python
    places = [f"{step['path']}:{step['start_line']}-{step['end_line']}" for step in python]
    assert [line.split()[1] for line in run("map", "--tour").splitlines()] == places
    for ask in (faces.stdio, lambda body: post(faces.http, dict(body)).json()["result"]):
        content = ask(call("map", tour=True))["structuredContent"]
        assert [line.split()[0] for line in content["outline"].splitlines()] == places
    # Of several projects, one after the other.
    both = json.loads(run("map", "--tour", "--json", "-p", str(faces.root)))["steps"]
    assert [step["path"] for step in both] == [f"shop/{step['path']}" for step in python]


def test_a_tour_leads_through_a_whole_project(
    faces: Faces, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(faces.root)
    for words in (["orders"], ["--dir", "shop"], ["--file", "ledger.py"], ["--offset", "1"]):
        assert main(["map", "--tour", *words]) == 2
        assert "a tour leads through a whole project" in capsys.readouterr().err
    refused = faces.stdio(call("map", tour=True, query="orders"))
    assert (refused["isError"], "whole project" in refused["content"][0]["text"]) == (True, True)


def check_masks(question: Question, agent: Shown, people: tuple[Shown, ...]) -> None:
    """A model sees no secret that its user has not typed; people see their files as they are."""
    for secret in (KEY, WORD):
        assert secret not in agent.text.replace(question.text, "")
        assert any(place.startswith("deploy.py") for place in people[0].places) or secret not in people[0].text
        assert len({secret in person.text for person in people}) == 1


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_list_is_whole_on_every_face(faces: Faces, run: Callable[..., str], text: str) -> None:
    expected = matching_lines(faces.root, text)
    question = Question(text, "regex")
    ways: list[Callable[[], list[dict[str, Any]]]] = [
        lambda: pages_of_tool(faces.stdio, question),
        lambda: pages_of_tool(lambda body: post(faces.http, dict(body)).json()["result"], question),
        lambda: pages(lambda offset: json.loads(run(*line_words(text, offset))), "next_offset"),
        lambda: pages(lambda offset: faces.http.post("/search", json=served_body(text, offset)).json(), "next_offset"),
    ]
    for way in ways:
        hits = way()
        lines = {(hit["path"], number) for hit in hits for number in range(hit["start_line"], hit["end_line"] + 1)}
        assert {line for line in expected if line not in lines} == set()
        assert len({place(hit) for hit in hits}) == len(hits)


def line_words(text: str, offset: int) -> list[str]:
    return ["search", "--json", "--mode", "regex", "-n", "20", "--offset", str(offset), text]


def served_body(text: str, offset: int) -> dict[str, Any]:
    return {"query": text, "mode": "regex", "limit": 20, "offset": offset}


def pages(ask: Callable[[int], dict[str, Any]], key: str) -> list[dict[str, Any]]:
    offset: int | None = 0
    hits: list[dict[str, Any]] = []
    while offset is not None:
        found = ask(offset)
        hits += found["hits"]
        offset = found[key]
        assert (offset is None) == (found["n_left_out"] == 0)
    return hits


def pages_of_tool(ask: Callable[[Mapping[str, Any]], dict[str, Any]], question: Question) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    while True:
        content = ask(tool_call(question, **more))["structuredContent"]
        hits += content["hits"]
        assert ("next" in content) == (content["left_out"] > 0)
        if "next" not in content:
            return hits
        more = {"cursor": content["next"]}


def matching_lines(root: Path, text: str) -> set[tuple[str, int]]:
    return {
        (str(path.relative_to(root)), number)
        for path in root.rglob("*.*")
        if path.is_file() and ".fathom" not in path.parts
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(text, line)
    }


BUDGETS = (200, 800, 20_000)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("text", ["where are orders priced", "place", "zzqqxx", "total_cents"])
def test_a_context_is_the_same_and_in_its_budget(faces: Faces, run: Callable[..., str], text: str, budget: int) -> None:
    python = faces.engine.context(text, max_tokens=budget)
    written = run("context", "--json", "--max-tokens", str(budget), text)
    served = faces.http.post("/context", json={"query": text, "max_tokens": budget}).json()
    expected = [(file.path, file.text) for file in python.files]
    assert [(file["path"], file["text"]) for file in served["files"]] == expected
    assert served["n_tokens"] == python.n_tokens <= budget
    # The command line keeps all that it prints to the budget: keys and quotes of JSON take room, too.
    assert estimate(written) <= budget
    line = [(file["path"], file["text"]) for file in json.loads(written or "{}").get("files", ())]
    if budget == BUDGETS[-1]:
        assert line == expected
    else:
        assert [path for path, _ in line[:1]] in ([], [path for path, _ in expected[:1]])
    assert sum(estimate(text_of_file) for _, text_of_file in expected) <= budget
