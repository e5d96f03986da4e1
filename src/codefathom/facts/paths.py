"""Facts that the path of a file tells: test, prose, written by a tool, vendored, stands for its folder. Pure.

Names that belong to one language stand in its row of `facts/languages.py`; here is what all languages share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from codefathom.facts.languages import CODE, FILE_ENDINGS, LANGUAGES, PROSE, TEXT, language_of

# Expressions are strings: most commands need few of them, and a start-up should not wait for their compilation.

# ---- tests and examples

_TEST_FOLDER = "tests?|__tests__|specs?"
_EXAMPLE_FOLDER = "fixtures?|examples?|samples?|demos?|benchmarks?|docs?_src"
_CAMEL_TEST = "Test|Tests|Spec|Suite|[A-Za-z0-9]TestCase"
_TEST_PATH = (
    rf"(?i)(?-i:^t/)|(?:^|/)(?:{_TEST_FOLDER}|testdata)/|(?:^|/)test_[^/]*$|[_.-](?:tests?|spec)\.[^/]*$"
    rf"|(?-i:(?:{_CAMEL_TEST})\.[a-z]+$)"
)
_NAME_WITH_TESTS = rf"^test_.*\.[a-z]+$|[_.-](?:test|spec|tests(?!\.py))\.[^.]+$|(?:{_CAMEL_TEST})\.[a-z]+$"
# In these folders any code is a test but what tests share; Python's are known by their names.
_FOLDER_WITH_TESTS = rf"(?:^|/)(?:{_TEST_FOLDER}|t)/(?:.*/)?(?!(?:mod|index|helpers?|utils?|setup)\.)[^/]+(?<!\.py)$"
# What runners load before the tests; in Python `test_helper.py` has the tests of a helper.
_LOADED_BEFORE_TESTS = r"^conftest\.py$|^(?:spec|rails|test)_helper\.(?:rb|exs)$|^(?:TestCase|Pest|bootstrap)\.php$"
_DATA_OF_TESTS = r"(?:^|/)(?:fixtures?|testdata|data|snapshots|__snapshots__|__fixtures__|support|samples?)/"


def folders_of(path: str) -> Iterator[str]:
    """Yield all folders around a file, the innermost first, "" as the last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


@lru_cache(maxsize=16_384)  # a filter asks for each chunk of a file
def is_test(path: str) -> bool:
    """Return True for files with tests, for their data and for what they share."""
    return re.search(_TEST_PATH, path) is not None or _is_named_as_test(path) or has_tests(path)


@lru_cache(maxsize=16_384)
def has_tests(path: str) -> bool:
    """Return True for a file of code with tests in it; no examples, no data of tests, nothing that tests share."""
    language = language_of(path)
    if language not in CODE or not LANGUAGES[language].has_tests or re.search(_DATA_OF_TESTS, path):
        return False
    name = path.rpartition("/")[2]
    if re.search(_LOADED_BEFORE_TESTS, name):
        return False
    return (
        re.search(_NAME_WITH_TESTS, name) is not None
        or _is_named_as_test(path)
        or re.search(_FOLDER_WITH_TESTS, path) is not None
    )


def _is_named_as_test(path: str) -> bool:
    """Return True if the language of a file has tests by this name."""
    tests = LANGUAGES[language_of(path)].tests
    return bool(tests) and re.fullmatch(tests, path.rpartition("/")[2]) is not None


# What the weights of the ranking were learned with (`training/ranking.py`): another set would need other weights.
_LEARNED_TEST = (
    rf"^t/|(?:^|/)(?:{_TEST_FOLDER}|testing|testdata|{_EXAMPLE_FOLDER})/"
    r"|(?:^|/)test_[^/]*$|[_.-](?:test|tests|spec)\.[^/]*$|(?:^|/)[^/]*(?:Test|Tests|Spec|Suite)\.[a-z]+$"
)


def ranks_as_test(path: str) -> bool:
    """Return True for tests and examples as the ranking learned them: fewer tests than `is_test`, and examples."""
    return re.search(_LEARNED_TEST, path) is not None


# ---- prose

_CHANGES = (
    r"(?:^|/)(?:changes|change_?log|history|news|authors|contributors|release[_-]?notes)$"
    r"|(?:^|/)(?:changelog\.d|changelogs|\.changes(?:et)?|newsfragments)/"
)
_DOCUMENTATION = r"(?:^|/)doxyfile$|(?:^|/)(?:(?:api|java|ya?r?)?docs?|apidocs?|documentation)/(?:.*/)?[^/]*\.html?$"


def is_prose(path: str) -> bool:
    """Return True for a text for people: by the language of its ending, by its name, or by its folder."""
    language = language_of(path)
    is_named = language != TEXT or path.lower().endswith(_ends_of(TEXT))
    return (is_named and language in PROSE) or re.search(rf"(?i){_CHANGES}|{_DOCUMENTATION}", path) is not None


# What the weights were learned with, as above; documents whose text is taken out of them came later.
_LEARNED_ENDS = tuple(f".{ending}" for ending in ("md", "mdx", "rst", "txt", "adoc", "markdown"))


def ranks_as_prose(path: str) -> bool:
    """Return True for prose as the ranking learned it: also pages of a documentation, but not LaTeX, Org and Typst."""
    folded = path.lower()
    return folded.endswith((*_LEARNED_ENDS, *_ENDS_OF_PROSE_DOCUMENTS)) or (
        re.search(rf"(?i){_CHANGES}|{_DOCUMENTATION}", path) is not None
    )


def _ends_of(language: str) -> tuple[str, ...]:
    return tuple(f".{ending}" for ending in LANGUAGES[language].endings.split())


_ENDS_OF_PROSE_DOCUMENTS = tuple(
    end for name in sorted(PROSE) if LANGUAGES[name].extraction is not None for end in _ends_of(name)
)

# ---- copies, declarations, data

# Code for older versions, and one file made of all the others.
LEGACY = r"(?:^|/)(_?compat|legacy|deprecated|obsolete|old|attic|single_include|amalgamated)/"
VERSION = r"(?:^|/)v(\d{1,3})(?=/)"
# Translations and recorded results lie in such a folder, and others are known by their ending.
DATA = (
    r"(?i)(?:^|/)(locales?|i18n|l10n|(?:\w+-)?translations?|langs?|languages|golden|snapshots|__snapshots__|cassettes)/"
    r"(?:.*/)?[^/]*\.(?:json|ya?ml|toml|properties|php|js|ts|xml|strings|ini|snap|txt|csv|tr|arb|ftl|nsh)$"
    r"|(?:^|/)(?:res/(values(?:-[\w+-]+)?)/[^/]*\.xml|([\w-]+\.lproj)/[^/]*\.strings(?:dict)?)$"  # Android; Apple
    r"|\.(csv|tsv|pot?|xliff|xlf|resx|snap|geojson|ndjson|jsonl|svg)$"
)
# A module's arguments and results, beside the files that make what they are about.
_INTERFACES_OF_MODULES = {
    f"{name}{ending}" for name in ("variables", "outputs") for ending in (".tf", ".hcl", ".pkr.tf", ".pkr.hcl")
}


def is_declaration(path: str) -> bool:
    """Return True for a file that only declares what is defined elsewhere."""
    return path.endswith((".d.ts", ".d.cts", ".d.mts", ".pyi"))


def is_interface_of_module(path: str) -> bool:
    """Return True for a file of Terraform or Packer that only names what goes into a module and comes out."""
    return path.rpartition("/")[2] in _INTERFACES_OF_MODULES


def is_header(path: str) -> bool:
    """Return True for a header of C or C++."""
    return path.endswith((".h", ".hh", ".hpp", ".hxx"))


# ---- files that stand for others

BARRELS = frozenset(("__init__", "index", "mod", "init"))
# An import need not name these; they have names of their own and do not stand for their folder.
_ROOTS = BARRELS | {"lib", "main", "root"}


def stands_for_folder(path: str) -> bool:
    """Return True for a barrel: a file that stands for its folder, such as `__init__.py` and `mod.rs`."""
    return _stem(path) in BARRELS


def may_go_unnamed(path: str) -> bool:
    """Return True for a file that an import of its folder or package means without its name."""
    return _stem(path) in _ROOTS


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def opens_module(name: str) -> bool:
    """Return True for a file name that readers open first of a folder, in languages with such a custom."""
    return re.fullmatch(r"__init__\.py|mod\.rs|lib\.rs|index\.[jt]sx?|doc\.go", name) is not None


def starts_program(name: str) -> bool:
    """Return True for a file name by which the entry of a program is known."""
    entry = (
        r"(?i)(?:__main__|manage|wsgi|asgi)\.py|(?:main|cli|app|server|index)\.\w+"
        r"|program\.cs|lib\.rs|.*application\.(?:java|kt)"
    )
    return re.fullmatch(entry, name) is not None


def describes_package(name: str) -> bool:
    """Return True for a file name that says what a package is and needs."""
    package = (
        r"(?i)pyproject\.toml|setup\.(?:py|cfg)|package\.json|cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?"
        r"|composer\.json|mix\.exs|package\.swift|build\.sbt|build\.zig|cmakelists\.txt"
        r"|.*\.(?:gemspec|csproj|cabal|nimble|opam)"
    )
    return re.fullmatch(package, name) is not None


# Words that name a file without an ending; in a text the second ones are usually words.
PROGRAM_FILES = frozenset(("Makefile", "Dockerfile", "Rakefile", "Gemfile", "Jenkinsfile"))
FILE_NAMES = PROGRAM_FILES | {"LICENSE", "README", "BUILD", ".gitignore"}


def is_named_as_file(path: str) -> bool:
    """Return True if the ending says that a word or path is a file: `x.py` is one, and `app.map` need not be."""
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    return bool(stem and dot) and ending.lower() in FILE_ENDINGS


# ---- what tools write, and code of others

_BUILD_FILE_NAMES = """
    package.json setup.py setup.cfg pyproject.toml Cargo.toml pom.xml build.gradle build.gradle.kts build.sbt
    CMakeLists.txt meson.build build.xml mix.exs rebar.config Package.swift stack.yaml project.clj deps.edn
    pubspec.yaml composer.json dune-project build.zig
"""
BUILD_FILES = frozenset(_BUILD_FILE_NAMES.split())
_LOCK_FILE_NAMES = """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock cargo.lock poetry.lock pdm.lock
    uv.lock pipfile.lock pixi.lock conda-lock.yml composer.lock gemfile.lock go.sum go.work.sum flake.lock mix.lock
    package.resolved podfile.lock gradle.lockfile packages.lock.json project.assets.json pubspec.lock rebar.lock
    stack.yaml.lock cabal.project.freeze .terraform.lock.hcl module.bazel.lock
"""
LOCK_FILES = frozenset(_LOCK_FILE_NAMES.split())  # in small letters; package managers write them
# What package managers write; listed as skipped, whatever rule leaves them out.
PACKAGE_FOLDERS = frozenset({"node_modules", "bower_components", "jspm_packages"})
# Folders of code that others wrote, in small letters.
VENDOR_NAMES = frozenset({"vendor", "vendored", "third_party", "third-party", "thirdparty", "3rdparty", "external"})
_VERSIONED_NAME = r"(?:[-.]v?\d+\.\d+(?:\.\d+)?|[.-]min)(?:[-.](?:min|slim|bundle))*\.(?:js|css)$"


def may_be_vendored(path: str) -> bool:
    """Return True for a script or style sheet with a version in its name, or in a folder of code of others."""
    folders = path.lower().split("/")[:-1]
    return re.search(_VERSIONED_NAME, path.rpartition("/")[2].lower()) is not None or not (
        (VENDOR_NAMES | PACKAGE_FOLDERS).isdisjoint(folders)
    )
