"""`fathom index` with a language model as parser, against a real server that speaks the protocol of a provider."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.fathom import Fathom, run_fathom
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import LONG_S, comes

from codefathom.source.masks import MASK

KEY = "AKIA" + "Q3EXAMPLE7HBNDCA"  # in two parts, so that it is none here
LEDGER = f"""\
program ledger;
const aws_key = '{KEY}';

procedure PostEntry(amount: integer);
begin
  writeln(amount)
end;
"""
FOUND = {
    "symbols": [
        {"kind": "constant", "name": "aws_key", "start_line": 2, "end_line": 2, "signature": "", "doc": ""},
        {"kind": "procedure", "name": "PostEntry", "start_line": 4, "end_line": 7, "signature": "", "doc": ""},
    ]
}


def sse(text: str) -> bytes:
    events: list[dict[str, Any]] = [{"choices": [{"delta": {"content": text}}]}]
    events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n"


LISTS = Turn([sse(json.dumps(FOUND))])
REFUSES = Turn([b'{"error": {"message": "no such model"}}'], 404)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    root = tmp_path / "books"
    (root / ".fathom").mkdir(parents=True)
    (root / "ledger.pas").write_text(LEDGER)
    (root / "cart.py").write_text("class Cart:\n    def total(self):\n        return 0\n")
    return root


@pytest.fixture
def described(books: Path) -> Path:
    """The same project, where the model does not parse but says what files are for."""
    settings = '[parse]\nchain = ["treesitter", "text"]\n'
    (books / "fathom.toml").write_text(settings)
    return books


def surroundings(root: Path, served: ServedSettings | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "OPENAI_", "OLLAMA_"))}
    own = {"FATHOM_CACHE_DIR": str(root.parent / "cache"), "FATHOM_CONFIG": str(root.parent / "none.toml")}
    is_described = (root / "fathom.toml").exists()
    chain = {"FATHOM_INDEX__PURPOSES": "true"} if is_described else {"FATHOM_PARSE__CHAIN": "treesitter,llm,text"}
    model = {"FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{served.base_url}/v1"} if served else {}
    return {**kept, **own, **chain, **model}


def fathom(root: Path, served: ServedSettings | None, *words: str) -> subprocess.CompletedProcess[str]:
    return run_fathom(*words, cwd=root, env=surroundings(root, served), text=True)


def names(root: Path, served: ServedSettings) -> list[str]:
    found = json.loads(fathom(root, served, "symbols", "--json", "--path", "ledger.pas").stdout)
    return [symbol["name"] for symbol in found["symbols"]]


def test_the_model_is_asked_once_about_what_no_grammar_knows(books: Path) -> None:
    with serving(LISTS) as served:
        ran = fathom(books, served, "index")
        assert ran.returncode == 0, ran.stderr
        assert names(books, served) == ["aws_key", "PostEntry"]
        found = json.loads(fathom(books, served, "search", "--json", "@@PostEntry").stdout)
        assert found["hits"][0]["path"] == "ledger.pas"
        fathom(books, served, "index")
        fathom(books, served, "index", "--full")  # from the cache
        assert names(books, served) == ["aws_key", "PostEntry"]
        (asked,) = served.asked
    assert "4: procedure PostEntry(amount: integer);" in asked.body["messages"][-1]["content"]


def test_no_secret_is_sent(books: Path) -> None:
    with serving(LISTS) as served:
        fathom(books, served, "index")
    sent = json.dumps([asked.body for asked in served.asked])
    assert "aws_key" in sent
    assert KEY not in sent


def test_another_model_is_asked_anew(books: Path) -> None:
    with serving(LISTS) as served:
        fathom(books, served, "index")
        fathom(books, served, "index", "--set", "llm.index=openai:better")
    assert [asked.body["model"] for asked in served.asked] == ["m", "better"]


def test_a_failing_model_leaves_a_file_that_is_found_and_tried_again(books: Path) -> None:
    with serving(REFUSES) as served:
        assert "not parsed by the model" in fathom(books, served, "index").stdout
        n_asked = len(served.asked)
        found = json.loads(fathom(books, served, "search", "--json", "--mode", "lexical", "writeln amount").stdout)
        assert [hit["path"] for hit in found["hits"]] == ["ledger.pas"]
        assert found["stale"] is False
        assert len(served.asked) == n_asked  # a search does not try again
        status = json.loads(fathom(books, served, "status", "--json").stdout)
        assert [failure["path"] for failure in status["failures"]] == ["ledger.pas"]
        assert (status["pending"], status["n_documents"]) == (0, 2)
        served.turns[:] = [LISTS]
        fathom(books, served, "index")
        assert names(books, served) == ["aws_key", "PostEntry"]
        assert json.loads(fathom(books, served, "status", "--json").stdout)["failures"] == []


def test_a_search_that_takes_in_a_change_does_not_try_again_either(books: Path) -> None:
    with serving(REFUSES) as served:
        fathom(books, served, "index")
        n_asked = len(served.asked)
        (books / "cart.py").write_text("class Basket: ...\n")
        found = json.loads(fathom(books, served, "search", "--json", "@@Basket").stdout)
        assert ([hit["path"] for hit in found["hits"]], found["stale"]) == (["cart.py"], False)
        assert len(served.asked) == n_asked
        status = json.loads(fathom(books, served, "status", "--json").stdout)
        assert [failure["path"] for failure in status["failures"]] == ["ledger.pas"]
        served.turns[:] = [LISTS]
        fathom(books, served, "index")
        assert len(served.asked) == n_asked + 1
        assert names(books, served) == ["aws_key", "PostEntry"]


def test_it_is_said_what_goes_to_the_model(books: Path) -> None:
    with serving(LISTS) as served:
        dry = fathom(books, served, "index", "--dry-run").stdout
        assert "would send to the language model, at most: 1 file to parse, about 4" in dry
        assert served.asked == []
        assert "sent to the language model: 1 file to parse, about 4" in fathom(books, served, "index").stdout
        assert "language model" not in fathom(books, served, "index").stdout


def sent(served: ServedSettings) -> list[str]:
    return [asked.body["messages"][-1]["content"] for asked in served.asked]


DESCRIBES = Turn([sse(json.dumps({"purposes": [{"file": n, "purpose": f"Purpose {n}."} for n in range(1, 9)]}))])


def test_the_choosing_model_sees_what_each_file_is_for(described: Path) -> None:
    with serving(DESCRIBES) as served:
        fathom(described, served, "search", "cart total")
        assert served.asked == []  # no search waits for it
        dry = fathom(described, served, "index", "--dry-run").stdout
        assert "at most: the beginnings of 3 files to describe their purpose" in dry
        ran = fathom(described, served, "index")
        assert (ran.returncode, "the beginnings of 3 files to describe their purpose" in ran.stdout) == (0, True), (
            ran.stderr
        )
        fathom(described, served, "index", "--full")
        (asked,) = sent(served)
        assert "File 1: cart.py (python, 3 lines)\nDefines: Cart, Cart.total\n| class Cart:" in asked
        assert KEY not in asked
        assert f"| const aws_key = '{MASK * len(KEY)}'" in asked
        fathom(described, served, "ask", "--filter-level", "1", "where is the total of a cart")
        assert "cart.py: Cart, Cart.total # Purpose 1.\n" in sent(served)[1]


def test_the_same_files_elsewhere_are_known(described: Path) -> None:
    clone = described.parent / "clone"
    shutil.copytree(described, clone)
    with serving(DESCRIBES) as served:
        fathom(described, served, "index")
        assert "language model" not in fathom(clone, served, "index").stdout
        assert len(served.asked) == 1


def test_purposes_are_exported_whatever_is_set_later(described: Path) -> None:
    with serving(DESCRIBES) as served:
        fathom(described, served, "index")
        for setting in ("search.limit=9", "index.purposes=false", "llm.model=", "llm.index=openai:other"):
            exported = json.loads(fathom(described, served, "export", "--as", "index-json", "--set", setting).stdout)
            assert exported["cart.py"]["purpose"] == "Purpose 1."
        assert len(served.asked) == 1


def test_a_model_that_fails_leaves_files_without_purpose_and_the_index_whole(described: Path) -> None:
    with serving(REFUSES) as served:
        ran = fathom(described, served, "index")
        assert ran.returncode == 0
        assert "failed: cart.py: no purpose from the model: " in ran.stdout
        assert "3 added, 3 failed" in ran.stdout
        served.turns[:] = [DESCRIBES]
        assert "failed" not in fathom(described, served, "index").stdout


def test_the_settings_say_where_indexed_text_goes(described: Path) -> None:
    ran = fathom(described, None, "config", "show", "--set", "llm.index=openai:m")
    assert "text of indexed files goes to openai:m at https://api.openai.com/v1, secrets masked" in ran.stderr


def test_without_a_model_it_is_said_what_to_set(books: Path) -> None:
    ran = fathom(books, None, "index")
    assert ran.returncode == 2
    assert "parse.chain contains llm" in ran.stderr
    assert "set llm.model" in ran.stderr


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_interruption_ends_the_models_call(books: Path) -> None:
    words = b'data: {"choices": [{"delta": {"content": "word"}}]}\n\n'
    with serving(Turn([words], pause_s=0.01, repeat=100_000)) as served:
        environment = surroundings(books, served)
        process = Fathom(["index"], cwd=books, env=environment, stderr=subprocess.PIPE)
        with process:
            assert comes(lambda: served.asked or process.poll() is not None)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.communicate()
        assert process.returncode == 130
        assert served.asked[0].is_closed.wait(LONG_S)
