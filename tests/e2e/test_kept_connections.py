"""What is kept beside the catalogue of imports, links and the map gives the answers that a new index gives."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.counted import counting, grow_older, n_calls_of, n_python_calls, two_projects
from tests.fresh_copy import fresh_copy

from codefathom import Engine, engine
from codefathom.errors import UsageError
from codefathom.search.graph.import_links import ImportLinks
from codefathom.search.graph.reference_graph import ReferenceGraph
from codefathom.search.graph.related import related
from codefathom.search.graph.resolve import Resolver
from codefathom.stores import kept_file
from codefathom.stores.catalog.catalog import Catalog
from codefathom.types import Related

FILES = {
    "shop/__init__.py": "from .core import shared\n",
    "shop/core.py": "def shared():\n    return 1\n\n\nclass Basket:\n    def total(self):\n        return shared()\n",
    "shop/user.py": "from shop.core import shared\nfrom . import core\n\n\ndef user():\n    return shared()\n",
    "shop/deep/__init__.py": "",
    "shop/deep/part.py": "from .. import shared as own\nimport shop\n\n\ndef part():\n    return own()\n",
    "web/index.ts": "export { Box } from './box'\n",
    "web/box.ts": "export class Box { open() { return 1 } }\n",
    "web/app/main.ts": "import { Box } from '..'\nimport { helper } from './util'\nnew Box().open()\nhelper()\n",
    "web/app/util/index.ts": "export function helper() { return 2 }\n",
    "package.json": '{"name": "web", "main": "web/index.ts"}\n',
    "crate/Cargo.toml": '[package]\nname = "crate"\n',
    "crate/src/lib.rs": "pub mod a;\npub use a::run;\n",
    "crate/src/a/mod.rs": "pub mod b;\npub fn run() { b::inner() }\n",
    "crate/src/a/b.rs": "use super::run;\npub fn inner() { run() }\n",
    "go.mod": "module example.com/app\n",
    "main.go": 'package main\n\nimport "example.com/app/lib"\n\nfunc main() { lib.Run() }\n',
    "lib/lib.go": "package lib\n\nfunc Run() {}\n",
    "java/src/a/Base.java": "package a;\npublic class Base { void go() {} }\n",
    "java/src/b/User.java": "package b;\nimport a.Base;\nimport a.Inner;\nclass User { void x() { new Base(); } }\n",
    "java/src/a/Other.java": "package a;\nclass Inner {}\n",
}
NEW = {
    "shop/other.py": "from .deep.part import part\n\n\ndef other():\n    return part()\n",
    "box.py": "def shared():\n    return 2\n",
    "web/app/box.ts": "export class Box {}\n",
    "web/util.ts": "export function helper() { return 3 }\nimport { Box } from './box'\n",
    "crate/src/a/c.rs": "use super::b::inner;\npub fn third() { inner() }\n",
    "lib/more.go": "package lib\n\nfunc More() { Run() }\n",
    "java/src/a/Inner.java": "package a;\nclass Inner {}\nclass Base {}\n",
    "app/__init__.py": "from shop import shared\n",
    "shop/index.ts": "import { Box } from '../web'\n",
}


FEW, MANY = 30, 120  # files


@pytest.fixture(autouse=True)
def keep_small_things(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is written also where its content is small."""
    monkeypatch.setattr(kept_file, "_LEAST", 1)


@pytest.fixture
def root(tmp_path: Path, own_folders: None) -> Path:
    folder = tmp_path / "project"
    for path, text in FILES.items():
        write(folder, path, text)
    (folder / "fathom.toml").touch()
    return folder


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def answers(engine: Engine) -> dict[str, object]:
    """Return the connections of each file and of some names, the impact of some, and the map."""
    paths = sorted(file.path for file in engine.files.listed())
    targets = [*paths, *("@@shared", "@@Box", "@@run", "@@Base", "@@helper", "@@inner", "@@Run", "@@Inner", "@@part")]
    related = {target: edges_of(engine, target) for target in targets}
    found = {path: [hit.chunk.path for hit in engine.search(f"what imports {path}").hits] for path in paths[:4]}
    return {**related, **found, "map": engine.map(max_tokens=2_000)}


def edges_of(engine: Engine, target: str) -> object:
    try:
        return engine.related(target, depth=2)
    except UsageError as error:
        return str(error)


def asked(root: Path) -> dict[str, object]:
    with Engine.open(root) as engine:
        engine.index()
        return answers(engine)


def asked_anew(root: Path) -> dict[str, object]:
    """Return the answers of an index of a copy of the files, which is made for that."""
    return asked(fresh_copy(root))


def kept(root: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (root / ".fathom").glob("graph.*")}


@pytest.mark.parametrize(
    ("seed", "n_changes"), [(1, 4), (2, 4), *(pytest.param(seed, 12, marks=pytest.mark.long) for seed in range(3, 20))]
)
def test_any_changes_give_the_answers_of_a_new_index(root: Path, seed: int, n_changes: int) -> None:
    chance = random.Random(seed)
    assert asked(root) == asked_anew(root)
    with Engine.open(root) as living:  # its tables are brought up to date in memory, those of others from the files
        answers(living)
        for number in range(n_changes):
            change(root, chance, number)
            grow_older(root)
            now = asked(root)
            living.index()
            assert now == answers(living) == asked_anew(root)
    names = ("imports", "languages", "links", "map", "more", "stems")
    assert kept(root).keys() == {f"graph.{name}" for name in names}


def change(root: Path, chance: random.Random, number: int) -> None:
    """Change, add, remove or rename a file, also a manifest."""
    files = sorted(path for path in root.rglob("*.*") if path.is_file() and ".fathom" not in path.parts)
    files = [path for path in files if path.name != "fathom.toml"]
    file = chance.choice(files)
    kind = chance.choice(["text", "text", "text", "add", "add", "remove", "rename", "manifest"])
    if kind == "text":
        lines = file.read_text().splitlines(keepends=True)
        other = chance.choice(files).read_text().splitlines(keepends=True) if file.suffix != ".json" else []
        same = [line for line in other if chance.choice(files).suffix == file.suffix]
        file.write_text("".join([*lines[chance.randrange(2) :], *same, "\n"]))
    elif kind == "add":
        path = chance.choice(sorted(NEW))
        write(root, path, NEW[path])
    elif kind == "remove":
        file.unlink()
    elif kind == "rename":
        file.rename(file.with_name(f"{file.stem}{number}{file.suffix}"))
    else:
        write(root, "package.json", f'{{"name": "web", "main": "web/{chance.choice(["box.ts", "index.ts"])}"}}\n')


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "its head alone": lambda data: data[:48],
    "another byte": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "another key": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "no file of ours": lambda data: b"hello\n" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again(root: Path, damage: str) -> None:
    before = asked(root)
    whole = kept(root)
    for name, content in whole.items():
        (root / ".fathom" / name).write_bytes(DAMAGES[damage](content))
    assert asked(root) == before
    assert kept(root) == whole


def test_files_of_another_state_are_not_believed(root: Path) -> None:
    """An older catalogue is put back, and then counts on to the numbers that the other one had."""
    asked(root)
    shutil.copytree(root / ".fathom", root.parent / "older")
    for number in range(3):
        write(root, "shop/user.py", f"import web{number}\n")
        asked(root)
    later = kept(root)
    write(root, "shop/user.py", FILES["shop/user.py"])
    shutil.rmtree(root / ".fathom")
    shutil.copytree(root.parent / "older", root / ".fathom")
    for name, content in later.items():
        (root / ".fathom" / name).write_bytes(content)
    for number in range(3):
        write(root, "shop/user.py", f"from shop import core\nnumber = {number}\n")
        assert asked(root) == asked_anew(root)


def test_a_full_run_removes_the_files(root: Path) -> None:
    asked(root)
    with Engine.open(root) as engine:
        assert kept(root)
        engine.index(full=True)
        assert not kept(root)
        answers(engine)
    assert asked(root) == asked_anew(root)


def test_the_next_process_reads_no_import_and_makes_no_map(
    tmp_path_factory: pytest.TempPathFactory, own_folders: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = two_projects(tmp_path_factory, (FEW, MANY), write_many, ask_for_map)
    few, many = (steps_of_map(folder, monkeypatch) for folder in projects)
    assert many - few <= (MANY - FEW), f"{(many - few) / (MANY - FEW)} steps for each file more"


def test_the_next_process_makes_nothing_of_imports_that_are_not_asked_for(
    tmp_path_factory: pytest.TempPathFactory, own_folders: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LARGE_PROJECT", FEW)
    n_calls = []
    for folder in two_projects(tmp_path_factory, (FEW, MANY), write_many, link):
        for target in ("many/file7.py", "@@own7"):
            with Engine.open(folder) as one:
                catalog = one.opened.catalog
                edges: list[Related] = []
                n_calls.append(n_python_calls(lambda: edges.extend(related(catalog, target).edges)))  # noqa: B023
                assert {edge.path for edge in edges if edge.kind == "imported by"} == (
                    {"many/file14.py", "many/file15.py"} if target != "@@own7" else set()
                )
            with Engine.open(folder) as one:
                catalog = one.opened.catalog
                assert n_calls_of(Resolver.resolve, lambda: related(catalog, target)) == 0  # noqa: B023
    assert n_calls[2] - n_calls[0] < (MANY - FEW) / 2 and n_calls[3] - n_calls[1] < (MANY - FEW) / 2


def link(folder: Path) -> None:
    with Engine.open(folder) as one:
        one.index()
        one.link_files()
        for target in ("many/file7.py", "@@own7"):
            one.related(target)  # imports the modules


def write_many(folder: Path, n_files: int) -> None:
    for number in range(n_files):
        write(folder, f"many/file{number}.py", f"import many.file{number // 2}\n\n\ndef own{number}():\n    return 1\n")


def ask_for_map(folder: Path) -> None:
    with Engine.open(folder) as engine:
        assert engine.map().files
        assert len(engine.opened.catalog.import_forms()) > FEW / 2 - 2


def steps_of_map(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    with counting(monkeypatch) as steps:
        ask_for_map(folder)
    return steps.n_steps


@pytest.mark.parametrize("question", ["impact", "card"])
def test_impact_and_the_card_of_a_name_use_what_earlier_questions_have_read(
    root: Path, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "def shared():"
    diff = f"--- a/shop/core.py\n+++ b/shop/core.py\n@@ -1,1 +1,2 @@\n {line}\n+    print()\n"

    def ask(engine: Engine) -> object:
        return engine.impact(diff=diff) if question == "impact" else engine.name_at("shop/user.py", 6, "shared")

    with Engine.open(root) as engine:
        engine.index()
        first = ask(engine)
        for method in ("references", "references_of", "symbols_named"):
            monkeypatch.setattr(Catalog, method, lambda *_: pytest.fail("the catalogue is read once more"))
        assert ask(engine) == first


@pytest.mark.parametrize("change", ["come", "gone", "definition"])
def test_a_change_resolves_the_imports_that_it_concerns(
    tmp_path_factory: pytest.TempPathFactory, own_folders: None, change: str
) -> None:
    def write_some(folder: Path, n_files: int) -> None:
        write_many(folder, n_files)
        for number in range(n_files):
            write(folder, f"java/own/Class{number}.java", f"package own;\nimport own.Part{number};\nclass Whole {{}}\n")

    def n_resolved(folder: Path) -> int:
        with Engine.open(folder) as engine:
            engine.index()
            assert ReferenceGraph(engine.opened.catalog).links.sources("many/file0.py")
            if change == "come":
                write(folder, "aside/later.py", "def later():\n    return 1\n")
                write(folder, "aside/caller.py", "from aside.later import later\n")
            elif change == "gone":
                (folder / "many/file1.py").unlink()
            else:
                write(folder, "java/own/Class0.java", "package own;\nimport own.Part0;\nclass Part1 {}\n")
            engine.index()
            links: list[ImportLinks] = []
            n_calls = n_calls_of(Resolver.resolve, lambda: links.append(ReferenceGraph(engine.opened.catalog).links))
            assert bool(links[0].sources("aside/later.py")) == (change == "come")
            assert bool(links[0].sources("java/own/Class0.java")) == (change == "definition")
            assert bool(links[0].sources("many/file1.py")) != (change == "gone")
            return n_calls

    few, many = map(n_resolved, two_projects(tmp_path_factory, (FEW, MANY), write_some, lambda folder: None))
    assert 0 < few == many < FEW


def test_an_import_means_a_name_when_one_file_less_defines_it(root: Path) -> None:
    for number in range(4):
        write(root, f"java/own/Class{number}.java", "package own;\nclass Part {}\n")
    write(root, "java/own/User.java", "package own;\nimport own.Part;\nclass User {}\n")
    with Engine.open(root) as engine:
        engine.index()
        assert not ReferenceGraph(engine.opened.catalog).links.sources("java/own/Class0.java")
        (root / "java/own/Class3.java").unlink()
        engine.index()
        assert ReferenceGraph(engine.opened.catalog).links.sources("java/own/Class0.java") == {"java/own/User.java"}
        write(root, "java/own/Class4.java", "package own;\nclass Part {}\n")
        engine.index()
        assert not ReferenceGraph(engine.opened.catalog).links.sources("java/own/Class0.java")
