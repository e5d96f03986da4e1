"""A watched project has the index of one that is indexed from nothing, whatever happens to its files meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.fathom import Fathom
from tests.protocols.server import Turn, serving
from tests.waiting import LONG_S, Started, comes, join

from codefathom import Engine
from codefathom.config.configuration import load_settings
from codefathom.types import IndexReport

WORDS = ("order", "basket", "ledger", "parcel", "zebra", "harbour")
FOLDERS = ("", "shop", "shop/cart", "tools", "tools/deep/deeper", "node_modules/left", "build", "vendor/lib")
IGNORED = ("tools/\n", "*.md\n", "shop/cart/\n!shop/cart/a.py\n", "", "# nothing\n", "/shop/\n", "b.*\n")
STEPS = (
    *("create", "create", "create", "modify", "modify", "replace", "delete", "rename", "rename", "move_folder"),
    *("move_folder", "delete_folder", "ignore", "ignore", "mark", "switch"),
)
GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")

SAYS_NOTHING = Turn([b'data: {"choices": [{"delta": {"content": "no"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'])


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("FATHOM_", "GIT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))


class Tree:
    """A work tree to which random things happen."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.n_texts = 0
        root.mkdir()
        (root / "fathom.toml").write_text("[index]\nworkers = 0\n")
        for name in ("shop/a.py", "shop/cart/a.py", "tools/b.py", "a.md"):
            self.write(root / name)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.git("branch", "other")

    def git(self, *words: str) -> None:
        subprocess.run([*GIT, *words], cwd=self.root, check=True, capture_output=True, timeout=LONG_S)

    def paths(self) -> list[Path]:
        paths = sorted(self.root.rglob("*"))
        return [path for path in paths if not {".git", ".fathom"} & set(path.relative_to(self.root).parts)]

    def files(self) -> list[Path]:
        return [path for path in self.paths() if path.is_file()]

    def folders(self) -> list[Path]:
        return [path for path in self.paths() if path.is_dir()]

    def write(self, path: Path) -> None:
        self.n_texts += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        words = self.chance.choices(WORDS, k=3)
        path.write_text(f"def {words[0]}_{self.n_texts}({words[1]}):\n    return {words[1]}.{words[2]}\n")

    def create(self) -> None:
        folder, name = self.chance.choice(FOLDERS), self.chance.choice(("a.py", "b.py", "c.md", "d.log"))
        path = self.root / folder / name
        if not path.is_dir() and not any(parent.is_file() for parent in path.parents):
            self.write(path)

    def modify(self) -> None:
        if files := [path for path in self.files() if path.suffix == ".py"]:
            self.write(self.chance.choice(files))

    def replace(self) -> None:
        """As editors save: another file is renamed to the name."""
        if files := [path for path in self.files() if path.suffix == ".py"]:
            path = self.chance.choice(files)
            self.write(path.with_suffix(".new"))
            os.replace(path.with_suffix(".new"), path)

    def delete(self) -> None:
        if files := [path for path in self.files() if path.suffix != ".toml"]:
            self.chance.choice(files).unlink()

    def rename(self) -> None:
        if files := [path for path in self.files() if path.suffix == ".py"]:
            path = self.chance.choice(files)
            os.replace(path, path.with_name(self.chance.choice(("e.py", "f.py", "g.log"))))

    def move_folder(self) -> None:
        if folders := self.folders():
            folder = self.chance.choice(folders)
            target = self.root / self.chance.choice(("moved", "tools/moved", "node_modules/moved", "shop/again"))
            if not target.exists() and not target.is_relative_to(folder) and not target.parent.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                folder.rename(target)

    def delete_folder(self) -> None:
        if folders := self.folders():
            shutil.rmtree(self.chance.choice(folders))

    def ignore(self) -> None:
        folders = [path for path in self.folders() if "node_modules" not in path.parts]
        places = [".gitignore", ".fathomignore", ".git/info/exclude"]
        places += [str(folder.relative_to(self.root) / ".gitignore") for folder in folders[:2]]
        place = self.root / self.chance.choice(places)
        place.write_text(self.chance.choice(IGNORED))

    def mark(self) -> None:
        """Make a folder one that a tool has made, by a file in it, or take that back."""
        if folders := self.folders():
            path = self.chance.choice(folders) / self.chance.choice(("CACHEDIR.TAG", "pyvenv.cfg", "Cargo.toml"))
            path.unlink() if path.exists() else path.touch()

    def switch(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "more", "--allow-empty")
        self.git("checkout", "-qf", self.chance.choice(("main", "other")))

    def step(self) -> str:
        name = self.chance.choice(STEPS)
        getattr(self, name)()
        return name


@contextmanager
def watching(root: Path, **settings: object) -> Iterator[list[IndexReport]]:
    """Watch in a thread; yield the list of its reports, the first of which has come."""
    stop, reports, errors = Event(), [], []
    overrides = {name.replace("__", "."): value for name, value in settings.items()}

    def run() -> None:
        try:
            with Engine.open(str(root), settings=load_settings(str(root), overrides=overrides)) as engine:
                reports.extend(engine.watch(stop.is_set, interval_s=0.05))
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run)
    thread.start()
    try:
        assert comes(lambda: reports or errors)
        yield reports
    finally:
        stop.set()
        join(thread)
    assert errors == []


def is_current(root: Path) -> bool:
    """Return True if an index run would find nothing to do, other than to look at new time stamps."""
    with Engine.open(str(root)) as engine:
        plan = engine.plan()
        return not (plan.added or plan.changed or plan.removed) and engine.status().views_current


def snapshot(root: Path) -> dict[str, object]:
    """Return all of an index as it is, which nothing brings up to date."""
    with Engine.open(str(root), settings=load_settings(str(root), overrides={"search.refresh": "never"})) as engine:
        catalog = engine.opened.catalog
        documents = {
            document.path: (
                document.fingerprint,
                catalog.text(document.path),
                [(chunk.id, chunk.start_line, chunk.end_line) for _, chunk in catalog.chunks_of(document.path)],
                catalog.symbols_of(document.path),
            )
            for document in catalog.documents()
        }
        hits = {
            f"{mode} {word}": sorted(hit.chunk.id for hit in engine.search(word, mode=mode, limit=1_000).hits)
            for mode in ("lexical", "symbol")
            for word in WORDS
        }
        status = engine.status()
        return {"documents": documents, "hits": hits, "counts": (status.n_chunks, status.n_symbols)}


def clean(root: Path, place: Path) -> dict[str, object]:
    shutil.copytree(root, place, symlinks=True, ignore=shutil.ignore_patterns(".fathom"))
    with Engine.open(str(place)) as engine:
        engine.index()
    return snapshot(place)


def rounds(tmp_path: Path, n_steps: int, seed: int, by: str) -> None:
    tree = Tree(tmp_path / "project", seed)
    done: list[str] = []
    with watching(tree.root, index__watch=by):
        for _ in range(n_steps):
            done.append(tree.step())
            if tree.chance.random() < 0.25:
                assert comes(lambda: is_current(tree.root)), (seed, done)
        assert comes(lambda: is_current(tree.root)), (seed, done)
        watched = snapshot(tree.root)
    assert watched == clean(tree.root, tmp_path / "clean"), (seed, done)


@pytest.mark.parametrize("by", ["events", "polling"])
def test_the_index_follows_whatever_happens(tmp_path: Path, by: str) -> None:
    rounds(tmp_path, 60 if by == "events" else 20, 4, by)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_the_index_follows_whatever_happens_for_long(tmp_path: Path, seed: int) -> None:
    rounds(tmp_path, 200, 1_000 + seed, "events")


def test_a_switch_of_branches_is_taken_in_as_one(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "project", 1)
    tree.git("checkout", "-q", "other")
    for number in range(300):
        tree.write(tree.root / f"many{number % 30}" / f"f{number}.py")
    tree.git("add", "-A")
    tree.git("commit", "-qm", "many")
    tree.git("checkout", "-q", "main")
    with watching(tree.root) as reports:
        tree.git("checkout", "-q", "other")
        assert comes(lambda: sum(len(report.added) for report in reports[1:]) == 300)
        tree.git("checkout", "-q", "main")
        assert comes(lambda: sum(len(report.removed) for report in reports) == 300)
        assert comes(lambda: is_current(tree.root))


def test_only_reports_with_changes_come(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "project", 1)
    with watching(tree.root) as reports:
        (tree.root / "shop/a.py").touch()
        (tree.root / "binary.bin").write_bytes(b"\0\1")
        tree.write(tree.root / "shop/last.py")
        assert comes(lambda: any("shop/last.py" in report.added for report in reports))
    assert all(report.is_eventful for report in reports[1:])


def test_a_model_is_not_asked_again_about_files_on_which_it_failed(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "project", 1)
    (tree.root / "ledger.pas").write_text("program ledger;\nbegin\nend.\n")
    with serving(SAYS_NOTHING) as served:
        model = {"llm__model": "openai:m", "llm__base_url": f"{served.base_url}/v1"}
        with watching(tree.root, **model, parse__chain=("treesitter", "llm", "text")) as reports:
            n_asked = len(served.asked)
            assert n_asked
            for name in ("shop/new1.py", "shop/new2.py"):
                write_and_wait(tree, name, reports)
            assert len(served.asked) == n_asked
            (tree.root / "ledger.pas").write_text("program ledger;\nbegin\n  writeln\nend.\n")
            assert comes(lambda: len(served.asked) > n_asked)


def test_a_model_is_not_asked_again_for_purposes_that_it_did_not_give(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "project", 1)
    (tree.root / "ledger.pas").write_text("program ledger;\nbegin\nend.\n")
    with serving(SAYS_NOTHING) as served:
        model = {"llm__model": "openai:m", "llm__base_url": f"{served.base_url}/v1"}
        with watching(tree.root, **model, index__purposes=True) as reports:
            assert any("ledger.pas" in str(asked.body) for asked in served.asked)
            n_asked = len(served.asked)
            write_and_wait(tree, "shop/new.py", reports)
            assert "new.py" in str(served.asked[-1].body)
            assert not any("ledger.pas" in str(asked.body) for asked in served.asked[n_asked:])


def write_and_wait(tree: Tree, name: str, reports: list[IndexReport]) -> None:
    tree.write(tree.root / name)
    assert comes(lambda: any(name in report.added for report in reports))


def run(root: Path) -> Started[str]:
    return Fathom(["index", "--watch"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_command_ends_with_the_folder_and_says_why(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "project", 1)
    with run(tree.root) as process:
        assert process.stdout is not None
        assert "added" in process.stdout.readline()
        tree.root.rename(tmp_path / "elsewhere")
        _, said = process.communicate()
    assert process.returncode == 2
    # Either the watching or the look at the changes is the first to notice.
    assert f"the folder '{tree.root}'" in said
    assert "Traceback" not in said


def said_until(process: Started[str], text: str) -> None:
    assert process.stdout is not None
    while text not in (line := process.stdout.readline()):
        assert line


@pytest.mark.parametrize("by", ["events", "polling"])
def test_the_command_follows_its_settings_and_the_ignore_file_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setenv("FATHOM_INDEX__WATCH", by)
    tree = Tree(tmp_path / "project", 1)
    settings = tree.root / "fathom.toml"
    with run(tree.root) as process:
        said_until(process, "5 added")
        settings.write_text("[source]\nignore = ['shop/']\n")
        said_until(process, "2 removed")
        settings.write_text("[source\n")  # half a file, as while it is written
        settings.write_text("[source]\nignore = []\n")
        said_until(process, "2 added")
        (tmp_path / "mine").write_text("*.md\n")
        (tmp_path / ".gitconfig").write_text("[core]\nexcludesFile = ~/mine\n")
        said_until(process, "1 removed")
        (tmp_path / "mine").write_text("*.pdf\n")
        said_until(process, "1 added")
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130


def test_the_command_says_that_it_polls_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(tmp_path / "project", 1)
    monkeypatch.setenv("FATHOM_INDEX__WATCH", "polling")
    with run(tree.root) as process:
        assert process.stderr is not None
        while "every 1 s (polling): the settings say so" not in (line := process.stderr.readline()):
            assert line
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "fathom: interrupted"
