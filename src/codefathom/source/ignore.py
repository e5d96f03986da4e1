"""Which paths are left out: gitignore patterns in layers, the last match wins. Pure.

Layers, weakest first: built-in directories, the user's `core.excludesFile`, `.git/info/exclude`, every directory's
`.gitignore`, every directory's `.serveignore` and `.fathomignore`, the settings, the command line. A directory that is
left out is not entered, so nothing in it can be brought back by its own layer; a stronger layer can, when it names a
path below it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from codefathom.facts.paths import BUILD_FILES, VENDOR_NAMES
from codefathom.facts.reasons import CACHE, VENDORED, VIRTUAL_ENVIRONMENT
from codefathom.source.globs import Globs, IgnoreRule, as_bytes, literal_start, parse_line

BUILT_IN, USER_EXCLUDE, GIT_EXCLUDE, GITIGNORE, OWN_IGNORE, SETTINGS, COMMAND_LINE = range(7)
NO_RULE, BROUGHT_BACK = -1, -2  # what `decide` says of an entry that is kept

# Weaker first: our own file has the last word in its directory.
IGNORE_FILES = {".gitignore": GITIGNORE, ".serveignore": OWN_IGNORE, ".fathomignore": OWN_IGNORE}

# The repository's and our own data base: no rule brings them back.
NEVER = frozenset({".git", ".fathom"})

# Names that only tools write. `.github`, `.vscode`, `bin`, `lib`, `env` and the like hold hand-written files and are
# not here; vendored code, caches and virtual environments of other names are known by what lies in them: `mark`.
BUILT_IN_PATTERNS = (
    *(".hg/", ".svn/", ".bzr/", ".jj/", "_darcs/", "CVS/"),
    *("node_modules/", "bower_components/", "jspm_packages/", ".yarn/", ".pnpm-store/"),
    *(".next/", ".nuxt/", ".umi/", ".umi-production/", ".svelte-kit/", ".parcel-cache/", ".turbo/", ".angular/"),
    *("__pycache__/", ".venv/", "venv/", ".tox/", ".nox/", ".eggs/", "*.egg-info/", "site-packages/", "htmlcov/"),
    *(".mypy_cache/", ".pytest_cache/", ".ruff_cache/", ".hypothesis/", ".ipynb_checkpoints/"),
    *(".gradle/", ".idea/", ".vs/", ".dart_tool/", ".terraform/", ".bloop/", ".metals/", ".stack-work/"),
    *("dist-newstyle/", ".zig-cache/", "zig-cache/", "zig-out/", "DerivedData/", ".elixir_ls/", ".bundle/"),
    *(".cache/", ".sass-cache/", ".nyc_output/"),
)

# Names that build tools write and people use as well (Go's standard library has a `go/build`): taken for output only
# at the project's root or beside a file that drives a build, and then listed as skipped.
OUTPUT_NAMES = frozenset({"build", "dist", "target", "out", "_build", ".build", "coverage"})
# At the root of a project these hold nothing else.
_VENDOR_FOLDERS = VENDOR_NAMES - {"external"}
_VENDORED_BY = {
    "vendor": frozenset({"modules.txt", "autoload.php"}),  # Go, Composer
    "Pods": frozenset({"Manifest.lock"}),
    "_vendor": frozenset({"vendor.txt"}),  # pip, setuptools
}
_MARKS = {
    "pyvenv.cfg": VIRTUAL_ENVIRONMENT,
    "CACHEDIR.TAG": CACHE,
    ".cargo-checksum.json": VENDORED,
    ".hex": VENDORED,  # a package of Elixir or Erlang
}
_LICENCES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")


class Patterns:
    """The lines of one ignore file, compiled. They are relative to the directory of that file."""

    __slots__ = ("_reach", "directories", "files")

    def __init__(self, lines: Iterable[str]) -> None:
        parsed = (parse_line(line) for line in lines)
        # The code of a rule grows with its line; an odd one is negated.
        rules = [(2 * index + rule.negated, rule) for index, rule in enumerate(parsed) if rule and rule.body]
        self.directories = Globs(rules)
        self.files = Globs([(code, rule) for code, rule in rules if not rule.only_directories])
        self._reach = tuple(_reach(rule) for _, rule in rules if rule.negated and not rule.by_name)

    def reaches_below(self, directory: str) -> bool:
        """Return True if a negated pattern names a path below `directory`, which ends with a slash."""
        return any(
            start.startswith(directory) or (is_glob and "/" in start and directory.startswith(start))
            for start, is_glob in self._reach
        )


def _reach(rule: IgnoreRule) -> tuple[str, bool]:
    start = literal_start(rule.body)
    return start, start != rule.body


class Layer(NamedTuple):
    """Patterns, their strength, and the directory they are relative to."""

    rank: int
    patterns: Patterns
    base: str = ""  # directory of the ignore file, relative to the root: "" or ends with "/"
    above: str = ""  # for an ignore file above the root: the path from there to the root, ends with "/"

    def relative(self, directory: str) -> str:
        """Write `directory` as the patterns see it."""
        return as_bytes(self.above + directory[len(self.base) :]) if self.above or self.base else as_bytes(directory)


Layers = tuple[Layer, ...]  # strongest first


def add_layer(layers: Layers, layer: Layer) -> Layers:
    """Put a layer before all that are not stronger: a deeper ignore file beats one above it."""
    position = next((index for index, other in enumerate(layers) if other.rank <= layer.rank), len(layers))
    return (*layers[:position], layer, *layers[position:])


def decide(layers: Layers, directory: str, names: Collection[str], *, are_directories: bool) -> dict[str, int]:
    """Give, for each name that a rule speaks of, BROUGHT_BACK or the rank of the layer that leaves it out.

    `directory` is where the names lie, relative to the root: "" or with a slash at its end. Pass only the layers that
    are stronger than the one that left `directory` out, if one did.
    """
    plain = set(names)
    written: dict[str, str] = {}
    if not "".join(plain).isascii():
        written = {as_bytes(name): name for name in plain}
        plain = set(written)
    decisions: dict[str, int] = {}
    for layer in reversed(layers):  # weakest first, so that stronger ones write over it
        globs = layer.patterns.directories if are_directories else layer.patterns.files
        if globs.is_empty:
            continue
        for name, code in globs.matches(plain, layer.relative(directory)).items():
            decisions[written.get(name, name)] = BROUGHT_BACK if code & 1 else layer.rank
    for name in NEVER & plain:
        decisions[name] = COMMAND_LINE
    return decisions


def stronger_than(layers: Layers, rank: int) -> Layers:
    """Leave out the layers up to this rank."""
    return layers if rank < 0 else tuple(layer for layer in layers if layer.rank > rank)


def may_enter(layers: Layers, directory: str, rank: int) -> bool:
    """Return True if a layer stronger than `rank`, which left `directory` out, brings back something below it."""
    return any(layer.rank > rank and layer.patterns.reaches_below(layer.relative(directory)) for layer in layers)


def is_output(name: str, siblings: Collection[str], at_root: bool) -> bool:
    """Return True if a directory with this name, beside these entries, holds the output of a build."""
    return name in OUTPUT_NAMES and (at_root or not BUILD_FILES.isdisjoint(siblings))


def mark(directory: str, names: Collection[str]) -> str:
    """Return the kind of note that says why a directory with these entries is left out, or "" for source."""
    if marks := _MARKS.keys() & names:
        return _MARKS[min(marks)]
    parents, _, name = directory.rstrip("/").rpartition("/")
    if not parents and name.lower() in _VENDOR_FOLDERS:
        return VENDORED
    if name in _VENDORED_BY and not _VENDORED_BY[name].isdisjoint(names):
        return VENDORED
    if parents.lower() not in VENDOR_NAMES:
        return ""
    # Only at the top: code that was copied to a place like src/vendor/ is read and changed like any other.
    has_licence = any(other.upper().startswith(_LICENCES) for other in names)
    return VENDORED if has_licence else ""


def changes_rules(name: str) -> bool:
    """Return True if a file of this name can decide what is read of its folder, or of the folders beside it."""
    return name in _NAMES_WITH_RULES or name.upper().startswith(_LICENCES)


_NAMES_WITH_RULES = frozenset({*IGNORE_FILES, *_MARKS, *BUILD_FILES}).union(*_VENDORED_BY.values())
