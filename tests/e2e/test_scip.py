"""Edges that a compiler has written: they decide where it has read the very file, and nowhere else."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.older_formats import made_older
from tests.scip_files import DEFINED, Mark, definition, document, field, index, use

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import DamagedError, SourceError
from codefathom.types import CompilerFiles, Related, ScipReport

FILES = {
    "pay/cart.py": "class Cart:\n    def total(self):\n        return 1\n",
    "pay/bill.py": "class Bill:\n    def total(self):\n        return 2\n\n    def open(self):\n        return 3\n",
    "web/view.py": (
        "from pay import cart\n\n\ndef show(thing):\n    return thing.total()\n\n\n"
        "def both(a, b):\n    return a.total() + b.total()\n\n\ndef read(path):\n    return open(path).total\n"
    ),
    "web/late.py": "def late(thing):\n    return thing.total()\n",
}
CART, BILL, TOTAL, BILLED = (
    "`pay.cart`/Cart#",
    "`pay.bill`/Bill#",
    "`pay.cart`/Cart#total().",
    "`pay.bill`/Bill#total().",
)
PYTHON = "python python-stdlib 3 builtins/open()."
MARKS: dict[str, list[Mark]] = {
    "pay/cart.py": [
        Mark(1, "", "test-compiler . shop 1 `pay.cart`/__init__:", DEFINED),
        definition(1, "Cart", CART),
        definition(2, "total", TOTAL),
    ],
    "pay/bill.py": [
        definition(1, "Bill", BILL),
        definition(2, "total", BILLED),
        definition(5, "open", BILL + "open()."),
    ],
    "web/view.py": [
        definition(4, "show", "`web.view`/show()."),
        use(5, "total", TOTAL),
        use(9, "total", TOTAL),
        use(9, "total", BILLED, nth=2),
        Mark(13, "open", "test-compiler " + PYTHON),
        use(13, "total", BILLED),
    ],
}
LATE, SHOW = "web/late.py", ("called by", "web/view.py", 5)


def written(marks: dict[str, list[Mark]] = MARKS, **options: Any) -> bytes:
    return index([document(path, FILES[path], own) for path, own in marks.items()], **options)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Engine]:
    root = tmp_path / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "fathom.toml").write_text("")
    with Engine.open(str(root)) as engine:
        yield engine


def give(engine: Engine, *indexes: bytes) -> ScipReport:
    paths = []
    for number, data in enumerate(indexes):
        path = Path(engine.root).parent / f"{number}.scip"
        path.write_bytes(data)
        paths.append(str(path))
    return engine.import_scip(paths)


def edges(engine: Engine, target: str) -> list[Related]:
    return list(engine.related(target).edges)


def uses(engine: Engine, target: str) -> dict[tuple[str, int], str]:
    """Return how each use of a symbol is known."""
    kinds = ("called by", "references")
    return {(edge.path, edge.line): edge.certainty for edge in edges(engine, target) if edge.kind in kinds}


def everything(engine: Engine) -> object:
    """Return all that can be asked about the edges of the project."""
    targets = ["@@Cart.total", "@@Bill.total", "@@Bill.open", "@@show", *FILES]
    return [engine.related(target).edges for target in targets]


def write(engine: Engine, path: str, text: str) -> None:
    (Path(engine.root) / path).write_text(text)


def test_the_compiler_decides_where_it_has_read_the_file(shop: Engine) -> None:
    report = give(shop, written())
    assert report == ScipReport(("test-compiler 1.2",), n_files=3, n_uses=4)
    cart, bill = uses(shop, "@@Cart.total"), uses(shop, "@@Bill.total")
    assert cart == {("web/view.py", 5): "by-compiler", ("web/view.py", 9): "by-compiler", (LATE, 2): "by-name"}
    assert bill == {("web/view.py", 9): "by-compiler", ("web/view.py", 13): "by-compiler", (LATE, 2): "by-name"}
    calls = [edge for edge in edges(shop, "@@show") if edge.kind == "calls"]
    assert [(edge.path, edge.line, edge.certainty) for edge in calls] == [("pay/cart.py", 2, "by-compiler")]


def test_a_name_of_elsewhere_is_no_use_of_ours(shop: Engine) -> None:
    shop.index()
    assert ("web/view.py", 13) not in uses(shop, "@@Bill.open")  # a plain name
    write(shop, "web/view.py", FILES["web/view.py"].replace("open(path)", "path.open()"))
    shop.index()
    assert uses(shop, "@@Bill.open") == {("web/view.py", 13): "by-name"}
    marks = [mark for mark in MARKS["web/view.py"] if mark.line < 13]
    text = (Path(shop.root) / "web/view.py").read_text()
    own = [*marks, Mark(13, "open", "test-compiler " + PYTHON)]
    others = [document(path, FILES[path], MARKS[path]) for path in ("pay/cart.py", "pay/bill.py")]
    give(shop, index([*others, document("web/view.py", text, own)]))
    assert uses(shop, "@@Bill.open") == {}


def test_a_changed_file_has_the_edges_of_the_parser_again(shop: Engine) -> None:
    give(shop, written())
    before = uses(shop, "@@Cart.total")
    write(shop, LATE, "def late(thing):\n    print(thing)\n    return thing.total()\n")
    shop.index()
    assert uses(shop, "@@Cart.total") == {**dict(list(before.items())[:2]), (LATE, 3): "by-name"}
    write(shop, "web/view.py", FILES["web/view.py"] + "\n")
    shop.index()
    assert set(uses(shop, "@@Cart.total").values()) == {"by-name"}
    assert shop.status().compilers == (CompilerFiles("test-compiler 1.2", 3, 1),)
    write(shop, "web/view.py", FILES["web/view.py"])
    shop.index()
    assert ("web/view.py", 5) in [place for place, how in uses(shop, "@@Cart.total").items() if how == "by-compiler"]


def test_a_definition_that_moves_keeps_its_uses(shop: Engine) -> None:
    give(shop, written())
    write(shop, "pay/cart.py", "# a comment\n\n" + FILES["pay/cart.py"])
    shop.index()
    assert uses(shop, "@@Cart.total")["web/view.py", 5] == "by-compiler"
    write(shop, "pay/cart.py", "class Cart:\n    pass\n")  # without total: the other one by its name
    shop.index()
    assert uses(shop, "@@Bill.total")["web/view.py", 5] == "by-name"


def test_a_removed_file_leaves_nothing(shop: Engine) -> None:
    give(shop, written())
    (Path(shop.root) / "web/view.py").unlink()
    shop.index()
    assert uses(shop, "@@Cart.total") == {(LATE, 2): "by-name"}
    assert shop.status().compilers == (CompilerFiles("test-compiler 1.2", 2, 0),)
    (Path(shop.root) / "pay/bill.py").unlink()
    shop.index()
    assert rows(shop) == (1, 0)


def rows(engine: Engine) -> tuple[int, ...]:
    with closing(sqlite3.connect(f"file:{engine.index_dir}/catalog.db?mode=ro", uri=True)) as db:
        return tuple(
            db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("compilers", "compiler_uses")
        )


def test_a_new_index_replaces_and_all_can_be_removed(shop: Engine) -> None:
    shop.index()
    before = everything(shop)
    give(shop, written())
    assert everything(shop) != before
    other = [definition(4, "show", "`web.view`/show()."), use(5, "total", BILLED)]
    give(shop, written({**MARKS, "web/view.py": other}, tool="other"))
    assert uses(shop, "@@Bill.total")["web/view.py", 5] == "by-compiler"
    assert ("web/view.py", 5) not in uses(shop, "@@Cart.total")
    assert shop.remove_scip() == 3
    assert everything(shop) == before
    assert (shop.remove_scip(), shop.status().compilers, rows(shop)) == (0, (), (0, 0))


def test_several_indexes_are_one(shop: Engine) -> None:
    """A use may be in one index, its definition in another; a file that both describe has the uses of both."""
    view = MARKS["web/view.py"]
    first = {"pay/cart.py": MARKS["pay/cart.py"], "web/view.py": view[:3]}
    second = {"pay/bill.py": MARKS["pay/bill.py"], "web/view.py": view[3:]}
    assert give(shop, written(first), written(second)).n_files == 3
    whole = everything(shop)
    shop.remove_scip()
    give(shop, written())
    assert everything(shop) == whole


# ---- what survives


def test_what_it_survives(shop: Engine, tmp_path: Path) -> None:
    give(shop, written())
    before = everything(shop)
    shop.index(full=True)
    assert everything(shop) == before
    shop.backup(str(tmp_path / "backup"))
    shop.remove_index()
    shop.index()
    assert everything(shop) != before
    shop.restore(str(tmp_path / "backup"))
    shop.index()
    assert everything(shop) == before
    assert [check.name for check in shop.doctor() if not check.ok] == []


def test_a_snapshot_has_none_of_it(shop: Engine, tmp_path: Path) -> None:
    """Nobody can compare edges of a compiler with the files."""
    give(shop, written())
    shop.export_snapshot(str(tmp_path / "snapshot"))
    shutil.copytree(shop.root, tmp_path / "other", ignore=shutil.ignore_patterns(".fathom"))
    with Engine.open(str(tmp_path / "other")) as other:
        other.import_snapshot(str(tmp_path / "snapshot"))
        assert (other.status().compilers, rows(other)) == ((), (0, 0))
        assert set(uses(other, "@@Cart.total").values()) == {"by-name"}


def test_damage_is_seen(shop: Engine) -> None:
    give(shop, written())
    shop.close()
    with closing(sqlite3.connect(f"{shop.index_dir}/catalog.db")) as db, db:
        db.execute("UPDATE compiler_uses SET uses = x'00'")
    with pytest.raises(DamagedError, match="is damaged"):
        uses(shop, "@@Cart.total")
    shop.index()
    assert (shop.damage, set(uses(shop, "@@Cart.total").values())) == ((), {"by-name"})


# ---- which file of an index is which file of the project


@pytest.mark.parametrize(
    ("root", "prefix"),
    [
        ("file:///builds/shop", ""),
        ("file:///builds/shop/web", "web/"),
        ("file:///c%3A/builds/web", "web/"),
        ("file:///somewhere/pay", ""),
        ("", ""),
        ("nonsense", ""),
    ],
)
def test_the_folder_of_an_index(root: str, prefix: str, shop: Engine) -> None:
    """It was written elsewhere, at the root of the project or in a folder of it."""
    marks = [*MARKS["web/view.py"][:1], use(5, "show", "`web.view`/show().")]
    text = FILES["web/view.py"].replace("thing.total", "show")
    write(shop, "web/view.py", text)
    report = give(shop, index([document("web/view.py".removeprefix(prefix), text, marks)], root=root))
    assert (report.n_files, report.n_uses) == (1, 1)


OUTSIDE = ("../view.py", "/etc/passwd", "web/../../x.py", "C:/x.py", "web\\view.py", "", ".", "..")


def test_paths_that_lead_out_are_refused_and_counted(shop: Engine) -> None:
    (Path(shop.root) / "web/link.py").symlink_to("../../outside.py")
    (Path(shop.root).parent / "outside.py").write_text(FILES["web/view.py"])
    strange = [document(path, FILES["web/view.py"], MARKS["web/view.py"]) for path in OUTSIDE]
    unknown = [document(path, "", ()) for path in ("web/link.py", "web/none.py", "web")]
    report = give(shop, written() + b"".join(field(2, item) for item in (*strange, *unknown)))
    assert (report.n_files, report.n_refused, report.n_unknown) == (3, len(OUTSIDE), 3)
    assert {(item.path, item.reason) for item in report.skipped} == {
        *((path, "the path leads out of the project") for path in OUTSIDE),
        *((path, "this file is not in the index") for path in ("web/link.py", "web/none.py", "web")),
    }


def test_an_index_of_another_version_of_a_file_is_left_out(shop: Engine) -> None:
    write(shop, "web/view.py", "import os\n\n" + FILES["web/view.py"])
    report = give(shop, written())
    assert (report.n_files, report.n_other_version) == (2, 1)
    assert set(uses(shop, "@@Cart.total").values()) == {"by-name"}


def test_the_text_of_a_document_is_compared(shop: Engine) -> None:
    def with_text(change: Callable[[str], str]) -> bytes:
        items = MARKS.items()
        return index([document(path, change(FILES[path]), marks, with_text=True) for path, marks in items])

    assert give(shop, with_text(lambda text: text)).n_other_version == 0
    assert give(shop, with_text(lambda text: text.replace("return 1", "return 7"))).n_other_version == 1


# ---- errors


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 zip", b'{"a": 1}', written()[:-30], written() + b"\x12\xff\xff"])
def test_a_damaged_index_changes_nothing(data: bytes, shop: Engine) -> None:
    give(shop, written())
    before, generation = everything(shop), shop.generation
    for indexes in ([data], [written({"pay/cart.py": MARKS["pay/cart.py"]}), data]):
        with pytest.raises(SourceError, match=r"\.scip' is not a whole SCIP index"):
            give(shop, *indexes)
    assert (everything(shop), shop.generation) == (before, generation)


def test_an_index_of_another_project(shop: Engine) -> None:
    give(shop, written())
    before = everything(shop)
    with pytest.raises(SourceError, match=r"no document of .+ is a file of this project"):
        give(shop, index([document("lib/a.rs", "", ())]))
    assert everything(shop) == before


def test_links_and_strange_symbols_do_no_harm(shop: Engine) -> None:
    """Symbols that mean each other, themselves, or are no symbols; marks far outside of the text."""
    strange = [
        Mark(1, "Cart", "", DEFINED),
        Mark(1, "Cart", "local 1", DEFINED),
        Mark(1, "Cart", "local 1"),
        Mark(1, "Cart", " " * 50),
        Mark(1, "Cart", "`" * 5_000),
        Mark(2, "total", "`a`/b().`a`/b()."),
    ]
    far = field(2, field(1, b"\xff\xff\xff\xff\x07\x00\x05") + field(2, "test-compiler . shop 1 `pay.cart`/far()."))
    own = document("pay/cart.py", FILES["pay/cart.py"], strange) + far
    report = give(shop, index([own, own, *(document(path, FILES[path], MARKS[path]) for path in MARKS)]))
    assert report.n_files == 3
    assert uses(shop, "@@Cart.total")["web/view.py", 5] == "by-compiler"


@pytest.mark.parametrize("n_documents", [2_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_an_index_of_very_many_documents(n_documents: int, shop: Engine) -> None:
    many = b"".join(field(2, field(1, f"src/{number}.py")) for number in range(n_documents))
    report = give(shop, written() + many)
    assert (report.n_files, report.n_unknown, len(report.skipped)) == (3, n_documents, 20)


# ---- the command


@pytest.fixture
def fathom(shop: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.chdir(shop.root)
    shop.close()

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(words))
        return code, *capsys.readouterr()

    return run


def test_the_command(fathom: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "index.scip"
    file.write_bytes(written())
    code, out, _ = fathom("index", "--scip", str(file))
    assert (code, out.splitlines()[-1]) == (0, "4 uses in 3 files are by test-compiler 1.2 now")
    assert "compiler    edges of 3 files by test-compiler 1.2\n" in fathom("status")[1]
    code, out, err = fathom("related", "@@Cart.total")
    assert "  web/view.py:5  total in show  (by the compiler)\n" in out
    assert "2 of 3 edges are by the compiler; 1 by the name alone" in err
    shape = json.loads(fathom("related", "@@Cart.total", "--json")[1])
    assert [edge["certainty"] for edge in shape["edges"]] == ["by-compiler", "by-compiler", "by-name"]
    shape = json.loads(fathom("index", "--json", "--scip", str(file))[1])
    assert (shape["scip"]["n_files"], shape["scip"]["tools"], shape["n_unchanged"]) == (3, ["test-compiler 1.2"], 5)
    assert json.loads(fathom("status", "--json")[1])["compilers"] == [
        {"tool": "test-compiler 1.2", "n_files": 3, "n_changed": 0}
    ]
    Path("web/view.py").write_text("")
    fathom("index")
    changed = "edges of 2 files by test-compiler 1.2; 1 more has changed since, and its edges are those of the parser"
    assert f"compiler    {changed}" in fathom("status")[1]
    assert fathom("index", "--remove-scip")[2].endswith("removed the edges of compilers, which 3 files had\n")
    assert fathom("index", "--remove-scip")[0] == 1


def test_what_the_command_refuses(fathom: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "index.scip").write_bytes(b"{}")
    code, out, err = fathom("index", "--scip", str(tmp_path / "index.scip"))
    assert (code, out) == (2, "")
    assert "is not a whole SCIP index" in err and "hint: " in err
    assert not Path(".fathom").exists()  # before anything was done
    for words in (("--dry-run",), ("--watch",), ("--interactive",), ("--only", "web"), ("--remove-scip",)):
        code, _, err = fathom("index", "--scip", "a.scip", *words)
        assert (code, f"--scip cannot be used with {words[0]}" in err) == (2, True)


def test_impact_follows_the_compiler(shop: Engine) -> None:
    give(shop, written())
    change = "@@ -2,2 +2,2 @@\n     def total(self):\n-        return 1\n+        return 9\n"
    diff = f"--- a/pay/cart.py\n+++ b/pay/cart.py\n{change}"
    reached = {(edge.path, edge.line): edge.certainty for edge in shop.impact(diff=diff).reached}
    assert reached["web/view.py", 5] == "by-compiler"
    diff = diff.replace("cart", "bill").replace("return 1", "return 2")
    assert ("web/view.py", 5) not in {(edge.path, edge.line) for edge in shop.impact(diff=diff).reached}


def test_an_index_of_format_7_gets_its_place(shop: Engine) -> None:
    shop.index()
    before, generation = everything(shop), shop.generation
    shop.close()
    made_older(Path(shop.index_dir) / "catalog.db", 7)
    assert (everything(shop), shop.generation, shop.status().compilers) == (before, generation, ())
    assert give(shop, written()).n_files == 3


SCRIPTS = {
    "src/util.ts": "export class Pool {\n  constructor() {}\n  take() {}\n}\nexport function helper() {}\n",
    "src/a.ts": (
        "import {\n  Pool,\n  helper as h,\n} from '@lib/util'\n\n"
        "const sign = 'é😀'; h(); new Pool().take()\nconst type: Pool['take'] = null\n"
    ),
}
UTIL, POOL = "src/`util.ts`/", "src/`util.ts`/Pool#"
SCRIPT_MARKS = {
    "src/util.ts": [
        Mark(1, "", "test-compiler . shop 1 " + UTIL, DEFINED),
        definition(1, "Pool", POOL),
        definition(2, "constructor", POOL + "`<constructor>`()."),
        definition(3, "take", POOL + "take()."),
        definition(5, "helper", UTIL + "helper()."),
    ],
    "src/a.ts": [
        use(2, "Pool", POOL),
        use(3, "helper", UTIL + "helper()."),
        use(4, "'@lib/util'", UTIL),
        use(6, "h", UTIL + "helper()."),
        use(6, "Pool", POOL + "`<constructor>`()."),
        use(6, "take", POOL + "take()."),
        use(7, "Pool", POOL),
        use(7, "'take'", POOL + "take()."),
    ],
}


def test_imports_other_names_and_new_objects(shop: Engine) -> None:
    """A path that only the compiler follows, a name given at the import, columns in UTF-16, members as strings."""
    (Path(shop.root) / "src").mkdir()
    for path, text in SCRIPTS.items():
        write(shop, path, text)
    shop.index()
    assert {edge.certainty for edge in edges(shop, "src/util.ts")} == {"by-name"}
    give(shop, index([document(path, SCRIPTS[path], marks) for path, marks in SCRIPT_MARKS.items()]))
    kinds = {(edge.kind, edge.line, edge.name, edge.certainty) for edge in edges(shop, "src/util.ts")}
    assert ("imported by", 4, "@lib/util", "by-compiler") in kinds
    expected = {"@@helper": [("called by", 6, "h")], "@@Pool.take": [("called by", 6, "take")], "@@Pool": []}
    for target, places in expected.items():
        found = [edge for edge in edges(shop, target) if edge.path == "src/a.ts"]
        assert {edge.certainty for edge in found} == {"by-compiler"}
        assert set(places) <= {(edge.kind, edge.line, edge.name) for edge in found}
        assert not any(edge.line < 5 and edge.kind != "imported by" for edge in found)
    assert ("src/a.ts", 6) in uses(shop, "@@Pool")
