"""What uses mean is kept where finding it took long: after any changes the answers are those of a new index."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.counted import grow_older, n_calls_of
from tests.fresh_copy import fresh_copy

from codefathom import Engine
from codefathom.search.graph import kept_uses
from codefathom.search.graph.resolved_graph import ResolvedGraph
from codefathom.stores.catalog import outward, writing
from codefathom.types import Related, RelatedResult

N_USERS = 12
HUB = "shop/hub.py"
HUB_TEXT = (
    "class Table:\n    def get(self):\n        return self.pop()\n\n    def pop(self):\n        return 1\n\n\n"
    "def plain():\n    return Table().get()\n"
)
FILES = {
    HUB: HUB_TEXT,
    "shop/__init__.py": "from .hub import Table\n",
    "other/store.py": HUB_TEXT.replace("Table", "Store"),
    "use/below.py": (
        "from shop.hub import Table\n\n\nclass Below(Table):\n    def get(self):\n        self.pop()\n"
        "        return super().get()\n"
    ),
    "use/all.py": "from shop.hub import *\n\n\ndef every():\n    return plain()\n",
    "use/passed.py": "from use.all import plain as own\n\n\ndef more(low: Table):\n    own()\n    return low.get()\n",
    "web/box.ts": "export class Box { get() { return 1 } }\nfunction inner() {}\nexport { inner as plain }\n",
    "web/index.ts": "export { Box, plain as get } from './box'\n",
    "web/main.ts": "import { Box, get } from '.'\nexport function run(box: Box) { get(); return box.get() }\n",
    "go.mod": "module example.com/app\n",
    "main.go": 'package main\n\nimport "example.com/app/lib"\n\nfunc main() { lib.Run() }\n',
    "lib/lib.go": "package lib\n\ntype Table struct{}\n\nfunc (t Table) Pop() {}\n\nfunc Run() { Table{}.Pop() }\n",
    "java/src/a/Base.java": "package a;\npublic class Base { void go() {} }\n",
    "java/src/b/User.java": "package b;\nimport a.Base;\nclass User { void x(Base b) { new Base(); b.go(); } }\n",
    "crate/Cargo.toml": '[package]\nname = "crate"\n',
    "crate/src/lib.rs": "pub mod a;\npub use a::run;\npub struct Table;\nimpl Table { pub fn get(&self) { run() } }\n",
    "crate/src/a.rs": "use crate::Table;\npub fn run() {}\npub fn inner(t: &Table) { t.get(); run() }\n",
    "package.json": '{"name": "web", "main": "web/index.ts"}\n',
    "use/late.py": "from shop.later import get, Late\n\n\ndef late(low: Late):\n    get()\n    return low.pop()\n",
    "use/chain.py": "from use.late import get\nimport shop.hub\n\n\ndef chain():\n    get()\n    shop.hub.plain()\n",
    "web/late.ts": "import get, { Late } from './later'\nexport function late(low: Late) { low.get(); return get() }\n",
    "web/chain.ts": "export * from './late'\nexport { Late as Box } from './later'\n",
    "web/old.js": "const inner = require('./later')\nmodule.exports = inner\nfunction get() { return inner.get() }\n",
    "java/src/b/Late.java": "package b;\nimport a.*;\nimport a.More;\nclass Late { void x(More m) { m.go(); } }\n",
}
# Lines of functions, by the endings of files: none of them shows others anything.
BODIES = {
    ".py": ("    low.get()\n", "    Table().pop()\n", "    plain()\n", "    low: Store = get()\n", "    x = 1\n"),
    ".ts": ("  get(); new Box().get()\n", "  const low: Box = plain()\n", "  low.get()\n"),
    ".go": ("\tRun()\n", "\tTable{}.Pop()\n", "\tlib.Run()\n"),
    ".java": ("    Base b = new Base();\n", "    b.go();\n"),
    ".rs": ("    run();\n", "    t.get();\n"),
}
# What others see: definitions, types above others, imports.
SHOWN = {
    ".py": (
        "class Other(Table):\n    def pop(self):\n        return 2\n",
        "def plain():\n    return 3\n",
        "from other.store import Store as Table\n",
        "from shop.hub import plain as get\n",
        "class Store(Below):\n    pass\n",
    ),
    ".ts": ("import { plain as run } from './box'\n", "export class Table { get() {} }\n", "export { get as own }\n"),
    ".go": ("func Pop() { Run() }\n", "func Run() {}\n"),
    ".java": ("class Base { void go() {} }\n", "import a.Base;\n"),
    ".rs": ("pub fn get() { run() }\n", "pub use crate::a::inner;\n"),
}
# The same, of names that nothing else has; the number makes them new.
FRESH = {
    ".py": ("def fresh{}():\n    return plain()\n", "from shop import fresh{}\n", "class Fresh{}(Table):\n    pass\n"),
    ".ts": ("export function fresh{}() {{ return get() }}\n", "import {{ fresh{} }} from './fresh'\n"),
    ".go": ("func Fresh{}() {{ Run() }}\n",),
    ".java": ("class Fresh{} extends Base {{ }}\n", "import a.Fresh{};\n"),
    ".rs": ("pub fn fresh{}() {{ run() }}\n", "use crate::a::fresh{};\n"),
}
NEW = {
    "shop/later.py": "from shop.hub import Table as Late\n\n\ndef get():\n    return Late().pop()\n",
    "web/later.ts": "import { Box } from './box'\nexport class Late extends Box {}\nexport default function get() {}\n",
    "use/shop/hub.py": HUB_TEXT,
    "use/__init__.py": "from use.late import Late\n",
    "web/box/index.ts": "export class Box { get() { return 2 } }\n",
    "crate/src/b.rs": "use crate::a::run as get;\npub fn more() { get() }\n",
    "shop/more.py": "from shop.hub import Table\n\n\nclass More(Table):\n    def get(self):\n        return plain()\n",
    "hub.py": HUB_TEXT,
    "web/more.ts": "import { get } from './box'\nexport function more() { return get() }\n",
    "lib/more.go": "package lib\n\nfunc More() { Run() }\n",
    "java/src/a/More.java": "package a;\nclass More extends Base { void go() { super.go(); } }\n",
}


@pytest.fixture(autouse=True)
def keep_small_things(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> None:
    """What took no time is kept, too."""
    monkeypatch.setattr(kept_uses, "_DEAR", 1)


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for path, text in FILES.items():
        write(folder, path, text)
    for number in range(N_USERS):
        text = f"def user{number}(value, low: Table):\n    value.get()\n    return low.pop() + plain()\n"
        write(folder, f"many/user{number}.py", text)
    (folder / "fathom.toml").touch()
    grow_older(folder)
    return folder


def answers(engine: Engine) -> list[object]:
    """Return the edges of each file and of each of its symbols, and what a change of some of these reaches."""
    found: list[object] = []
    for file in sorted(engine.files.listed(), key=lambda file: file.path):
        found.append(engine.related(file.path, limit=10_000))
        names = sorted({item.symbol.qualified_name for item in engine.symbols("", path=file.path)})
        found += [engine.related(f"{file.path} @@{name}", limit=10_000) for name in names]
    for path, line in ((HUB, "    def pop(self):"), ("lib/lib.go", "func Run() { Table{}.Pop() }")):
        diff = f"--- a/{path}\n+++ b/{path}\n@@ -5,1 +5,2 @@\n {line}\n+        print()\n"
        found.append(engine.impact(diff=diff))
    return found


def asked(root: Path) -> list[object]:
    with Engine.open(root) as engine:
        engine.index()
        return answers(engine)


def asked_anew(root: Path) -> list[object]:
    """Return the answers of an index of a copy of the files, which is made for that."""
    return asked(fresh_copy(root))


def change(root: Path, chance: random.Random, number: int) -> None:
    """Change a function, mostly; else what a file shows, or which files there are."""
    files = sorted(path for path in root.rglob("*.*") if path.suffix in BODIES and ".fathom" not in path.parts)
    file = chance.choice([*files, *[path for path in files if path.name == "hub.py"] * 3])
    lines = file.read_text().splitlines(keepends=True)
    rare = ["less", "less", "shown", "shown", "add", "add", "remove", "rename", "manifest"]
    kind = chance.choice(["body"] * 5 + ["fresh"] * 5 + ["new"] * 2 + rare)
    if kind == "body":
        inside = [
            place for place, line in enumerate(lines, 1) if line.lstrip().startswith(("return", "func", "pub fn"))
        ]
        place = chance.choice(inside or [len(lines)]) - (file.suffix == ".py")
        file.write_text("".join([*lines[:place], *chance.choices(BODIES[file.suffix], k=2), *lines[place:]]))
    elif kind == "less" and len(lines) > 3:
        del lines[chance.randrange(len(lines))]
        file.write_text("".join(lines))
    elif kind == "shown":
        file.write_text("".join([*lines, "\n", chance.choice(SHOWN[file.suffix])]))
    elif kind == "fresh":
        text = chance.choice(FRESH[file.suffix]).format(number)
        file.write_text("".join([text, *lines] if "import" in text and file.suffix == ".py" else [*lines, "\n", text]))
    elif kind == "new":
        text = "".join(chance.choice(FRESH[file.suffix]).format(number) for _ in range(2))
        file.with_name(f"fresh{number}{file.suffix}").write_text(text)
    elif kind == "add":
        path = chance.choice(sorted(NEW))
        write(root, path, NEW[path])
    elif kind == "remove" and len(files) > 10:
        file.unlink()
    elif kind == "rename":
        file.rename(file.with_name(f"{file.stem}{number}{file.suffix}"))
    else:
        write(root, "package.json", f'{{"name": "web", "main": "web/{chance.choice(["box.ts", "index.ts"])}"}}\n')


@pytest.mark.parametrize(
    ("seed", "n_changes"), [(1, 6), *(pytest.param(seed, 25, marks=pytest.mark.long) for seed in range(2, 20))]
)
def test_any_changes_give_the_answers_of_a_new_index(root: Path, seed: int, n_changes: int) -> None:
    chance = random.Random(seed)
    with Engine.open(root) as living:  # brings up to date in memory what others take from the file
        living.index()
        assert asked(root) == answers(living) == asked_anew(root)
        for number in range(n_changes):
            change(root, chance, number)
            grow_older(root)
            now = asked(root)
            living.index()
            assert now == answers(living)
            assert now == asked_anew(root)
    assert (root / ".fathom" / "graph.edges").exists()


def n_resolved(root: Path, ask: Callable[[Engine], object]) -> int:
    """Return how many uses are resolved for a question, in a process that has read nothing before."""
    with Engine.open(root) as engine:
        engine.index()
        return n_calls_of(ResolvedGraph.broad_targets, lambda: ask(engine))


QUESTIONS: dict[str, Callable[[Engine], RelatedResult]] = {
    "file": lambda engine: engine.related(HUB, direction="callers"),
    "method": lambda engine: engine.related(f"{HUB} @@Table.get", direction="callers"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_next_process_resolves_no_use(root: Path, question: str) -> None:
    ask = QUESTIONS[question]
    assert n_resolved(root, ask) > N_USERS
    assert n_resolved(root, ask) == 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_after_a_change_of_a_function_only_uses_in_its_file_are_resolved(root: Path, question: str) -> None:
    ask = QUESTIONS[question]
    n_resolved(root, ask)
    before = (root / "many/user3.py").read_text()
    write(root, "many/user3.py", f"# a line more\n{before}    low.get()\n    Table().get()\n")
    n_uses = n_resolved(root, ask)
    assert 0 < n_uses < N_USERS
    with Engine.open(root) as engine:
        assert {edge.line for edge in ask(engine).edges if edge.path == "many/user3.py"} >= {
            3 if question == "method" else 4
        }


READ: dict[str, tuple[str, str]] = {
    "a definition of the name": ("other/store.py", f"{FILES['other/store.py']}\n\ndef get():\n    return 1\n"),
    "a type above another": ("use/below.py", FILES["use/below.py"].replace("(Table)", "(Store)")),
    "another name of it": ("use/late.py", f"from shop.hub import get as other\n{FILES['use/late.py']}"),
    "a file that goes unnamed": ("many/__init__.py", ""),
    "a manifest": ("package.json", '{"name": "other"}'),
}
UNREAD: dict[str, tuple[str, str]] = {
    "a definition": ("other/store.py", f"{FILES['other/store.py']}\n\ndef fresh():\n    return 1\n"),
    "a type": ("many/user3.py", "class Fresh:\n    def user3(self, low: Table):\n        return low.get()\n"),
    "an import": ("use/all.py", f"import fresh\nfrom fresh import one\n{FILES['use/all.py']}"),
    "a file": ("many/fresh.py", "def fresh(low: Table):\n    return low.get()\n"),
    "a definition in another language": ("lib/lib.go", f"{FILES['lib/lib.go']}\nfunc get() {{}}\n"),
}


@pytest.mark.parametrize("name", READ)
def test_after_a_change_of_what_was_read_all_uses_are_resolved_again(root: Path, name: str) -> None:
    ask = QUESTIONS["method"]
    n_uses = n_resolved(root, ask)
    write(root, *READ[name])
    assert n_resolved(root, ask) >= n_uses
    assert asked(root) == asked_anew(root)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", UNREAD)
def test_after_a_change_of_what_was_not_read_only_uses_in_its_file_are_resolved(
    root: Path, name: str, question: str
) -> None:
    ask = QUESTIONS[question]
    n_resolved(root, ask)
    write(root, *UNREAD[name])
    assert n_resolved(root, ask) < N_USERS / 2
    assert asked(root) == asked_anew(root)


def test_a_file_that_goes_takes_only_its_uses_along(root: Path) -> None:
    ask = QUESTIONS["method"]
    n_resolved(root, ask)
    (root / "many/user3.py").unlink()
    assert n_resolved(root, ask) == 0
    with Engine.open(root) as engine:
        paths = {edge.path for edge in ask(engine).edges}
    assert "many/user4.py" in paths
    assert "many/user3.py" not in paths


def test_where_an_import_leads_elsewhere_the_uses_in_its_file_are_resolved(root: Path) -> None:
    ask = QUESTIONS["method"]
    n_resolved(root, ask)
    write(root, "shop/later.py", "from shop.hub import Table as Late\n")
    assert asked(root) == asked_anew(root)


PASSED_ON: dict[str, str] = {
    "another module": "from other.store import *\n\n\ndef plain():\n    return 1\n",
    "another name": f"from shop.hub import plain as fresh\n{FILES['use/all.py']}",
    "nothing": "def every():\n    return 1\n",
}


@pytest.mark.parametrize("name", PASSED_ON)
@pytest.mark.parametrize("target", [HUB, f"{HUB} @@plain"])
def test_what_a_file_passes_on_changes_uses_in_others(root: Path, name: str, target: str) -> None:
    def edges(folder: Path) -> list[Related]:
        with Engine.open(folder) as engine:
            engine.index()
            return sorted(engine.related(target).edges, key=str)

    write(root, "use/after.py", "from use.all import fresh, plain\n\n\ndef after():\n    fresh()\n    plain()\n")
    before = edges(root)
    write(root, "use/all.py", PASSED_ON[name])
    now = edges(root)
    assert now == edges(fresh_copy(root))
    assert [edge for edge in now if edge.path == "use/after.py"] != [
        edge for edge in before if edge.path == "use/after.py"
    ]


def test_more_changes_than_are_noted_may_be_any(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward, "_MOST_SHOWN", 3)
    ask = QUESTIONS["method"]
    n_uses = n_resolved(root, ask)
    write(root, "many/fresh.py", "".join(f"def fresh{number}():\n    pass\n" for number in range(5)))
    assert n_resolved(root, ask) >= n_uses


def test_a_script_changes_what_others_have_from_it_by_its_text_alone(root: Path) -> None:
    asked(root)
    write(root, "web/box.ts", FILES["web/box.ts"].replace("inner as plain", "inner as quiet"))
    assert asked(root) == asked_anew(root)


def test_answers_of_another_catalogue_are_not_believed(root: Path) -> None:
    """An older catalogue is put back, and counts on to the numbers that the other one had."""
    asked(root)
    shutil.copytree(root / ".fathom", root.parent / "older")
    text = (root / "many/user3.py").read_text()
    for number in range(3):
        write(root, "many/user3.py", f"{text}    low.get({number})\n    Table.get()\n")
        asked(root)
    later = (root / ".fathom" / "graph.edges").read_bytes()
    shutil.rmtree(root / ".fathom")
    shutil.copytree(root.parent / "older", root / ".fathom")
    (root / ".fathom" / "graph.edges").write_bytes(later)
    for number in range(3):
        write(root, "many/user3.py", f"{text}    x = {number}\n")
        assert asked(root) == asked_anew(root)


def test_what_an_older_program_writes_is_a_change_that_others_may_see(root: Path) -> None:
    """It gives the catalogue another word, and does not tell whether all documents show the same."""
    asked(root)
    with Engine.open(root) as engine:
        catalog = engine.opened.catalog
        kept = catalog.beside("edges", kept_uses._VERSION, is_outward=True)
        assert kept.load() is not None
        shown = catalog.get_meta(writing.SHOWN)
    write(root, "many/user3.py", "def user3(low: Table):\n    return low.pop()\n")
    asked(root)
    with sqlite3.connect(root / ".fathom" / "catalog.db") as db:
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (shown, writing.SHOWN))
    with Engine.open(root) as engine:
        later = engine.opened.catalog.beside("edges", kept_uses._VERSION, is_outward=True)
        assert not later.goes_on(kept)


def test_few_uses_are_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_uses, "_DEAR", 1_000)
    asked(root)
    assert not (root / ".fathom" / "graph.edges").exists()
