"""Names of files in any language, form and case, and paths as they are written on Windows, in all commands."""

from __future__ import annotations

import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from codefathom.cli import main

COMPOSED, DECOMPOSED = (
    unicodedata.normalize(form, "schlüssel/öffnen.py")  # as Linux and Windows write it, as macOS may
    for form in ("NFC", "NFD")
)
CHINESE = "订单/价格 计算.py"
EMOJI = "🎉 party/🦘.py"
FILES = {
    CHINESE: "def kangaroo_total(prices):\n    return sum(prices)\n",
    DECOMPOSED: "from shop import key\n\n\ndef koala_open(door):\n    return key.turn(door)\n",
    EMOJI: "def emu_party(guests):\n    return guests\n",
    "shop/key.py": "def turn(door):\n    return door\n",
    "web/src/cart.ts": "import { dingo } from './dingo';\nexport function possumCart() { return dingo(); }\n",
    "web/src/dingo.ts": "export function dingo() { return 1; }\n",
}
# Names that Windows keeps for devices or cannot have, and names that it and macOS take for one.
ELSEWHERE = {
    "con.py": "def numbat_con():\n    return 1\n",
    "COM1/lpt1.py": "def numbat_port():\n    return 1\n",
    "aux/nul.py": "def numbat_nul():\n    return 1\n",
    "a:b.py": "def numbat_colon():\n    return 1\n",
    "dot. /end.py": "def numbat_end():\n    return 1\n",
    "back\\slash.py": "def numbat_slash():\n    return 1\n",
    "case/Readme.py": "def quokka_one():\n    return 1\n",
    "case/README.py": "def quokka_two():\n    return 2\n",
}


def lay(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "Projekt ü 项目"
    folder.mkdir()
    (folder / "fathom.toml").touch()
    lay(folder, FILES)
    monkeypatch.chdir(folder)
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "-q", "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def first_path(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    return str(said(capsys, "search", "-n", "1", *words)["hits"][0]["path"])


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["@订单/ what is summed"], CHINESE),
        ([f'path:"{CHINESE}" total'], CHINESE),
        (["--dir", "订单", "total"], CHINESE),
        (["kangaroo_total"], CHINESE),
        (["价格"], CHINESE),
        ([f"@{COMPOSED} open"], DECOMPOSED),
        ([f"@{DECOMPOSED} open"], DECOMPOSED),
        (["@" + COMPOSED.replace("/", "\\") + " open"], DECOMPOSED),
        (["--dir", "schlüssel", "door"], DECOMPOSED),
        (["path:schlüssel/ door"], DECOMPOSED),
        (["dir:schlüssel door"], DECOMPOSED),
        (["file:öff*.py door"], DECOMPOSED),
        (["--filter", f'path = "{COMPOSED}"', "door"], DECOMPOSED),
        (["--filter", '{"field": "name", "operator": "starts_with", "value": "öff"}', "door"], DECOMPOSED),
        (["--dir", "🎉 party", "guests"], EMOJI),
        (["@🎉*/** guests"], EMOJI),
        (['path:"🎉 party/" guests'], EMOJI),
        (["@web\\src\\cart.ts possum"], "web/src/cart.ts"),
        (["@src\\cart.ts possum"], "web/src/cart.ts"),
        (["web\\src\\cart.ts"], "web/src/cart.ts"),
        (["--dir", "web\\src", "possum"], "web/src/cart.ts"),
        (["--dir", ".\\web\\src\\", "possum"], "web/src/cart.ts"),
        (["path:web\\src possum"], "web/src/cart.ts"),
        (["path:src\\c*.ts possum"], "web/src/cart.ts"),
        (["dir:web\\src possum"], "web/src/cart.ts"),
        (["file:src\\cart.ts possum"], "web/src/cart.ts"),
        (["--filter", 'path = "web\\src\\cart.ts"', "possum"], "web/src/cart.ts"),
        (["--filter", 'path in ("web\\src\\cart.ts", "x\\y.ts")', "possum"], "web/src/cart.ts"),
        (["--filter", 'path != "web\\src\\cart.ts" and dir starts_with "web\\src"', "dingo"], "web/src/dingo.ts"),
    ],
)
def test_a_search_finds_a_file_however_its_path_is_spelled(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], path: str
) -> None:
    assert first_path(capsys, *words) == path


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (CHINESE, CHINESE),
        (CHINESE.replace("/", "\\"), CHINESE),
        (COMPOSED, DECOMPOSED),
        (DECOMPOSED, DECOMPOSED),
        ("schlüssel", DECOMPOSED),
        (EMOJI, EMOJI),
        ("web\\src\\cart.ts", "web/src/cart.ts"),
        (".\\web\\src\\..\\src\\cart.ts", "web/src/cart.ts"),
    ],
)
def test_the_symbols_of_a_path(project: Path, capsys: pytest.CaptureFixture[str], written: str, path: str) -> None:
    assert {item["path"] for item in said(capsys, "symbols", "--path", written)["symbols"]} == {path}


@pytest.mark.parametrize(
    ("written", "connected"),
    [
        (COMPOSED, "shop/key.py"),
        (DECOMPOSED, "shop/key.py"),
        ("web\\src\\cart.ts", "web/src/dingo.ts"),
        ("@web\\src\\cart.ts", "web/src/dingo.ts"),
        ("shop\\key.py", DECOMPOSED),
        ("@@turn", DECOMPOSED),
    ],
)
def test_what_is_connected_with_a_path(
    project: Path, capsys: pytest.CaptureFixture[str], written: str, connected: str
) -> None:
    assert connected in {edge["path"] for edge in said(capsys, "related", written)["edges"]}


def test_a_file_with_any_name_is_read_again_when_it_changes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert first_path(capsys, "kangaroo_total") == CHINESE
    for path in (CHINESE, DECOMPOSED, EMOJI):
        (project / path).write_text("def thylacine_found():\n    return 1\n", encoding="utf-8")
    symbols = said(capsys, "symbols", "thylacine_found")["symbols"]
    assert {item["path"] for item in symbols} == {CHINESE, DECOMPOSED, EMOJI}
    (project / CHINESE).unlink()
    symbols = said(capsys, "symbols", "thylacine_found")["symbols"]
    assert {item["path"] for item in symbols} == {DECOMPOSED, EMOJI}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="such files cannot lie there")
@pytest.mark.parametrize(("path", "text"), ELSEWHERE.items())
def test_names_of_other_systems_do_no_harm(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, text: str
) -> None:
    lay(project, ELSEWHERE)
    name = text[4 : text.index("(")]
    assert [item["path"] for item in said(capsys, "symbols", name)["symbols"]] == [path]
    assert {item["name"] for item in said(capsys, "symbols", "--path", path)["symbols"]} == {name}
    if " " not in path:
        assert first_path(capsys, f"@{path} {name}") == path
    assert said(capsys, "status")["n_documents"] == len(FILES) + len(ELSEWHERE) + 1  # and fathom.toml


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="two such files cannot lie there")
@pytest.mark.parametrize("path", ["case/Readme.py", "case/README.py"])
def test_names_that_differ_in_case_only_are_two_files(
    project: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    lay(project, ELSEWHERE)
    hits = said(capsys, "search", f"@{path} quokka")["hits"]
    assert {hit["path"] for hit in hits} == {path}
    assert {item["path"] for item in said(capsys, "symbols", "--path", path)["symbols"]} == {path}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="two such folders cannot lie there")
def test_folders_that_differ_in_case_only_are_two(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(project, {"lib/a.py": "def bandicoot():\n    return 1\n", "Lib/a.py": "def bandicoot():\n    return 2\n"})
    for folder in ("lib", "Lib"):
        assert {item["path"] for item in said(capsys, "symbols", "--path", folder)["symbols"]} == {f"{folder}/a.py"}
        assert first_path(capsys, f"@{folder}/a.py bandicoot") == f"{folder}/a.py"
