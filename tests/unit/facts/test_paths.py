"""What a path says about a file, and that everybody says the same of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import codefathom
from codefathom.answer.stages import judge
from codefathom.facts.languages import CODE, FILE_ENDINGS, LANGUAGES, TABLE
from codefathom.facts.paths import (
    LOCK_FILES,
    describes_package,
    folders_of,
    has_tests,
    is_declaration,
    is_header,
    is_named_as_file,
    is_prose,
    is_test,
    may_be_vendored,
    may_go_unnamed,
    opens_module,
    ranks_as_prose,
    ranks_as_test,
    stands_for_folder,
    starts_program,
)
from codefathom.stores.conditions import matches
from codefathom.types import Filter

SOURCES = Path(codefathom.__file__).parent


@pytest.mark.parametrize(
    ("path", "is_a_test", "has_own"),
    [
        # what a runner of tests runs, by the customs of its language
        ("shop/tests.py", True, True),
        ("test_cart.py", True, True),
        ("src/test_cart.py", True, True),
        ("shop/cart_test.py", True, True),
        ("t/basic.t", True, True),
        ("lib/Shop/t/cart.t", True, True),
        ("cypress/foo.cy.ts", True, True),
        ("web/cart.e2e.ts", True, True),
        ("web/cart.e2e-spec.ts", True, True),
        ("web/cart.test.tsx", True, True),
        ("web/cart-test.js", True, True),
        ("web/__tests__/cart.js", True, True),
        ("src/FooIT.java", True, True),
        ("src/FooITCase.java", True, True),
        ("src/TestCart.java", True, True),
        ("src/test/java/Cart.java", True, True),
        ("src/CartSpec.groovy", True, True),
        ("src/CartSuite.scala", True, True),
        ("src/CartTests.cs", True, True),
        ("spec/cart_spec.rb", True, True),
        ("lib/cart_spec.rb", True, True),
        ("Tests.swift", True, True),
        ("Sources/URITests.swift", True, True),
        ("cart_test.go", True, True),
        ("src/cart/tests.rs", True, True),
        ("src/cart_unittest.cc", True, True),
        ("test/cart_test.exs", True, True),
        ("cart_SUITE.erl", True, True),
        ("pkg/runtests.jl", True, True),
        ("pkg/test-cart.R", True, True),
        ("Cart.Tests.ps1", True, True),
        ("cart.bats", True, True),
        ("tests/cart.phpt", True, True),
        ("src/CartTest.php", True, True),
        ("contracts/Cart.t.sol", True, True),
        ("rtl/cart_tb.v", True, True),
        # what belongs to tests and has none
        ("conftest.py", True, False),
        ("src/shop/conftest.py", True, False),
        ("spec/spec_helper.rb", True, False),
        ("spec/rails_helper.rb", True, False),
        ("test/test_helper.exs", True, False),
        ("tests/test_helper.py", True, True),
        ("tests/TestCase.php", True, False),
        ("tests/bootstrap.php", True, False),
        ("tests/Pest.php", True, False),
        ("tests/helpers.js", True, False),
        ("Tests/ShopTests/Helpers.swift", True, False),
        ("tests/index.js", True, False),
        ("tests/data/cart.json", True, False),
        ("testdata/cart.go", True, False),
        ("fixtures/conftest.py", True, False),
        ("tests/shop.py", True, False),
        ("tests/README.md", True, False),
        ("tests/schema.sql", True, False),
        # neither
        ("examples/cart.py", False, False),
        ("src/contest.py", False, False),
        ("src/attest.go", False, False),
        ("testament.rs", False, False),
        ("src/latest.ts", False, False),
        ("src/AUDIT.java", False, False),
        ("src/Habit.java", False, False),
        ("src/Testimony.java", False, False),
        ("src/unit.cc", False, False),
        ("src/Testing/TestCase.php", False, False),
        ("src/TestUtils.java", False, False),
        ("src/legacy.ts", False, False),
        ("inspector/spec.py", False, False),
        ("docs/protest.md", False, False),
    ],
)
def test_tests_are_known_by_the_customs_of_their_language(path: str, is_a_test: bool, has_own: bool) -> None:
    assert (is_test(path), has_tests(path)) == (is_a_test, has_own)
    assert matches(Filter("is_test", "eq", True), {"path": path}) == is_a_test


def test_the_folders_of_a_file_are_the_same_each_time() -> None:
    for _ in range(2):
        assert list(folders_of("a/b/c.py")) == ["a/b", "a", ""]
    assert list(folders_of("c.py")) == [""]


def test_a_file_with_tests_is_a_test_in_every_language() -> None:
    for language in sorted(CODE):
        for ending in LANGUAGES[language].endings.split():
            for path in (f"tests/a.{ending}", f"a_test.{ending}", f"src/test_a.{ending}", f"t/a.{ending}"):
                assert is_test(path) >= has_tests(path), path
            if LANGUAGES[language].has_tests:
                assert has_tests(f"a_test.{ending}"), ending


def test_the_names_of_tests_are_valid_expressions_that_do_not_match_everything() -> None:
    for language in TABLE:
        assert not re.fullmatch(language.tests or "x", f"cart.{language.endings.split()[:1]}")


@pytest.mark.parametrize(
    ("path", "prose"),
    [
        ("README.md", True),
        ("docs/a.rst", True),
        ("notes.txt", True),
        ("a.adoc", True),
        ("paper.tex", True),
        ("a.org", True),
        ("offer.pdf", True),
        ("offer.docx", True),
        ("CHANGES", True),
        ("changelog.d/12.bugfix", True),
        ("docs/api/index.html", True),
        ("CMakeLists.txt", False),
        ("analysis.ipynb", False),
        ("unknown.qqq", False),
        ("Makefile", False),
        ("templates/a.html", False),
        ("src/history.py", False),
    ],
)
def test_prose_is_known_by_its_language_name_or_folder(path: str, prose: bool) -> None:
    assert is_prose(path) == prose
    assert judge.is_prose is is_prose


def test_what_ranks_as_prose_or_test_is_what_the_weights_were_learned_with() -> None:
    assert not ranks_as_prose("paper.tex")
    assert ranks_as_prose("CMakeLists.txt")
    assert ranks_as_test("examples/cart.py")
    assert not ranks_as_test("conftest.py")


@pytest.mark.parametrize(
    ("path", "for_folder", "unnamed"),
    [
        ("a/__init__.py", True, True),
        ("a/mod.rs", True, True),
        ("a/index.test.ts", True, True),
        ("src/lib.rs", False, True),
        ("main.go", False, True),
        ("a/cart.py", False, False),
    ],
)
def test_barrels(path: str, for_folder: bool, unnamed: bool) -> None:
    assert (stands_for_folder(path), may_go_unnamed(path)) == (for_folder, unnamed)


@pytest.mark.parametrize(
    ("path", "vendored"),
    [
        ("static/jquery-3.7.1.min.js", True),
        ("vendor/app.js", True),
        ("web/Third_Party/x.css", True),
        ("web/static/js/jquery-3.7.1.js", True),
        ("jquery-3.7.1.js", True),
        ("vendor-1.2/app.js", False),
        ("web/app.js", False),
        ("vendor.js", False),
    ],
)
def test_scripts_of_others_are_known_by_version_or_folder(path: str, vendored: bool) -> None:
    assert may_be_vendored(path) == vendored


NAMED: dict[Callable[[str], bool], tuple[str, str]] = {
    is_declaration: ("types.d.ts web/a.d.mts web/a.d.cts shop/cart.pyi", "a.ts d.ts a.d.js cart.py a.pyix"),
    is_header: ("a.h lib/a.hh a.hpp a.hxx", "a.c a.hs a.html h"),
    opens_module: ("__init__.py mod.rs lib.rs index.js index.ts index.tsx doc.go", "init.py main.rs index.html doc.py"),
    starts_program: (
        "__main__.py manage.py wsgi.py asgi.py main.go cli.ts app.rb server.js index.php Program.cs lib.rs "
        "ShopApplication.java application.kt",
        "main cart.py domain.go manage.js program.py application.py main.d.ts",
    ),
    describes_package: (
        "pyproject.toml setup.py setup.cfg package.json Cargo.toml go.mod pom.xml build.gradle build.gradle.kts "
        "composer.json mix.exs Package.swift build.sbt build.zig CMakeLists.txt shop.gemspec Shop.csproj shop.cabal "
        "shop.nimble shop.opam",
        "package-lock.json setup.js go.sum build.gradle.bak package.json.orig cart.toml",
    ),
}


@pytest.mark.parametrize("rule", NAMED, ids=lambda rule: rule.__name__)
def test_the_name_of_a_file_tells_its_part(rule: Callable[[str], bool]) -> None:
    fits, others = NAMED[rule]
    assert [name for name in fits.split() if not rule(name)] == []
    assert [name for name in others.split() if rule(name)] == []


@pytest.mark.parametrize(
    "path", ["a.py", "x/a.docx", "offer.pdf", "a.adoc", "go.sum", "A.TSX", "page.hbs", "v1.2/a.test.ts"]
)
def test_an_ending_names_a_file(path: str) -> None:
    assert is_named_as_file(path)


@pytest.mark.parametrize("path", ["self.text", "app.map", "process.env", "example.org", "py", ".py", "src/.py", "a."])
def test_a_member_or_host_is_not_named_like_a_file(path: str) -> None:
    assert not is_named_as_file(path)


def test_lock_files_are_written_small() -> None:
    assert {name.lower() for name in LOCK_FILES} == LOCK_FILES


def test_no_other_module_keeps_a_table_of_endings_or_of_names_of_tests() -> None:
    tables = [
        (path.relative_to(SOURCES).as_posix(), node.value[:60])
        for path in SOURCES.rglob("*.py")
        if path.parent.name != "facts"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_table(node.value)
    ]
    assert not tables


def _is_table(text: str) -> bool:
    words = set(re.findall(r"(?<=[|.( ])[a-z][a-z0-9]{1,5}(?=[|)? ]|$)", text))
    names_tests = re.search(r"__tests__|\(\?:test\|spec|tests\?\|", text) is not None
    return names_tests or (len(words & FILE_ENDINGS) >= 8 and len(words & FILE_ENDINGS) > 0.8 * len(words))
