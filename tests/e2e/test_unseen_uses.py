"""Each file in which a rare name stands is listed among its uses, or is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from codefathom import Engine
from codefathom.facts.reasons import n_standing_elsewhere

# A definition of a name, files with uses that no pattern of the language sees, and files with other things so called.
CASES: Mapping[str, tuple[Mapping[str, str], str, set[str], set[str]]] = {
    "python": (
        {
            "shop/bill.py": "class Bill:\n    @property\n    def grand_sum(self):\n        return 1\n",
            "late.py": "def late(thing):\n    return thing.grand_sum\n",
            "shown.py": 'def shown(thing):\n    return f"{thing.grand_sum}"\n',
            "note.py": "# grand_sum is in the bill\ndef note():\n    return 'grand_sum'\n",
            "local.py": "def local():\n    grand_sum = 3\n    return grand_sum\n",
            "patched.py": "def patched(m):\n    # m.set('grand_sum')\n    m.patch('shop.bill.Bill.grand_sum', 1)\n",
            "README.md": "See `grand_sum`.\n",
        },
        "Bill.grand_sum",
        {"late.py late", "shown.py shown", "patched.py patched"},
        {"note.py", "local.py", "README.md"},
    ),
    "typescript": (
        {
            "src/bill.ts": "export class Bill { grandSum = 1 }\n",
            "src/late.ts": "export function late(thing: any) { return thing?.grandSum }\n",
            "src/shown.ts": "export function shown(thing: any) { return `${thing.grandSum}` }\n",
            "src/apart.ts": "export function apart(thing: any) {\n  const { other, grandSum: sum } = thing\n}\n",
            "src/local.ts": "export function local(grandSum: number) { return { grandSum } }\n",
            "src/note.ts": "/* grandSum */ export const note = 'grandSum'\n",
        },
        "Bill.grandSum",
        {"src/late.ts late", "src/shown.ts shown", "src/apart.ts apart"},
        {"src/note.ts", "src/local.ts"},
    ),
    "rust": (
        {
            "src/lib.rs": "mod late;\npub struct Bill;\nimpl Bill { pub const GRAND_SUM: u8 = 1; }\n",
            "src/late.rs": "fn late() {\n    made! { it => GRAND_SUM }\n}\n",
            "src/note.rs": "// GRAND_SUM\nfn note() {}\n",
        },
        "Bill.GRAND_SUM",
        {"src/late.rs late"},
        {"src/note.rs"},
    ),
    "ruby": (
        {
            "lib/bill.rb": "class Bill\n  GRAND_SUM = 1\n\n  def whole?; end\nend\n",
            "lib/late.rb": 'def late\n  puts "#{GRAND_SUM}"\nend\n',
            "lib/note.rb": "# GRAND_SUM\ndef note\n  'GRAND_SUM'\nend\n",
        },
        "GRAND_SUM",
        {"lib/late.rb late"},
        {"lib/note.rb"},
    ),
    "c": (
        {
            "sum.c": "int grand_sum(int x) { return x; }\n",
            "late.c": "static struct row rows[] = { { .run = grand_sum }, };\n",
            "note.c": '/* grand_sum */ const char *note = "grand_sum";\n',
        },
        "grand_sum",
        {"late.c "},
        {"note.c"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_file_with_the_name_is_listed_or_counted(
    make_engine: Callable[[Mapping[str, str]], Engine], case: str
) -> None:
    files, target, listed, others = CASES[case]
    with make_engine(files) as engine:
        result = engine.related(f"@@{target}", direction="callers")
    assert {f"{edge.path} {edge.symbol}" for edge in result.edges} == listed
    assert n_standing_elsewhere(result.notes) == len(others)
    assert str(len(others)) in result.completeness


def test_what_is_imported_from_elsewhere_is_no_use(make_engine: Callable[[Mapping[str, str]], Engine]) -> None:
    files = {
        "bill.py": "def dumps(thing):\n    return 1\n",
        "write.py": "import json\n\ndef write(thing):\n    return map(json.dumps, thing)\n",
        "call.py": "import json\n\ndef call(thing):\n    return json.dumps(thing)\n",
    }
    with make_engine(files) as engine:
        result = engine.related("@@dumps")
    assert result.edges == ()
    assert n_standing_elsewhere(result.notes) == 2


def test_a_name_of_many_definitions_tells_nothing(make_engine: Callable[[Mapping[str, str]], Engine]) -> None:
    files = {f"part{n}.py": f"class Part{n}:\n    def mend_it(self): pass\n" for n in range(4)}
    with make_engine({**files, "late.py": "def late(thing):\n    return [thing.mend_it]\n"}) as engine:
        result = engine.related("@@Part1.mend_it")
    assert result.edges == ()
    assert n_standing_elsewhere(result.notes) == 0


def test_who_calls_finds_and_counts_the_same(make_engine: Callable[[Mapping[str, str]], Engine]) -> None:
    files, target, unseen, _ = CASES["python"]
    with make_engine(files) as engine:
        counted = engine.related(f"@@{target}").notes
        result = engine.search(f"who uses {target}")
    paths = {hit.chunk.path for hit in result.hits}
    assert {place.partition(" ")[0] for place in unseen} <= paths
    assert set(counted) <= set(result.problems)


def test_an_impact_counts_the_files_with_names_of_the_change(
    make_engine: Callable[[Mapping[str, str]], Engine],
) -> None:
    files, _, _, _ = CASES["python"]
    diff = "--- a/shop/bill.py\n+++ b/shop/bill.py\n@@ -4 +4 @@\n-        return 1\n+        return 2\n"
    with make_engine({**files, "user.py": "from shop.bill import Bill\nx = Bill().grand_sum\n"}) as engine:
        said = engine.impact(diff=diff).completeness
    assert "other files that have a name of the change, but no use that was seen: 6" in said


def test_the_type_behind_the_arrow_of_a_function_is_no_member(
    make_engine: Callable[[Mapping[str, str]], Engine],
) -> None:
    files = {
        "compat.py": "class bytes: pass\n",
        "read.py": "def read(thing) -> bytes:\n    return thing\n",
    }
    with make_engine(files) as engine:
        result = engine.related("@@bytes", direction="callers")
    assert result.edges == ()
    assert n_standing_elsewhere(result.notes) == 1
