from __future__ import annotations

import pytest

from codefathom.search.ranking.places import place_of


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/test_a.py",
        "src/a_test.go",
        "src/a.spec.ts",
        "examples/a.py",
        "demo/a.js",
        "src/demos/a.cpp",
        "x/UserTest.java",
    ],
)
def test_tests_and_examples_are_known_by_their_path(path: str) -> None:
    assert place_of(path).is_test


@pytest.mark.parametrize(
    ("path", "legacy", "version", "unversioned"),
    [
        ("legacy/a.js", ("legacy",), 0, "legacy/a.js"),
        ("src/_compat/a.py", ("compat",), 0, "src/_compat/a.py"),
        ("single_include/all.hpp", ("include", "single"), 0, "single_include/all.hpp"),
        ("api/v1/old/a.go", ("old",), 1, "api/old/a.go"),
        ("v2/a.go", (), 2, "a.go"),
        ("v1/b/v3/a.go", (), 3, "v1/b/a.go"),
        ("src/older/oldest.py", (), 0, "src/older/oldest.py"),
        ("src/v8.cc", (), 0, "src/v8.cc"),
    ],
)
def test_older_copies_are_known_by_their_folder(
    path: str, legacy: tuple[str, ...], version: int, unversioned: str
) -> None:
    place = place_of(path)
    assert (place.legacy, place.version, place.unversioned) == (legacy, version, unversioned)
    assert (place.is_test, place.is_aside) == (False, bool(legacy))


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("web/locale/fr.json", "locale"),
        ("src/Carbon/Lang/fr.php", "lang"),
        ("app/i18n/de/menu.yml", "i18n"),
        ("po/de.po", "po"),
        ("icons/ship.svg", "svg"),
        ("Ferry/zh-Hans.lproj/Localizable.strings", "zh-hans.lproj"),
        ("Ferry/en.lproj/Localizable.stringsdict", "en.lproj"),
        ("app/src/main/res/values/strings.xml", "values"),
        ("app/src/main/res/values-pt-rBR/strings.xml", "values-pt-rbr"),
        ("mods/locale/ferry.de.tr", "locale"),
        ("lib/l10n/app_de.arb", "l10n"),
        ("installer-translations/german.nsh", "installer-translations"),
        ("chart/values/staging.xml", ""),
        ("app/src/main/res/layout/pier.xml", ""),
        ("src/en.lproj/Words.swift", ""),
        ("src/lang/parser.rs", ""),
        ("package.json", ""),
        ("src/translations.py", ""),
    ],
)
def test_translations_and_files_of_data_are_known_by_their_path(path: str, folder: str) -> None:
    data = place_of(path).data
    assert data[:1] == ((folder,) if folder else ())
    assert bool(place_of(path).data) == bool(folder)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("web/Locale/fr.json", ("locale", "translation", "locale", "language", "snapshot")),
        ("a/__snapshots__/b.snap", ("snapshots", "translation", "locale", "language", "snapshot")),
        ("icons/ship.SVG", ("svg",)),
    ],
)
def test_words_that_ask_for_data_are_those_of_its_folder_or_its_ending(path: str, words: tuple[str, ...]) -> None:
    assert place_of(path).data == words


@pytest.mark.parametrize("path", ["docs/api/a.html", "javadoc/b/C.html", "docs/Doxyfile"])
def test_generated_pages_are_documents(path: str) -> None:
    assert place_of(path).is_prose
    assert not place_of("templates/a.html").is_prose


@pytest.mark.parametrize("path", ["latest/contest.py", "src/attest.go", "testament.rs"])
def test_other_files_are_none(path: str) -> None:
    assert not place_of(path).is_test


@pytest.mark.parametrize(
    ("path", "is_prose", "is_declaration", "is_header"),
    [
        ("README.md", True, False, False),
        ("docs/a.rst", True, False, False),
        ("CHANGES", True, False, False),
        ("lib/ChangeLog", True, False, False),
        ("changelog.d/12.bugfix", True, False, False),
        (".changeset/red-cats.yaml", True, False, False),
        ("src/history.py", False, False, False),
        ("src/news/feed.py", False, False, False),
        ("lib/a.d.ts", False, True, False),
        ("a.pyi", False, True, False),
        ("lib/url.h", False, False, True),
        ("lib/a.ts", False, False, False),
    ],
)
def test_what_a_file_is(path: str, is_prose: bool, is_declaration: bool, is_header: bool) -> None:
    place = place_of(path)
    assert (place.is_prose, place.is_declaration, place.is_header) == (is_prose, is_declaration, is_header)


def test_words_and_depth_of_a_path() -> None:
    place = place_of("absl/container_types/flat_hash-map.test.h")
    assert place.stem == ("flat", "hash", "map")
    assert place.folder == ("container", "types")
    assert (place.flat_stem, place.depth) == ("flathashmap", 2)
    assert place_of("src/HttpClient.java").stem == ("client", "http")
    assert (place_of("main.go").folder, place_of("main.go").depth) == ((), 0)


@pytest.mark.parametrize("name", ["mod.rs", "__init__.py", "index.ts", "init.lua"])
def test_a_file_that_stands_for_its_folder_is_named_like_it(name: str) -> None:
    place = place_of(f"src/url_routing/{name}")
    assert (place.stem, place.flat_stem) == (("routing", "url"), "urlrouting")


def test_a_file_in_no_folder_keeps_its_name() -> None:
    assert place_of("index.ts").stem == ("index",)
