"""`fathom context`: what is printed follows the rank, fills the budget, and is counted as it is printed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.fathom import run_fathom

from codefathom.answer.tokens import counter, estimate

QUESTION = "how are parcels weighed"
FORMATS = ("files", "autocoder", "markdown", "xml")


def function(name: str, n_lines: int) -> str:
    lines = "".join(f"    total_{n} = measure({n}) + {n}\n" for n in range(n_lines))
    return f"def {name}(parcel):\n{lines}    return total_0\n\n\n"


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose best file is long, with a second one nearly as long and small ones far behind."""
    root = tmp_path_factory.mktemp("depot")
    (root / ".fathom").mkdir()
    others = "".join(function(f"step_{n}", 12) for n in range(20))
    weighing = (
        '"""Parcels are weighed here."""\n\n\ndef weigh_parcel(parcel):\n    """Return how a parcel is weighed."""\n'
    )
    (root / "weigh_parcels.py").write_text(f"{others}{weighing}{function('weighed', 20)}{others}")
    (root / "parcels.py").write_text(
        f"{others}# parcels are weighed twice\n{function('weigh_parcels_again', 15)}{others}"
    )
    for n in range(8):
        (root / f"note_{n}.md").write_text(f"# Note {n}\n\nA parcel.\n")
    return root


def fathom(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "OPENAI_"))}
    own = {"FATHOM_CACHE_DIR": str(root.parent / "cache"), "FATHOM_CONFIG": str(root / "none.toml")}
    return run_fathom(*words, cwd=root, env=kept | own, encoding="utf-8")


def packed(root: Path, max_tokens: int) -> dict[str, list[tuple[int, int]]]:
    """Return path → lines of the files in a context, in its order; no lines for a whole file."""
    ran = fathom(root, "context", "--json", "--max-tokens", str(max_tokens), QUESTION)
    assert ran.returncode == 0, ran.stderr
    context = json.loads(ran.stdout)
    one_line = 18
    assert 0.75 * max_tokens - one_line <= estimate(ran.stdout) <= max_tokens
    text = fathom(root, "context", "--max-tokens", str(max_tokens), QUESTION).stdout
    assert min(0.9 * max_tokens, max_tokens - one_line) <= estimate(text) <= max_tokens
    return {file["path"]: file["spans"] for file in context["files"]}


def ranked(root: Path) -> list[str]:
    context = json.loads(fathom(root, "context", "--json", QUESTION).stdout)
    return [file["path"] for file in context["files"]]


@pytest.mark.parametrize("max_tokens", [200, 500, 1_000, 2_000, 4_000])
def test_the_budget_is_used_from_the_best_file_on(depot: Path, max_tokens: int) -> None:
    order = ranked(depot)
    files = packed(depot, max_tokens)
    assert list(files) == order[: len(files)]


def test_a_small_budget_goes_to_the_place_that_answers(depot: Path) -> None:
    ran = fathom(depot, "context", "--max-tokens", "50", QUESTION)
    assert ran.stdout.startswith(f"##File: {ranked(depot)[0]}\n")
    assert "weigh" in ran.stdout.partition("\n")[2]


def test_a_better_file_has_its_best_lines_before_a_worse_one_comes_whole(depot: Path) -> None:
    text = fathom(depot, "context", "--max-tokens", "2000", QUESTION).stdout
    assert "how a parcel is weighed" in text
    assert "parcels are weighed twice" in text
    assert "def weigh_parcels_again(parcel):\n    total_0 = measure(0) + 0\n" in text


def test_what_is_cut_and_what_is_absent_are_told_apart(depot: Path) -> None:
    ran = fathom(depot, "context", "--json", "--max-tokens", "200", QUESTION)
    context = json.loads(ran.stdout)
    inside = {file["path"] for file in context["files"]}
    assert set(context["truncated"]) <= inside
    assert context["absent"]
    assert inside.isdisjoint(context["absent"])
    assert {*inside, *context["absent"]} == set(ranked(depot))
    assert (
        f"only parts of these files fit, because the limit of tokens is too low: {context['truncated'][0]}"
        in ran.stderr
    )
    assert f"these files are absent, because the limit of tokens is too low: {context['absent'][0]}" in ran.stderr


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return str(path)


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("is_set", [True, False])
def test_the_text_is_counted_as_it_is_printed(depot: Path, tokenizer: str, format_name: str, is_set: bool) -> None:
    own = ("--set", f"context.tokenizer_path={tokenizer}") if is_set else ()
    count = counter(tokenizer if is_set else "")
    ran = fathom(depot, "context", "-v", "--format", format_name, "--max-tokens", "700", *own, QUESTION)
    assert 630 <= count(ran.stdout) <= 700
    assert f" files, {count(ran.stdout)} tokens\n" in ran.stderr


def test_the_chunks_of_an_export_are_counted_by_the_same_tokenizer(depot: Path, tokenizer: str) -> None:
    (depot / "称重.md").write_text("包裹在这里称重，然后按照重量计算运费。\n", encoding="utf-8")
    for own, path in (((), ""), (("--set", f"context.tokenizer_path={tokenizer}"), tokenizer)):
        count = counter(path)
        for line in fathom(depot, "export", "--as", "jsonl", *own).stdout.splitlines():
            for part in json.loads(line)["content"]:
                assert part["tokens"] == count(part["source_code"])


def test_autocoder_is_the_format_of_that_program_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / ".fathom").mkdir()
    texts = {"parcels.py": "def weigh():\r\n    return 'parcels'\r\n", "weigh.py": "# weigh parcels\nx = 1"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    environment = {**os.environ, "FATHOM_CACHE_DIR": str(tmp_path / "cache")}
    ran = run_fathom("context", "--format", "autocoder", "weigh parcels", cwd=tmp_path, env=environment)
    parts = {f"##File: {name}\n{text}\n\n".encode() for name, text in texts.items()}
    assert all(part in ran.stdout for part in parts)
    assert len(ran.stdout) == sum(map(len, parts))


def test_a_file_as_json_has_its_best_lines_and_is_whole_on_request(depot: Path) -> None:
    search = ("search", "--json", "--level", "file", "-n", "2", QUESTION)
    best = json.loads(fathom(depot, *search).stdout)["hits"][0]
    whole = json.loads(fathom(depot, *search, "-v").stdout)["hits"][0]
    assert whole["content"] == (depot / whole["path"]).read_text()
    lines = best["content"].split("\n")
    assert len(lines) <= 24
    assert lines == whole["content"].split("\n")[best["content_line"] - 1 :][: len(lines)]
    assert best["content_line"] <= best["line"] < best["content_line"] + len(lines)
