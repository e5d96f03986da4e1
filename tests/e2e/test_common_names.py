"""The uses of a file whose names everything uses: what cannot be one of it is refused before its text is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import pytest

from codefathom import Engine
from codefathom.search.graph.compiler_graph import CompilerGraph
from codefathom.search.graph.file_uses import uses_from
from codefathom.search.graph.reference_graph import MAX_DEFINING_FILES
from codefathom.search.graph.resolved_graph import ResolvedUse
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import CheckedText
from codefathom.types import Reference

MakeEngine = Callable[[Mapping[str, str]], Engine]
HUB = "shop/hub.py"
N_OTHERS = 5  # files that define the names of the hub, too: more than tell which one is meant
N_USERS = 12


def definitions() -> dict[str, str]:
    hub = (
        "class Table:\n    def get(self):\n        return self.pop()\n\n    def pop(self):\n        return 1\n\n\n"
        "def plain():\n    return Table().get()\n"
    )
    files = {HUB: hub}
    for number in range(N_OTHERS):
        files[f"other/store{number}.py"] = hub.replace("Table", f"Store{number}")
    return files


def users() -> dict[str, str]:
    """Files in which a name of the hub is used in all ways: on values with and without types, on self, above a type."""
    files = {
        "use/typed.py": "from shop.hub import Table\n\n\ndef typed(table: Table):\n    return table.get()\n",
        "use/typed_elsewhere.py": "from other.store1 import Store1\n\n\ndef typed(s: Store1):\n    return s.get()\n",
        "use/named.py": "import shop.hub\n\n\ndef named(table: shop.hub.Table):\n    return table.pop()\n",
        "use/unseen.py": "def unseen(table: 'Table'):\n    return table.pop()\n",
        "use/below.py": (
            "from shop.hub import Table\n\n\nclass Below(Table):\n    def get(self):\n        self.pop()\n"
            "        return super().get()\n\n\nclass Lower(Below):\n    def run(self):\n        return super().pop()\n"
        ),
        "use/quiet.py": (
            "class Quiet(Lower):\n    def get(self):\n        return super().get()\n\n"
            "    def run(self, low: Lower):\n        self.low = low\n        return self.low.pop() + self.pop()\n"
        ),
        "use/mixin.py": "class Mixin:\n    def get(self):\n        return super().get()\n",
        "use/made.py": "def made():\n    thing = Quiet()\n    return thing.get() + other().pop()\n",
        "use/all.py": "from shop.hub import *\n\n\ndef every():\n    return plain()\n",
        "use/passed.py": "from use.all import plain as own\n\n\ndef more(*all):\n    own()\n    return all.x.get()\n",
    }
    for number in range(N_USERS):
        files[f"many/user{number}.py"] = f"def user{number}(value, x: int):\n    return value.get() + x.pop()\n"
        files[f"web/view{number}.ts"] = f"export function v{number}(value: Table) {{ return value.get().pop() }}\n"
    return files


@pytest.fixture
def engine(make_engine: MakeEngine) -> Engine:
    return make_engine({**definitions(), **users()})


def brute_force(graph: CompilerGraph, path: str, importers: Collection[str]) -> set[ResolvedUse]:
    """Return the uses in a list of `related FILE`, where every use of every name is resolved for it."""
    uses = set()
    for name in {symbol.name for symbol in graph.symbols_of(path)}:
        for item in graph.resolved_uses(name):
            files = item.targets.definitions.paths
            is_told = item.targets.certainty != "by-name" or item.use.path in importers
            if item.use.path != path and path in files and (is_told or len(files) <= MAX_DEFINING_FILES):
                uses.add(item)
    return uses


def places(uses: Collection[ResolvedUse]) -> list[tuple[str, Reference, str, int]]:
    return sorted(
        ((use.path, use.reference, targets.certainty, targets.n_definitions()) for use, targets in uses), key=str
    )


@pytest.mark.parametrize("importers", [(), ("use/typed.py", "many/user3.py", "use/made.py")])
def test_the_uses_of_any_file_are_those_of_all_its_names(engine: Engine, importers: Collection[str]) -> None:
    with engine:
        n_uses = 0
        for path in engine.opened.catalog.paths():
            whole = places(brute_force(CompilerGraph(engine.opened.catalog), path, importers))
            graph = CompilerGraph(engine.opened.catalog)
            names = [symbol.name for symbol in graph.symbols_of(path)]
            assert places(list(uses_from(graph, path, names, frozenset(importers)))) == whole
            n_uses += len(whole)
    assert n_uses > 10


READ_ALONE = Catalog.text


def read_alone(catalog: Catalog, path: str) -> str:
    """Read one text: only a changed file may be read so."""
    return READ_ALONE(catalog, path) if path == "shop/core.py" else pytest.fail(f"{path} is read alone")


class Reads:
    """The texts and the documents of references that a catalogue was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self.using: set[str] = set()
        self.n_statements = 0
        read_texts, read_uses = Catalog.texts, Catalog.references_to

        def texts(catalog: Catalog, paths: Sequence[str]) -> Iterator[CheckedText]:
            self.texts += paths
            self.n_statements += 1
            return read_texts(catalog, paths)

        def uses(
            catalog: Catalog, names: Collection[str], languages: Collection[str] | None = None
        ) -> list[tuple[str, Reference]]:
            rows = read_uses(catalog, names, languages)
            self.using.update(path for path, _ in rows)
            return rows

        monkeypatch.setattr(Catalog, "texts", texts)
        monkeypatch.setattr(Catalog, "references_to", uses)
        monkeypatch.setattr(Catalog, "text", read_alone)
        monkeypatch.setattr(Catalog, "lines", lambda _, path, *lines: pytest.fail(f"{path} is read alone"))


def test_texts_are_read_together_and_only_where_they_can_tell(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine:
        reads = Reads(monkeypatch)
        edges = engine.related(HUB, direction="callers").edges
    assert {edge.path for edge in edges} >= {"use/typed.py", "use/below.py", "use/all.py", "use/passed.py"}
    assert reads.n_statements <= 2
    # What stands above a type, or after a name of several parts, is refused without the text of its file.
    assert not {"use/mixin.py", "use/passed.py"} & set(reads.texts)
    assert len(reads.texts) == len(set(reads.texts))


def test_uses_in_other_languages_are_not_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine:
        reads = Reads(monkeypatch)
        for target in (HUB, f"{HUB} @@Table.get"):
            assert engine.related(target, direction="callers").edges
    assert not [path for path in [*reads.texts, *reads.using] if path.endswith(".ts")]


def test_a_name_that_a_script_gives_is_none_in_python(make_engine: MakeEngine) -> None:
    files = {
        "core.py": "class Core:\n    def fetch(self):\n        return 1\n",
        "use.py": "def use(value):\n    return value.load()\n",
        "core.ts": "export class Web { fetch() {} }\nfunction fetch() {}\nexport { fetch as load }\n",
    }
    with make_engine(files) as engine:
        edges = engine.related("core.py @@Core.fetch", direction="callers").edges
    assert "use.py" not in {edge.path for edge in edges}


def test_the_texts_of_tests_are_read_together_for_a_change(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"tests/test_part{number}.py": f"def test_{number}():\n    assert zebra_{number}\n" for number in range(9)}
    diff = "--- a/shop/core.py\n+++ b/shop/core.py\n@@ -1,2 +1,1 @@\n-# zebra_3 walks\n def core():\n"
    with make_engine({**files, "shop/core.py": "def core():\n    return 1\n"}) as engine:
        reads = Reads(monkeypatch)
        result = engine.impact(diff=diff)
    assert [test.path for test in result.tests][:1] == ["tests/test_part3.py"]
    assert set(files) <= set(reads.texts)
    assert reads.n_statements <= 2
