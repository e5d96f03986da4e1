"""What an answer has read is noted, also where it was remembered; and which imports may lead to a file."""

from __future__ import annotations

import pytest

from codefathom.search.graph.read_sets import EXPORTS, NAME, THROUGH, Reads, ReadSet
from codefathom.search.graph.resolve import Resolver


def test_what_is_remembered_is_noted_again() -> None:
    reads = Reads()

    def inner(name: str) -> str:
        reads.add(NAME, "python", name)
        return name

    remembered = reads.remembered(inner)
    outer = reads.remembered(lambda name: remembered(name) + "!")
    remembered("a")  # nobody notes it
    for _ in range(2):
        with reads.noted() as notes:
            assert outer("a") == "a!"
        assert notes == {(NAME, "python", "a")}


def test_a_question_for_the_sake_of_another_has_its_own_notes() -> None:
    reads = Reads()
    with reads.noted() as outer:
        with reads.noted() as inner:
            reads.add(THROUGH, "a.py")
        reads.add(THROUGH, "b.py")
    assert inner == {(THROUGH, "a.py")}
    assert outer == {(THROUGH, "b.py")}


def test_notes_are_found_as_numbers() -> None:
    read_set = ReadSet.of([(NAME, "python", "a"), (THROUGH, "a.py")], [7]).and_others(ReadSet.of([(EXPORTS, "b")], [9]))
    assert read_set.has(NAME, "python", "a")
    assert read_set.has(EXPORTS, "b")
    assert not read_set.has(NAME, "go", "a")
    assert read_set.has_exports(7)
    assert not read_set.has_exports(8)
    assert not ReadSet(is_whole=False).and_others(read_set).is_whole


PATHS = {
    **dict.fromkeys(("a/b.py", "a/c.py", "a/d/b.py", "b.py", "x/a/b.py", "a/d/e.pyi"), "python"),
    **dict.fromkeys(
        ("w/a.ts", "w/b.tsx", "w/a.js", "packages/p/src/a.ts", "packages/p/b.ts", "src/a.ts"), "typescript"
    ),
    **dict.fromkeys(("go/a/a.go", "go/b/b.go", "go/b/c.go", "x/go/b/d.go"), "go"),
    **dict.fromkeys(("j/a/A.java", "j/a/B.java", "j/b/A.java", "k/a/A.java"), "java"),
    **dict.fromkeys(("c/a.h", "c/b.h", "x/c/a.h", "c/d.c"), "c"),
    **dict.fromkeys(("lib/a.rb", "r/b.rb", "r/lib/a.rb"), "ruby"),
    **dict.fromkeys(("p/A.php", "p/q/A.php", "p/B.php"), "php"),
}
IMPORTS = {
    "python": ("a.b", "b", ".b", "..b", "a.d.b.x", "a.d.e", ".c", "a", "x.a.b"),
    "typescript": ("./a", "./b", "./a.js", "@s/p/a", "p/b", "@/a", "../w/b"),
    "go": ("h.org/o/m/go/b", "m/go/a", "./b", "go/b"),
    "java": ("a.A", "a.*", "a.A.inner", "b.A", "j.a.B"),
    "c": ("a.h", "c/a.h", "../c/b.h", "<c/a.h>"),
    "ruby": ("a", "./b", "lib/a", "r/b"),
    "php": (r"p\A", r"q\A", "'B.php'", r"X\p\q\A"),
}


@pytest.mark.parametrize("language", IMPORTS)
def test_an_import_that_a_file_leads_elsewhere_may_lead_to_it(language: str) -> None:
    """Whatever an import means with a file and without it, where that is not the same."""
    whole = Resolver(PATHS.items())
    n_changed = 0
    for moved in PATHS:
        less = Resolver((path, own) for path, own in PATHS.items() if path != moved)
        for path in (path for path, own in PATHS.items() if own == language and path != moved):
            for name in IMPORTS[language]:
                if whole.resolve(name, path) != less.resolve(name, path):
                    n_changed += 1
                    assert whole.may_lead(name, path, {moved})
                    assert less.may_lead(name, path, {moved})
    assert n_changed > 3
