"""Exit code, stdout and stderr of every command over the shop, against files. UPDATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from codefathom.cli.help import help_text
from codefathom.cli.options import COMMANDS

from .conftest import Ran, Run, normalised

GOLDEN = Path(__file__).parent / "commands"

# Name of the golden file → command line after `fathom`, run in the indexed shop.
READING = {
    "search": "search how do customers sign in",
    "search-json": "search --json -n 2 retry with backoff",
    "search-verbose": "search -v -n 1 discount of large orders",
    "search-files": "search --level file -n 3 shipping label",
    "search-symbols": "search --level symbol -n 3 price of an order",
    "search-lexical": "search --mode lexical -n 3 backoff",
    "search-vector": "search --mode vector -n 3 backoff",
    "search-symbol-mode": "search --mode symbol -n 3 authenticate",
    "search-regex": "search --mode regex 'pbkdf2_\\w+'",
    "search-marked-symbol": "search @@Order price",
    "search-marked-path": "search @web/src/cart.ts summary",
    "search-inline-filter": "search lang:go backoff",
    "search-options": "search --lang ts --kind method --dir web -n 2 add",
    "search-filter": "search --filter 'language = python and lines < 10' -n 2 price",
    "search-nothing": "search --mode lexical zyxwvut",
    "search-nothing-json": "search --mode lexical --json zyxwvut",
    "search-filtered-away": "search --lang haskell sign in",
    "search-empty": "search ''",
    "search-unknown-path": "search @nowhere.py sign in",
    "search-unknown-symbol": "search @@nobody sign in",
    "search-unknown-field": "search --filter 'colour = red' sign in",
    "search-outside": "search --dir /usr sign in",
    "symbols": "symbols add",
    "symbols-in-file": "symbols --path shop/store/database.py",
    "symbols-of-kind": "symbols --kind class",
    "symbols-json": "symbols --json discount",
    "symbols-nothing": "symbols zyxwvut",
    "related-file": "related shop/orders.py",
    "related-depth": "related shop/accounts.py --depth 2",
    "related-symbol": "related @@discount",
    "related-json": "related --json web/src/money.ts",
    "related-limit": "related shop/pricing.py -n 1",
    "related-missing": "related shop/nowhere.py",
    "related-unknown-symbol": "related @@nobody",
    "map": "map",
    "map-question": "map --max-tokens 120 how do customers sign in",
    "map-file": "map --max-tokens 80 --file shop/orders.py --dir shop",
    "map-json": "map --json --max-tokens 90",
    "map-missing": "map --file shop/nowhere.py",
    "map-no-folder": "map --dir nowhere",
    "context": "context --max-files 2 how do customers sign in",
    "context-markdown": "context --format markdown --max-files 1 shipping label",
    "context-xml": "context --format xml --max-files 1 retry with backoff",
    "context-json": "context --format json --max-files 1 retry with backoff",
    "context-small": "context --max-tokens 60 retry with backoff",
    "context-nothing": "context zyxwvut --lang haskell",
    "symbols-cut": "symbols --limit 3 --path shop",
    "symbols-cut-json": "symbols --limit 1 --json",
    "files": "files",
    "files-verbose": "files shop -v",
    "files-json": "files tools --json",
    "files-none": "files nowhere",
    "status": "status",
    "status-skipped": "status --skipped",
    "status-json": "status --json",
    "doctor": "doctor",
    "doctor-json": "doctor --json",
    "config-show": "config show",
    "config-origins": "config show --set search.limit=3 --json",
    "export-jsonl": "export --as jsonl",
    "export-index-json": "export --as index-json",
    "version": "version",
    "version-json": "--version --json",
    "no-command": "serch x",
    "no-option": "search --limt 3 x",
    "no-folder": "search -C nowhere x",
    "no-language": "search --lang klingon x",
    "no-kind": "search --kind nonsense x",
    "bad-setting": "search -n many x",
    "bad-window": "context --max-tokens 0 x",
    "unknown-setting": "search --set search.limmit=3 x",
    "alias-rag": "--rag --source-dir . how do customers sign in",
    "alias-rag-levels": "--rag --filter-level 2 --max-files 1 retry with backoff",
    "alias-query-index": "--query-index @@authenticate --source-dir .",
    "alias-contexts-only": """--rag --contexts-only --source-dir . --max-files 1
        '{"query": "retry with backoff", "only_contexts": true}'""",
}
# The same, in a copy without an index.
WRITING = {
    "index": "index",
    "index-json": "index --json",
    "index-dry-run": "index --dry-run",
    "index-quiet": "index -q",
    "index-some": "index --required-exts .go,.rs -v",
    "index-interactive": "index --interactive",
    "first-search": "search -n 1 retry with backoff",
    "first-search-quiet": "search -q -n 1 retry with backoff",
    "status-before": "status",
    "install": "install",
    "install-cursor": "install cursor",
    "install-project": "install --project --yes vscode",
    "install-print": "install --print codex",
    "install-json": "install --json --yes gemini",
    "install-unknown": "install emacs",
    "uninstall": "uninstall --yes",
    "alias-build-index": "--build-index --source-dir .",
}


N_PLACES = 3
_PLACE = re.compile(r"^\S+:\d+-\d+  |^##File: ", re.MULTILINE)


def first_places(text: str) -> str:
    """The text with the first places or files of a list only: further down, weak evidence decides the order."""
    places = list(_PLACE.finditer(text))
    if len(places) <= N_PLACES:
        return text
    return f"{text[: places[N_PLACES].start()]}[{len(places) - N_PLACES} more]\n"


def check(name: str, line: str, ran: Ran, project: Path, home: Path) -> None:
    text = (
        f"$ fathom {' '.join(line.split())}\nexit {ran.code}\n--- stdout\n{first_places(ran.out)}--- stderr\n{ran.err}"
    )
    text = normalised(text, project, home)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"UPDATE_GOLDEN=1 pytest {__file__} accepts the new text"
    assert "Traceback" not in text


@pytest.mark.parametrize("name", READING)
def test_reading(name: str, run: Run, indexed: Path, quiet_surroundings: Path) -> None:
    check(name, READING[name], run(shlex.split(READING[name]), indexed), indexed, quiet_surroundings)


@pytest.mark.parametrize("name", WRITING)
def test_writing(name: str, run: Run, fresh: Path, quiet_surroundings: Path) -> None:
    check(name, WRITING[name], run(shlex.split(WRITING[name]), fresh), fresh, quiet_surroundings)


@pytest.mark.parametrize("topic", ["", "compat", *(command.name for command in COMMANDS)])
def test_help_is_printed_and_nothing_is_done(topic: str, run: Run, tmp_path: Path) -> None:
    for line in (["help", topic] if topic else ["help"], [topic, "--help"] if topic else ["--help"]):
        assert run(line, tmp_path) == (0, help_text(topic), "")
    assert not any(tmp_path.iterdir())


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {*READING, *WRITING}


def test_a_second_run_finds_nothing_to_do(run: Run, fresh: Path) -> None:
    assert run(["index"], fresh).code == 0
    again = json.loads(run(["index", "--json"], fresh).out)
    assert (again["added"], again["changed"], again["removed"]) == ([], [], [])


def test_a_change_is_found_without_being_asked_to_index(run: Run, fresh: Path) -> None:
    run(["index"], fresh)
    (fresh / "shop" / "gift.py").write_text("def wrap_as_gift(order):\n    return order\n")
    (fresh / "shop" / "pricing.py").unlink()
    found = json.loads(run(["search", "--json", "wrap as gift"], fresh).out)
    assert found["hits"][0]["path"] == "shop/gift.py"
    assert not found["stale"]
    assert "shop/pricing.py" not in {hit["path"] for hit in found["hits"]}


def test_a_sub_folder_searches_the_project_and_prints_its_paths(run: Run, indexed: Path) -> None:
    line = ["search", "--json", "customers sign in"]
    assert run(line, indexed / "web" / "src").out == run(line, indexed).out


@pytest.mark.parametrize(
    ("folder", "argument"), [("", "web"), ("", "web/src/.."), ("web", "."), ("web", "web"), ("api", "../web")]
)
def test_a_folder_is_looked_for_where_the_user_is_then_in_the_project(
    run: Run, indexed: Path, folder: str, argument: str
) -> None:
    ran = run(["search", "--json", "--dir", argument, "money"], indexed / folder)
    paths = {hit["path"] for hit in json.loads(ran.out)["hits"]}
    assert paths == {"web/src/cart.ts", "web/src/money.ts"}


def test_what_export_writes_import_reads(run: Run, fresh: Path, tmp_path: Path) -> None:
    run(["index"], fresh)
    assert run(["export", "--as", "index-json", "-o", str(tmp_path / "symbols")], fresh).code == 0
    assert run(["import", "--as", "index-json", str(tmp_path / "symbols")], fresh).code == 0
    assert run(["search", "retry"], fresh).code == 0


def test_a_home_folder_is_indexed_only_when_it_is_named(run: Run, quiet_surroundings: Path) -> None:
    (quiet_surroundings / "note.md").write_text("# Retry with backoff\n")
    ran = run(["search", "retry"], quiet_surroundings)
    assert ran.code == 2
    assert "--source-dir" in ran.err
    assert not (quiet_surroundings / ".fathom").exists()
    assert run(["search", "retry", "--source-dir", "."], quiet_surroundings).code == 0


def test_a_file_that_cannot_be_opened_is_named(run: Run, fresh: Path) -> None:
    ran = run(["import", "--as", "jsonl", "nowhere.jsonl"], fresh)
    assert (ran.code, ran.out) == (2, "")
    assert "'nowhere.jsonl'" in ran.err
