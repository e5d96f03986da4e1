"""What a model may ask of a project, over the real index of a small one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom import Engine
from codefathom.agent.tools import MAX_CHARS, Observation, ShownLines, ToolProject, named, tools, usage
from codefathom.errors import ProviderError
from codefathom.facts.reasons import verbatim

SHOP = Path(__file__).parents[2] / "repos" / "shop"
LONG = "".join(f"value_{number} = {number}\n" for number in range(1, 3_001))
NAMES = ["search_code", "read_file", "find_symbol", "related_files", "list_files"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("agent")
    root = folder / "shop"
    shutil.copytree(SHOP, root)
    (root / "fathom.toml").write_text("")
    (root / "shop" / "long.py").write_text(LONG)
    (root / "shop" / "wide.py").write_text(f"WIDE = [{'1, ' * 5_000}]\nlast = 1\n")
    (root / "web" / "src" / "café.ts").write_bytes(b"export const menu = 1;\r\nexport const price = 2;\r\n")
    (folder / "outside.py").write_text("secret = 1\n")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("FATHOM_")]:
            patch.delenv(name)
        patch.setenv("FATHOM_CACHE_DIR", str(folder / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        with Engine.open(str(root)) as engine:
            engine.index()
            yield engine


@pytest.fixture(scope="module")
def project(engine: Engine) -> ToolProject:
    catalog = engine.opened.catalog  # what the engine itself will hand over
    paths = [document.path for document in catalog.documents()]
    return ToolProject(
        search=lambda question, level, limit: engine.search(question, level=level, limit=limit),
        text=lambda path: catalog.text(path) if path in paths else None,
        symbols=engine.symbols,
        related=engine.related,
        paths=lambda: paths,
    )


def ask(project: ToolProject, name: str, arguments: Mapping[str, Any], max_chars: int = MAX_CHARS) -> Observation:
    tool = named(tools(project, max_chars=max_chars), name)
    assert tool is not None
    observation = tool.run(arguments)
    assert len(observation.text) <= max_chars
    return observation


def test_one_list_of_tools(project: ToolProject) -> None:
    assert [tool.spec.name for tool in tools(project)] == NAMES
    for tool in tools(project):
        schema = tool.spec.parameters
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(key in usage(tool.spec) for key in schema["properties"])


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("search", "search_code"),
        ("list_file_content", "read_file"),
        ("read_file", "read_file"),
        ("rm", None),
        ("", None),
    ],
)
def test_aliases(project: ToolProject, name: str, means: str | None) -> None:
    tool = named(tools(project), name)
    assert (tool.spec.name if tool else None) == means


# ---- arguments

WRONG: list[tuple[str, Any, str]] = [
    ("search_code", {}, "question is missing"),
    ("search_code", {"question": None}, "question is missing"),
    ("search_code", {"question": "   "}, "question cannot be"),
    ("search_code", {"question": 7}, "question cannot be 7"),
    ("search_code", {"question": ["a"]}, "question cannot be"),
    ("search_code", {"question": "x" * 2_001}, "question cannot be"),
    ("search_code", {"question": "a\0b"}, "question cannot be"),
    ("search_code", {"question": "half \ud800"}, "question cannot be"),
    ("search_code", {"question": "a", "index_type": "class"}, "one of file, symbol, function, chunk"),
    ("search_code", {"question": "a", "index_type": 1}, "index_type cannot be 1"),
    ("search_code", {"question": "a", "top_k": 0}, "top_k cannot be 0"),
    ("search_code", {"question": "a", "top_k": 21}, "whole number from 1 to 20"),
    ("search_code", {"question": "a", "top_k": True}, "top_k cannot be true"),
    ("search_code", {"question": "a", "top_k": 2.5}, "top_k cannot be 2.5"),
    ("search_code", {"question": "a", "top_k": "many"}, 'top_k cannot be "many"'),
    ("search_code", {"question": "a", "top_k": "9" * 5_000}, "top_k cannot be"),
    ("search_code", {"question": "a", "top_k": float("inf")}, "top_k cannot be"),
    ("search_code", {"question": "a", "limit": 3}, 'there is no argument "limit"'),
    ("search_code", {"question": "@nowhere/at/all.py"}, "nowhere/at/all.py"),
    ("search_code", ["question"], "not a JSON object"),
    ("search_code", "question", "not a JSON object"),
    ("read_file", {"path": "README.md"}, "file_path is missing"),
    ("read_file", {"file_path": "README.md", "start_line": 0}, "start_line cannot be 0"),
    ("read_file", {"file_path": "README.md", "start_line": 9_999}, "has lines 1 to 11"),
    ("read_file", {"file_path": "README.md", "start_line": 5, "end_line": 4}, "5 to 4 is not a part"),
    ("read_file", {"file_path": "nowhere.py"}, "is not in the index"),
    ("read_file", {"file_path": "shop"}, "is not in the index"),
    ("read_file", {"file_path": "generated/client.py"}, "is not in the index"),
    ("read_file", {"file_path": "shop/order.py"}, "Did you mean shop/orders.py?"),
    ("find_symbol", {"name": ""}, "name cannot be"),
    ("related_files", {"target": "nowhere.py"}, "nowhere.py"),
    ("related_files", {"target": "@@nothing_like_it"}, "no symbol is called"),
    ("related_files", {"target": "../outside.py"}, "neither a path"),
    ("list_files", {"folder": "../"}, "is not a folder below the project's root"),
    ("list_files", {"folder": "/etc"}, "is not a folder below the project's root"),
    ("list_files", {"pattern": "*" * 201}, "pattern cannot be"),
]


@pytest.mark.parametrize(("name", "arguments", "says"), WRONG)
def test_mistakes_are_answered(project: ToolProject, name: str, arguments: Any, says: str) -> None:
    observation = ask(project, name, arguments)
    assert observation.is_error
    assert observation.text.startswith("Error: ")
    assert says in observation.text
    assert observation.places == ()


def test_a_mistake_is_answered_with_what_is_allowed(project: ToolProject) -> None:
    text = ask(project, "search_code", {"query": "a", "top_k": -1}).text
    for part in ("question is missing", '"query"', "top_k cannot be -1", "search_code takes question", "default 5"):
        assert part in text


@pytest.mark.parametrize(
    "path", ["../outside.py", "shop/../../outside.py", "..\\outside.py", "~/x", "C:\\x", "file:///x"]
)
def test_no_path_leaves_the_project(project: ToolProject, path: str) -> None:
    asked: list[str] = []
    watched = replace(project, text=lambda path: asked.append(path) or "secret")
    for outside in (path, str(SHOP.resolve() / "README.md")):
        observation = ask(watched, "read_file", {"file_path": outside})
        assert observation.is_error
        assert "is not a path from the project's root" in observation.text
    assert asked == []


@pytest.mark.parametrize(
    ("arguments", "same_as"),
    [
        ({"start_line": "3"}, {"start_line": 3}),
        ({"start_line": " +3 "}, {"start_line": 3}),
        ({"start_line": 3.0}, {"start_line": 3}),
        ({"start_line": None, "end_line": None}, {}),
        ({"start_line": 1, "end_line": 9_999_999}, {}),
        ({"file_path": "./shop/orders.py"}, {}),
        ({"file_path": " shop/orders.py "}, {}),
        ({"file_path": "orders.py"}, {}),
    ],
)
def test_weak_forms_are_understood(project: ToolProject, arguments: dict[str, Any], same_as: dict[str, Any]) -> None:
    path = {"file_path": "shop/orders.py"}
    observation = ask(project, "read_file", path | arguments)
    assert observation == ask(project, "read_file", path | same_as)
    assert not observation.is_error


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.lists(st.integers()))
KEYS = ["question", "index_type", "top_k", "file_path", "start_line", "end_line", "name", "target", "folder", "pattern"]


@settings(max_examples=100)
@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3))
def test_arguments_never_raise(project: ToolProject, name: str, arguments: dict[str, Any]) -> None:
    assert ask(project, name, arguments).text


def test_what_the_project_cannot_do_is_answered(project: ToolProject) -> None:
    def fail(*_: object) -> Any:
        raise ProviderError("the embedding endpoint is gone", hint="start it")

    observation = ask(replace(project, search=fail), "search_code", {"question": "a"})
    assert observation == Observation("Error: the embedding endpoint is gone; start it", is_error=True)


# ---- results


@pytest.mark.parametrize(
    ("index_type", "place"),
    [
        ("function", ShownLines("api/handlers/retry.go", 11, 22, "Retry")),
        ("symbol", ShownLines("api/handlers/retry.go", 11, 22, "Retry")),
        ("file", ShownLines("api/handlers/retry.go", 1, 22)),
        ("chunk", ShownLines("api/handlers/retry.go", 1, 22)),
        ("FILE", ShownLines("api/handlers/retry.go", 1, 22)),
    ],
)
def test_search(project: ToolProject, index_type: str, place: ShownLines) -> None:
    question = {"question": "Retry with exponential backoff", "index_type": index_type, "top_k": 2}
    observation = ask(project, "search", question)
    assert observation.places[0] == place
    assert "\n12\tfunc Retry(" in observation.text
    assert 1 <= len(observation.places) <= 2


def test_nothing_found_is_no_error(project: ToolProject) -> None:
    observation = ask(project, "search_code", {"question": '"zqxjkvbp"', "index_type": "file"})
    empty = replace(
        project, search=lambda *_: replace(search_result(project), hits=(), advice=verbatim("Ask for less."))
    )
    assert ask(empty, "search_code", {"question": "a"}).text == "Nothing found. Ask for less."
    assert not observation.is_error


def search_result(project: ToolProject) -> Any:
    return project.search("orders", "chunk", 1)


def test_search_says_what_was_missing(project: ToolProject) -> None:
    result = replace(search_result(project), stale=True, problems=("No vectors.",))
    text = ask(replace(project, search=lambda *_: result), "search_code", {"question": "a"}).text
    assert "Files changed since the index was made. No vectors." in text.partition("\n")[0]


def test_read(project: ToolProject) -> None:
    observation = ask(project, "read_file", {"file_path": "shop/pricing.py", "start_line": 6, "end_line": 8})
    lines = (SHOP / "shop/pricing.py").read_text().split("\n")
    assert observation.text.split("\n") == [
        "shop/pricing.py, lines 6 to 8 of 13",
        *(f"{number}\t{lines[number - 1]}" for number in (6, 7, 8)),
    ]
    assert observation.places == (ShownLines("shop/pricing.py", 6, 8),)


def test_line_ends_are_not_shown(project: ToolProject) -> None:
    text = ask(project, "read_file", {"file_path": "web/src/café.ts"}).text
    assert text == "web/src/café.ts, lines 1 to 2 of 2\n1\texport const menu = 1;\n2\texport const price = 2;"


def test_an_empty_file(project: ToolProject) -> None:
    empty = replace(project, text=lambda _: "", paths=lambda: ["empty.py"])
    assert ask(empty, "read_file", {"file_path": "empty.py"}) == Observation("empty.py is empty.")


def test_symbols(project: ToolProject) -> None:
    observation = ask(project, "find_symbol", {"name": "@@password_digest()"})
    assert observation.text.startswith("shop/accounts.py:21-23 function password_digest — def password_digest(")
    assert observation.places == (ShownLines("shop/accounts.py", 21, 23, "password_digest"),)
    assert ask(project, "find_symbol", {"name": "nothing_like_it"}).places == ()


def test_related(project: ToolProject) -> None:
    observation = ask(project, "related_files", {"target": "shop/pricing.py"})
    assert "imported by shop/orders.py:5" in observation.text
    assert ShownLines("shop/orders.py", 5, 5) in [place._replace(symbol="") for place in observation.places]
    around = ask(project, "related_files", {"target": "@@password_digest"}).text
    assert "called by shop/accounts.py" in around
    assert around.endswith(project.related("@@password_digest").completeness)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"folder": "web"}, ["web/src/café.ts", "web/src/cart.ts", "web/src/money.ts"]),
        ({"folder": "./web/src/", "pattern": "c*.ts"}, ["web/src/café.ts", "web/src/cart.ts"]),
        ({"pattern": "*.java"}, ["tools/Export.java"]),
        ({"pattern": "shop/**/*base.py"}, ["shop/store/database.py"]),
        ({"folder": "", "pattern": "web/*/money.ts"}, ["web/src/money.ts"]),
        ({"folder": "/", "pattern": "*.rs"}, ["tools/labels.rs"]),
    ],
)
def test_files(project: ToolProject, arguments: dict[str, Any], expected: list[str]) -> None:
    assert ask(project, "list_files", arguments).text.split("\n") == [f"{len(expected)} files:", *expected]


@pytest.mark.parametrize("arguments", [{"folder": "sho"}, {"pattern": "*.cobol"}, {"pattern": "[a"}])
def test_no_files(project: ToolProject, arguments: dict[str, Any]) -> None:
    observation = ask(project, "list_files", arguments)
    assert observation.text.startswith("No indexed file")
    assert not observation.is_error


# ---- budgets


@pytest.mark.parametrize("max_chars", [400, 1_000, MAX_CHARS])
def test_a_long_file_is_read_to_its_end(project: ToolProject, max_chars: int) -> None:
    line, seen = 1, []
    for _ in range(400):
        observation = ask(project, "read_file", {"file_path": "shop/long.py", "start_line": line}, max_chars)
        (place,) = observation.places
        assert place.start_line == line
        assert observation.text.startswith(f"shop/long.py, lines {line} to {place.end_line} of 3000\n")
        seen += [text.partition("\t")[2] for text in observation.text.split("\n") if "\t" in text]
        line = place.end_line + 1
        if "continue at line" not in observation.text:
            break
        call = f'(continue at line {line}: read_file {{"file_path": "shop/long.py", "start_line": {line}}})'
        assert observation.text.endswith(call)
    assert seen == LONG.rstrip("\n").split("\n")


def test_a_long_line_is_cut(project: ToolProject) -> None:
    observation = ask(project, "read_file", {"file_path": "shop/wide.py"}, 300)
    assert observation.text.endswith("… (line cut)\n2\tlast = 1")
    assert observation.places == (ShownLines("shop/wide.py", 1, 2),)


@pytest.mark.parametrize("max_chars", [0, 1, 10, 60, 200, 500, 2_000])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_code", {"question": "value", "index_type": "file", "top_k": 20}),
        ("search_code", {"question": "where are orders stored"}),
        ("search_code", {"unknown": "x" * 9_000}),
        ("read_file", {"file_path": "shop/wide.py"}),
        ("read_file", {"file_path": "x" * 1_900}),
        ("find_symbol", {"name": "value"}),
        ("related_files", {"target": "shop/store/database.py"}),
        ("list_files", {}),
    ],
)
def test_no_observation_is_longer_than_its_budget(
    project: ToolProject, max_chars: int, name: str, arguments: dict[str, Any]
) -> None:
    observation = ask(project, name, arguments, max_chars)  # asserts the length
    shown = {line.partition("\t")[0] for line in observation.text.split("\n") if "\t" in line}
    if name in ("search_code", "read_file") and max_chars >= 200:
        assert {str(place.end_line) for place in observation.places} <= shown


def test_a_hit_too_long_is_shown_around_its_line(project: ToolProject) -> None:
    hit = replace(search_result(project).hits[0], line=1_500)
    hit = replace(hit, chunk=replace(hit.chunk, path="shop/long.py", start_line=1, end_line=3_000, text=LONG))
    result = replace(search_result(project), hits=(hit, hit))
    observation = ask(replace(project, search=lambda *_: result), "search_code", {"question": "a"}, 1_000)
    assert [place.start_line for place in observation.places] == [1_497, 1_497]
    assert observation.text.count("\n1500\tvalue_1500 = 1500\n") == 2
    assert observation.text.count("(continue at line ") == 2


def test_many_files_are_folded_into_folders(project: ToolProject) -> None:
    paths = [f"src/part{number % 7}/file{number}.py" for number in range(2_000)] + ["src/top.py", "other.py"]
    many = replace(project, paths=lambda: paths)
    text = ask(many, "list_files", {"folder": "src"}, 1_000).text
    assert text.startswith("2001 files, folders with the number of files below them:\nsrc/part0/ 286\n")
    assert text.endswith("\nsrc/top.py")
    assert "more: narrow it down)" in ask(many, "list_files", {"folder": "src/part0"}, 1_000).text
