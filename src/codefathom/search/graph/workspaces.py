"""Manifests of a project → the files that an import of one of its own packages means, and which packages are others'.

Candidates have the form of `imports.py`: paths from the project's root, the likelier first. A manifest is read when an
import of its language asks for it, once. Pure: the texts come from whoever asks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from codefathom.facts import standard_libraries
from codefathom.facts.paths import folders_of
from codefathom.search.graph.imports import rust_files, script_files
from codefathom.search.graph.manifests import (
    Crate,
    PythonProject,
    ScriptPackage,
    ScriptPaths,
    composer_folders,
    crate,
    dart_package,
    path_in,
    python_project,
    requirements,
    script_package,
    script_paths,
    setup_cfg,
    swift_targets,
)
from codefathom.search.graph.python_roots import PythonRoots

GO_MANIFESTS = ("go.mod", "go.work")
_SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx", "vue", "svelte"})
_JVM = frozenset({"kotlin", "scala", "groovy"})
# What an import names there is the whole name of a definition: no other one can be meant.
_BY_WHOLE_NAME = frozenset({"java", "php", "elixir"})
_MOST_MANIFESTS = 20_000  # of one kind; a project with more made them by a program
_MOST_CANDIDATES = 200  # files that one import is compared with
_MOST_CONFIGURATIONS = 30  # that take settings from one another
_MOST_PATTERNS = 300  # with a star, of one package
_MOST_ALIASES = 3  # names that stand for one another
_CONFIGURATION = re.compile(r"(?:tsconfig|jsconfig)(?:\.[\w.-]+)?\.json")
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.(?:txt|in)")
_ENDINGS = (".json", ".toml", ".cfg", ".yaml", "package.swift", ".txt", ".in")  # of manifests, in small letters
_OUTPUT = re.compile(
    r"^(?:dist|build|lib|out|output|esm|cjs|es|types|typings|umd)/(?:(?:esm|cjs|es|src|types|umd|node|browser|lib)/)?"
)
_SCRIPT_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_ELSEWHERE = re.compile(r"(?:file|link|portal):(.*)", re.DOTALL)
_OTHER_NAME = re.compile(r"(?:npm|workspace):(@?[^@]+)@")

_TextsOf = Callable[[Sequence[str]], Iterable[tuple[str, str]]]
_Pattern = tuple[str, str, Sequence[str]]  # what stands before a star, behind it, and the places


class Workspaces:
    """The packages of a project, by what its manifests say; without manifests there are none."""

    def __init__(self, paths: Collection[str] = (), texts_of: _TextsOf = lambda paths: ()) -> None:
        """Take the paths of the project, and what yields some of them with their texts."""
        self._texts_of, self._paths = texts_of, paths
        self._manifests: dict[str, list[str]] = defaultdict(list)
        kinds: dict[str, str] = {}  # by file name
        for path in paths:
            if not path.lower().endswith(_ENDINGS):
                continue
            name = path.rpartition("/")[2]
            kind = kinds[name] if name in kinds else kinds.setdefault(name, _kind_of(name))
            if kind and len(self._manifests[kind]) < _MOST_MANIFESTS:
                self._manifests[kind].append(path)
        self._patterns_of: dict[str, list[tuple[str, Sequence[_Pattern]]]] = {}
        self._bases_of: dict[str, list[str]] = {}

    def candidates(self, name: str, language: str, path: str) -> tuple[str, ...]:
        """Return the files that an import written in the document `path` means by a manifest, likeliest first."""
        files: Iterator[str] = iter(())
        if language in _SCRIPTS:
            files = self._script(re.split(r"[?#]", name)[0] if name[:1] != "#" else name, path, 0)
        elif language == "rust":
            files = self._rust(name, path)
        elif language == "python":
            files = self._python_roots.files(name)
        elif language == "php":
            files = self._php(name)
        elif language == "dart":
            files = self._dart(name)
        return tuple(dict.fromkeys("/" + file.lstrip("/") for file in islice(files, _MOST_CANDIDATES)))

    def is_foreign(self, name: str, language: str, path: str) -> bool:
        """Return True if an import that leads to no document is known to lead outside of the project."""
        if language in _SCRIPTS:
            return self._is_foreign_script(name, path)
        if language == "python":
            first = name.partition(".")[0]
            return bool(first) and (first in standard_libraries.PYTHON or first.lower() in self._python_dependencies)
        if language == "rust":
            first = name.partition("::")[0].strip()
            return first in standard_libraries.RUST or (
                first in self._crate_dependencies and self._crate_name(first, path) not in self._crates_by_name
            )
        if language in _JVM:
            return name.removeprefix("import ").strip().partition(".")[0] in standard_libraries.JVM
        if language == "swift":
            return name in standard_libraries.SWIFT or bool(self.swift_folders)
        return language in _BY_WHOLE_NAME

    def names(self, name: str) -> bool:
        """Return True if an import begins with the name of a package here, so that its file may be called anything."""
        package, _ = _package_name(name)
        if name[:1] == "#" or package in self._scripts_by_name or name in self._whole_paths:
            return True
        first = re.split(r"::|\.", name, maxsplit=1)[0]
        return (
            first in self.swift_folders
            or first in self._crates_by_name
            or first in self._renamed_crates
            or first in self._first_folders
        )

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """What all names begin with for which `names` is true; others can begin so, too."""
        return frozenset(
            (
                *("#", *self._scripts_by_name, *self._whole_paths, *self.swift_folders),
                *(*self._crates_by_name, *self._renamed_crates, *self._first_folders),
            )
        )

    def is_entry(self, path: str) -> bool:
        """Return True for a file that an import of the folder of a script package can mean."""
        return "/" + path in self._entries

    # ---- JavaScript and TypeScript

    def _script(self, name: str, path: str, n_aliases: int) -> Iterator[str]:
        if name.startswith("."):
            folder = path_in(_folder(path), name)
            package = None if folder is None else self._script_packages.get(folder)
            if folder is not None and package is not None:
                yield from _in_package(folder, package, "")
            return
        own = _nearest(self._script_packages, path)
        if name.startswith("#") and own is not None:
            for target in _matching(name, _patterns(self._script_packages[own].imports)):
                if target.startswith("."):
                    yield from _built(own, target)
                elif n_aliases < _MOST_ALIASES:
                    yield from self._script(target, path, n_aliases + 1)
        yield from self._by_paths(name, path)
        package_name, inside = _package_name(name)
        for folder in self._script_folders(package_name, path, own):
            yield from _in_package(folder, self._script_packages[folder], inside)

    def _script_folders(self, name: str, path: str, own: str | None) -> Sequence[str]:
        """Return the folders of the packages of a name, as the package around a file calls it; the nearest first."""
        version = "" if own is None else self._script_packages[own].dependencies.get(name, "")
        place = _ELSEWHERE.match(version)
        folder = path_in(own or "", place[1]) if place else None
        if folder is not None and folder in self._script_packages:
            return [folder]
        other = _OTHER_NAME.match(version)
        folders = self._scripts_by_name.get(other[1] if other else name, ())
        return sorted(folders, key=lambda folder: (-_n_shared(folder, path), folder))

    def _by_paths(self, name: str, path: str) -> Iterator[str]:
        """Yield what the `paths` and `baseUrl` of the configurations around a file say, the nearest first."""
        for folder in folders_of(path):
            for base, patterns in self._configured(folder):
                for target in _matching(name, patterns):
                    place = path_in(base, target)
                    yield from _source_files(place) if place is not None else ()
            for base in self._bases_of.get(folder, ()):
                place = path_in(base, name)
                yield from script_files("/" + place) if place else ()

    def _configured(self, folder: str) -> Sequence[tuple[str, Sequence[_Pattern]]]:
        """Return the patterns that hold in a folder, each with the folder of its places."""
        if folder not in self._patterns_of:
            own = [path for path in self._configurations_in.get(folder, ()) if path in self._configurations]
            patterns, bases = self._patterns_of.setdefault(folder, []), self._bases_of.setdefault(folder, [])
            seen: set[str] = set()
            while own and len(seen) < _MOST_CONFIGURATIONS:
                path = own.pop(0)
                if path in seen:
                    continue
                seen.add(path)
                one = self._configurations[path]
                base = path_in(_folder(path), one.base) if one.base else _folder(path)
                if base is not None:
                    patterns.append((base, _patterns(one.paths)))
                    bases += [base] if one.base else []
                own += [place for other in (*one.above, *one.beside) for place in self._configuration(other, path)]
        return self._patterns_of[folder]

    def _configuration(self, name: str, path: str) -> Sequence[str]:
        """Return the configuration file that another one names: by its path, its folder or in a package."""
        if name.startswith("."):
            places = [path_in(_folder(path), name)]
        else:
            package, inside = _package_name(name)
            places = [path_in(folder, inside or ".") for folder in self._scripts_by_name.get(package, ())]
        files = (file for place in places if place is not None for file in (place, f"{place}.json", _joined(place)))
        return [file for file in files if file in self._configurations][:1]

    def _is_foreign_script(self, name: str, path: str) -> bool:
        if name.startswith((".", "/", "#", "@/", "~")):
            return False
        package, _ = _package_name(name)
        if package in standard_libraries.NODE or re.match(r"(?:node|bun|https?|data):", name):
            return True
        if package in self._scripts_by_name or self._is_mapped(name, path):
            return False
        version = self._script_dependencies.get(package)
        return version is not None and not version.startswith(("workspace:", "file:", "link:", "portal:"))

    def _is_mapped(self, name: str, path: str) -> bool:
        return any(_has(name, own) for folder in folders_of(path) for _, own in self._configured(folder))

    @cached_property
    def _script_packages(self) -> Mapping[str, ScriptPackage]:
        read = ((_folder(path), script_package(text)) for path, text in self._texts("package.json"))
        return {folder: package for folder, package in read if package is not None}

    @cached_property
    def _scripts_by_name(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for folder, package in self._script_packages.items():
            if package.name:
                folders[package.name].append(folder)
        return dict(folders)

    @cached_property
    def _entries(self) -> frozenset[str]:
        packages = self._script_packages.items()
        return frozenset(file for folder, package in packages for file in _in_package(folder, package, ""))

    @cached_property
    def _script_dependencies(self) -> Mapping[str, str]:
        return {name: version for one in self._script_packages.values() for name, version in one.dependencies.items()}

    @cached_property
    def _configurations(self) -> Mapping[str, ScriptPaths]:
        read = ((path, script_paths(text)) for path, text in self._texts("tsconfig.json"))
        return {path: paths for path, paths in read if paths is not None}

    @cached_property
    def _whole_paths(self) -> frozenset[str]:
        return frozenset(name for one in self._configurations.values() for name in one.paths if "*" not in name)

    @cached_property
    def _configurations_in(self) -> Mapping[str, Sequence[str]]:
        """The configurations that count for the files around them: those with the usual name before all others."""
        folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._manifests["tsconfig.json"], key=lambda path: (path.count("."), path)):
            folders[_folder(path)].append(path)
        return dict(folders)

    # ---- Rust

    def _rust(self, name: str, path: str) -> Iterator[str]:
        parts = [part.strip() for part in re.sub(r"\s+as\s+\w+$", "", name).split("::") if part.strip(" *")]
        own = _nearest(self._crates, path)
        if not parts or own is None or parts[0] in ("self", "super"):
            return
        if parts[0] == "crate":
            root = path_in(own, self._crates[own].root) if self._crates[own].root else None
            folders = [own] if root and path.startswith(_folder(root) + "/" * bool(_folder(root))) else []
        else:
            folders = list(self._crates_by_name.get(self._crate_name(parts[0], path), ()))
        for folder in sorted(folders, key=lambda folder: (-_n_shared(folder, path), folder)):
            root = path_in(folder, self._crates[folder].root or "src/lib.rs")
            if root is not None:
                start = "/" + _folder(root) + "/" * bool(_folder(root))
                yield from (file for file in rust_files(start, parts[1:]) if not _is_crate_root(file, start))
                yield "/" + root

    def _crate_name(self, name: str, path: str) -> str:
        """Return the name of a package that a file has under a name of its own."""
        for folder in folders_of(path):
            manifest = self._crates.get(folder)
            if manifest is not None and name in manifest.renamed:
                return manifest.renamed[name]
        return name

    @cached_property
    def _crates(self) -> Mapping[str, Crate]:
        read = ((_folder(path), crate(text)) for path, text in self._texts("cargo.toml"))
        return {folder: manifest for folder, manifest in read if manifest is not None}

    @cached_property
    def _crates_by_name(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for folder, manifest in self._crates.items():
            if manifest.name:
                folders[manifest.name].append(folder)
        return dict(folders)

    @cached_property
    def _renamed_crates(self) -> frozenset[str]:
        return frozenset(name for manifest in self._crates.values() for name in manifest.renamed)

    @cached_property
    def _crate_dependencies(self) -> frozenset[str]:
        return frozenset().union(*(manifest.dependencies for manifest in self._crates.values()))

    # ---- Swift

    @cached_property
    def swift_folders(self) -> Mapping[str, Sequence[str]]:
        """The folders in which the files of a target of each name can lie, by all Package.swift files."""
        folders: dict[str, list[str]] = defaultdict(list)
        for path, text in self._texts("package.swift"):
            for name, places in swift_targets(text).items():
                own = (path_in(_folder(path), place) for place in places)
                folders[name] += [folder for folder in own if folder]
        return dict(folders)

    # ---- Python, PHP, Dart

    @cached_property
    def _python_roots(self) -> PythonRoots:
        return PythonRoots(self._python_folders, self._paths)

    @cached_property
    def _python_projects(self) -> Sequence[tuple[str, PythonProject]]:
        readers = {"pyproject.toml": python_project, "setup.cfg": setup_cfg, "requirements.txt": requirements}
        return [(_folder(path), read(text)) for kind, read in readers.items() for path, text in self._texts(kind)]

    @cached_property
    def _python_folders(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for root, project in self._python_projects:
            for name, place in project.folders.items():
                folder = path_in(root, place or ".")
                folders[name] += [folder] if folder is not None else []
        return dict(folders)

    @cached_property
    def _first_folders(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self._python_folders if name)

    @cached_property
    def _python_dependencies(self) -> frozenset[str]:
        return frozenset().union(*(project.dependencies for _, project in self._python_projects))

    def _php(self, name: str) -> Iterator[str]:
        clean = re.sub(r"^\s*(?:use\s+)?(?:(?:function|const)\s+)?|\s+as\s+\w+$", "", name).strip("\\; ")
        parts = clean.split("\\")
        for end in range(len(parts), -1, -1):
            for folder in self._php_folders.get("\\".join(parts[:end]), ()):
                yield "/" + "/".join([part for part in (folder, *parts[end:]) if part]) + ".php"

    @cached_property
    def _php_folders(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for path, text in self._texts("composer.json"):
            for name, places in composer_folders(text).items():
                own = (path_in(_folder(path), place or ".") for place in places)
                folders[name] += [folder for folder in own if folder is not None]
        return dict(folders)

    def _dart(self, name: str) -> Iterator[str]:
        package, _, inside = name.removeprefix("package:").partition("/")
        if name.startswith("package:") and inside:
            for folder in self._dart_folders.get(package, ()):
                yield "/" + _joined(folder, f"lib/{inside}")

    @cached_property
    def _dart_folders(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for path, text in self._texts("pubspec.yaml"):
            folders[dart_package(text)].append(_folder(path))
        return dict(folders)

    def _texts(self, kind: str) -> Iterable[tuple[str, str]]:
        """Return the manifests of a kind with their texts."""
        return self._texts_of(self._manifests[kind]) if self._manifests[kind] else ()


def _kind_of(name: str) -> str:
    """Return the kind of a manifest by the name of the file; "" for another file."""
    lower = name.lower()
    if lower in (
        "package.json",
        "cargo.toml",
        "pyproject.toml",
        "setup.cfg",
        "composer.json",
        "pubspec.yaml",
        "package.swift",
    ):
        return lower
    if _CONFIGURATION.fullmatch(lower):
        return "tsconfig.json"
    return "requirements.txt" if _REQUIREMENTS.fullmatch(lower) else ""


def is_manifest(path: str) -> bool:
    """Return True for a file that can decide which documents the imports of others mean."""
    name = path.rpartition("/")[2]
    return name in GO_MANIFESTS or bool(_kind_of(name))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _joined(folder: str, name: str = "tsconfig.json") -> str:
    return f"{folder}/{name}" if folder else name


def _nearest(folders: Mapping[str, object], path: str) -> str | None:
    return next((folder for folder in folders_of(path) if folder in folders), None)


def _n_shared(folder: str, path: str) -> int:
    """Return the number of folders that a folder and a file have in common."""
    pairs = zip(folder.split("/"), path.split("/"), strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), folder.count("/") + 1)


# ---- JavaScript


def _package_name(name: str) -> tuple[str, str]:
    """Return the name of a package, and what stands behind it."""
    parts = name.split("/")
    n = 2 if name.startswith("@") else 1
    return "/".join(parts[:n]), "/".join(parts[n:])


def _patterns(table: Mapping[str, Sequence[str]]) -> Sequence[_Pattern]:
    """Return whole names first, then those with a star, of which the longest beginning counts first."""
    split = [(name.partition("*"), targets) for name, targets in table.items()]
    whole = [(before, "", targets) for (before, star, _), targets in split if not star]
    starred = [(before, "*" + behind, targets) for (before, star, behind), targets in split if star]
    return [*whole, *sorted(starred, key=lambda item: -len(item[0]))[:_MOST_PATTERNS]]


def _matching(name: str, patterns: Sequence[_Pattern]) -> Iterator[str]:
    """Yield the places of a name, with what a star stands for put in."""
    for before, behind, targets in patterns:
        if _fits(name, before, behind):
            inner = name[len(before) : len(name) - len(behind) + 1] if behind else ""
            yield from (target.replace("*", inner) for target in targets)


def _fits(name: str, before: str, behind: str) -> bool:
    """Return True if a name is a whole one, or has a beginning and an end around a star."""
    if not behind:
        return name == before
    is_long = len(name) >= len(before) + len(behind) - 1
    return is_long and name.startswith(before) and name.endswith(behind[1:])


def _has(name: str, patterns: Sequence[_Pattern]) -> bool:
    """Return True if a pattern that is not a mere star fits a name."""
    return any(before and _fits(name, before, behind) for before, behind, _ in patterns)


def _in_package(folder: str, package: ScriptPackage, inside: str) -> Iterator[str]:
    """Yield the files of a package, or of a part of it."""
    name = f"./{inside}" if inside else "."
    for target in _matching(name, _patterns(package.exports)):
        yield from _built(folder, target)
    if not inside:
        for entry in package.entries:
            yield from _built(folder, entry)
    part = inside or "index"
    for place in (f"src/{part}", part, f"lib/{part}", *([] if inside else ["src/main"])):
        yield from script_files("/" + _joined(folder, place))


def _built(folder: str, target: str) -> Iterator[str]:
    """Yield a file of a package; of one that is built, also the source from which it most likely is."""
    plain = path_in("", target)
    if plain is None or path_in(folder, plain) is None:
        return
    yield from _source_files(_joined(folder, plain))
    source = _OUTPUT.sub("", plain)
    if source != plain:
        body = _SCRIPT_ENDING.sub("", source)
        yield from script_files("/" + _joined(folder, f"src/{body}"))
        yield from script_files("/" + _joined(folder, body))


def _source_files(place: str) -> Iterator[str]:
    if _SCRIPT_ENDING.search(place):
        yield "/" + place
    yield from script_files("/" + place)


def _is_crate_root(file: str, start: str) -> bool:
    return file.removeprefix(start) in ("lib.rs", "mod.rs", "main.rs") or file == start.rstrip("/") + ".rs"
