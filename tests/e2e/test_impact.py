"""`fathom impact` in a repository of git: the symbols that differ, what they reach, and the tests that touch them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.fathom import run_fathom
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import SourceError, UsageError
from codefathom.project.impact import file_changes

FILES = {
    "shop/__init__.py": "",
    "shop/money.py": "def parse(text):\n    return text\n\n\ndef other():\n    pass\n",
    "shop/orders.py": "from shop.money import parse\n\n\ndef total(order):\n    return parse(order)\n",
    "tests/test_orders.py": "from shop.orders import total\n\n\ndef test_total():\n    assert total('1')\n",
    "tests/test_far.py": "def test_far():\n    assert True\n",
}
CHANGED = FILES["shop/money.py"].replace("return text", "return text.strip()")
DIFF = """\
--- a/shop/money.py
+++ b/shop/money.py
@@ -1,2 +1,2 @@
 def parse(text):
-    return text
+    return text.strip()
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return made_repository(tmp_path, monkeypatch)


def made_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository of git with one commit, for a user who has no files of fathom elsewhere."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder / name))
    root = folder / "repository"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "-q")
    commit(root)
    return root


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True, timeout=LONG_S
    ).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")


def check(engine: Engine, **arguments: str) -> None:
    impact = engine.impact(**arguments)  # type: ignore[arg-type]
    assert [(item.path, item.symbol, item.change) for item in impact.changes] == [("shop/money.py", "parse", "changed")]
    steps = {(edge.path, edge.symbol): edge.depth for edge in impact.reached if edge.kind == "called by"}
    assert steps == {("shop/orders.py", "total"): 1, ("tests/test_orders.py", "test_total"): 2}
    assert [item.path for item in impact.tests][:1] == ["tests/test_orders.py"]
    assert "tests/test_far.py" not in {item.path for item in impact.tests}
    assert "lower bound" in impact.completeness


def test_a_diff_counts_whether_it_is_applied_or_not(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        check(engine, diff=DIFF)
    (shop / "shop/money.py").write_text(CHANGED)
    with Engine.open(str(shop)) as engine:
        check(engine, diff=DIFF)


def test_what_tests_share_is_reached_and_is_not_a_test_to_run(shop: Path) -> None:
    (shop / "tests/conftest.py").write_text("from shop.orders import total\n\n\ndef order():\n    return total('1')\n")
    commit(shop)
    with Engine.open(str(shop)) as engine:
        impact = engine.impact(diff=DIFF)
    assert "tests/conftest.py" in {edge.path for edge in impact.reached}
    assert [test.path for test in impact.tests] == ["tests/test_orders.py"]


def test_a_private_method_does_not_reach_whoever_imports_its_module(shop: Path) -> None:
    text = (
        "class Till:\n    def _open(self, n):\n        return self._open(n - 1)\n\n"
        "    def pay(self):\n        self._open(1)\n"
    )
    (shop / "shop/till.py").write_text(text)
    (shop / "shop/bank.py").write_text("import shop.till\n\n\ndef go():\n    return shop.till.Till().pay()\n")
    commit(shop)
    (shop / "shop/till.py").write_text(text.replace("n - 1", "n - 2"))
    with Engine.open(str(shop)) as engine:
        impact = engine.impact()
    near = [edge for edge in impact.reached if edge.depth == 1]
    assert [(edge.path, edge.symbol) for edge in near if edge.likely] == [("shop/till.py", "Till.pay")]
    assert "imported by" not in {edge.kind for edge in near}
    assert "Till._open" not in {edge.symbol for edge in impact.reached}


def test_files_are_compared_with_head_and_revisions_with_one_another(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        assert engine.impact().changes == ()
    (shop / "shop/money.py").write_text(CHANGED)
    with Engine.open(str(shop)) as engine:
        check(engine)
        commit(shop)
        check(engine, revisions="HEAD~1..HEAD")
        check(engine, revisions="HEAD~1...HEAD")
        check(engine, revisions="HEAD~1")


def test_nothing_that_a_repository_names_is_run(shop: Path) -> None:
    (shop / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    commit(shop)
    git(shop, "config", "diff.external", f"touch {shop}/ran")
    git(shop, "config", "filter.evil.clean", f"touch {shop}/ran")
    git(shop, "config", "diff.evil.textconv", f"touch {shop}/ran")
    (shop / "shop/money.py").write_text(CHANGED)
    with Engine.open(str(shop)) as engine:
        check(engine)
    assert not (shop / "ran").exists()


def test_a_renamed_file_is_no_change_of_its_symbols(shop: Path) -> None:
    (shop / "shop/money.py").rename(shop / "shop/coins.py")
    with Engine.open(str(shop)) as engine:
        assert engine.impact().changes == ()


def test_a_removed_symbol_and_what_is_no_code_are_told(shop: Path) -> None:
    (shop / "shop/money.py").write_text(FILES["shop/money.py"].partition("def other")[0])
    (shop / "notes.md").write_text("# Notes\n")
    with Engine.open(str(shop)) as engine:
        impact = engine.impact()
    assert ("other", "removed") in {(item.symbol, item.change) for item in impact.changes}
    assert "notes.md" in " ".join(impact.unseen)


@pytest.mark.parametrize("name", ["--output=x", "nowhere", "nowhere..HEAD", "HEAD..--all", "a\nb", ":x"])
def test_a_bad_revision_is_an_error(shop: Path, name: str) -> None:
    with Engine.open(str(shop)) as engine, pytest.raises((UsageError, SourceError)) as caught:
        engine.impact(name)
    assert caught.value.hint


def test_lines_that_do_not_fit_are_told(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        impact = engine.impact(diff=DIFF.replace("return text\n", "return nothing\n"))
    assert "other lines in the index" in impact.unseen[0]


def _write_many(shop: Path, text: str) -> None:
    for number in range(20):  # git keeps one text for all of them
        (shop / f"same{number}.txt").write_text(text)


def test_few_bytes_do_not_make_work_without_end(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_changes, "_MOST_CHARS", 100_000)
    _write_many(shop, "words\n" * 1_000)
    commit(shop)
    once = "--- a/same0.txt\n+++ b/same0.txt\n@@ -1 +1,2 @@\n words\n+more\n"
    with Engine.open(str(shop)) as engine:
        assert engine.impact(diff=once).changes
        with pytest.raises(UsageError, match="more than 100,000 characters together") as caught:
            engine.impact(diff=once * 10)
        assert "in parts" in caught.value.hint
        _write_many(shop, "other words\n" * 700)
        engine.index()
        with pytest.raises(UsageError, match="more than 100,000 characters together"):
            engine.impact()
        commit(shop)
        with pytest.raises(UsageError, match="more than 100,000 characters together"):
            engine.impact("HEAD~1..HEAD")


def test_a_project_in_a_folder_of_its_repository_is_compared_there(shop: Path) -> None:
    (shop / "fathom.toml").write_text('[source]\ndir = "shop"\n')
    commit(shop)
    (shop / "shop/money.py").write_text(CHANGED)
    with Engine.open(str(shop)) as engine:
        assert [(item.path, item.symbol) for item in engine.impact().changes] == [("money.py", "parse")]


def fathom(folder: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return run_fathom("impact", *words, "-q", cwd=folder, input=text, text=True)


def test_the_command_lists_tests_for_a_runner(shop: Path) -> None:
    run = fathom(shop, "-", "--tests-only", text=DIFF)
    assert (run.returncode, run.stdout) == (0, "tests/test_orders.py\n")
    assert fathom(shop, "-", "--fail-on", "tests", text=DIFF).returncode == 1
    assert fathom(shop, "--fail-on", "reached").returncode == 0  # nothing has changed
    assert json.loads(fathom(shop, "-", "--json", text=DIFF).stdout)["n_reached"] >= 2
    shown = fathom(shop, "-", text=DIFF).stdout
    assert "~ shop/money.py:1  function parse" in shown
    assert "tests/test_orders.py" in shown


def test_a_text_that_is_on_no_disk_is_no_change_of_the_files(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.update(texts={"notes/later.py": "def later():\n    return parse(1)\n"})
        assert engine.impact().changes == ()


@pytest.fixture
def read_blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file to which a git in front of the real one writes the objects that it is asked for."""
    log, real = tmp_path / "read", shutil.which("git")
    log.write_text("")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *cat-file*) tee -a "{log}" | "{real}" "$@";; *) exec "{real}" "$@";; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return log


def age(folder: Path, seconds: int) -> None:
    """Let all files be written some time ago, and tell git so."""
    for path in folder.rglob("*.*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (1_600_000_000 - seconds, 1_600_000_000 - seconds))
    git(folder, "add", "-A")
    git(folder, "update-index", "--refresh")


def test_only_changed_files_are_read_from_git(shop: Path, read_blobs: Path) -> None:
    (shop / "logo.png").write_bytes(b"\x89PNG\0\0")  # which no index keeps
    commit(shop)
    age(shop, 0)
    blob = git(shop, "rev-parse", "HEAD:shop/money.py").strip()
    with Engine.open(str(shop)) as engine:
        assert engine.impact().changes == ()
    assert read_blobs.read_text() == ""
    (shop / "shop/money.py").write_text(CHANGED)
    with Engine.open(str(shop)) as engine:
        check(engine)
    assert read_blobs.read_text().split() == [blob]


@pytest.mark.parametrize("is_staged", [True, False])
def test_a_change_that_keeps_size_and_stamp_for_git_is_still_seen(shop: Path, is_staged: bool) -> None:
    """git notes the new stamp of a staged file, but another blob; of one that is not, it has another stamp."""
    age(shop, 0)
    with Engine.open(str(shop)) as engine:
        assert engine.impact().changes == ()
    money = shop / "shop/money.py"
    money.write_text(FILES["shop/money.py"].replace("return text", "return next"))
    os.utime(money, (1_600_000_100, 1_600_000_100))
    if is_staged:
        git(shop, "add", "-A")
    with Engine.open(str(shop)) as engine:
        assert [(item.path, item.symbol) for item in engine.impact().changes] == [("shop/money.py", "parse")]


def test_a_revision_as_index_is_compared_by_its_blobs(shop: Path, read_blobs: Path) -> None:
    git(shop, "branch", "old")
    (shop / "shop/money.py").write_text(CHANGED)
    commit(shop)
    with Engine.open(str(shop), revision="HEAD") as engine:
        engine.index()
        read_blobs.write_text("")
        check(engine, revisions="old")
    assert read_blobs.read_text().split() == [git(shop, "rev-parse", "old:shop/money.py").strip()]


def test_a_project_in_a_folder_of_the_repository_is_compared_alike(shop: Path, read_blobs: Path) -> None:
    age(shop, 0)
    (shop / "shop/money.py").write_text(CHANGED)
    with Engine.open(str(shop / "shop"), is_root=True) as engine:
        changes = engine.impact().changes
    assert [(item.path, item.symbol) for item in changes] == [("money.py", "parse")]
    assert len(read_blobs.read_text().split()) == 1


def test_where_nothing_has_changed_that_is_said_alone(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-C", str(shop), "impact"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()[-1]) == ("", "fathom: nothing has changed: the files are as they were")
    assert "lower bound" not in said.err
    assert "no symbol differs" not in said.err
    assert main(["-C", str(shop), "impact", "--fail-on", "reached"]) == 0
