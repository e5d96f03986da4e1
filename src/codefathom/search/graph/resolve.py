"""Import names → the documents of a project. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property

from codefathom.facts.languages import LANGUAGES
from codefathom.facts.paths import folders_of, may_go_unnamed
from codefathom.search.graph.imports import import_candidates, plain_name, written_out
from codefathom.search.graph.workspaces import Workspaces
from codefathom.text.file_stems import flattened


def family(language: str) -> str:
    """Return the common name of languages whose files import and call one another."""
    return (LANGUAGES[language].family or language) if language in LANGUAGES else language


@cache
def languages_of(own: str) -> frozenset[str]:
    """Return the languages of a family, by its name."""
    return frozenset({own, *(name for name in LANGUAGES if family(name) == own)})


_MANY_OF_A_NAME = 50  # documents; fewer are all looked at
# Here `super::x`, or a folder above, means a file whose name does not stand in the import.
_BY_PLACE_ALONE = frozenset({"rust", "hcl"})
_WORD = re.compile(r"\w+")


class Resolver:
    """The paths of a project, arranged for finding files by the end of their path."""

    def __init__(
        self,
        documents: Iterable[tuple[str, str]],
        go_modules: Mapping[str, str] | None = None,
        workspaces: Workspaces | None = None,
    ) -> None:
        """Take (path, language) of each document, the folder of each Go module by the module's name, and manifests."""
        self.language_of = dict(documents)
        self._workspaces = workspaces or Workspaces()
        self._go_modules = dict(sorted((go_modules or {}).items(), key=lambda item: -len(item[0])))
        self._by_folder_and_name: dict[str, Mapping[str, Sequence[str]]] = {}  # by name, then by the folder around it

    def resolve(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents that an import in the document `path` means; none when it leads outside."""
        language = self.language_of.get(path, "")
        if language == "go":
            return tuple(self._first(self._go_packages(name, path), path))
        if language == "swift":
            return self._swift_module(name, path)
        documents: dict[str, None] = {}
        for one in written_out(name):
            own = self._workspaces.candidates(plain_name(one), language, path)
            place = next((file for file in own if file[1:] in self.language_of), None)
            if place is None and not self._is_other_package(one, language, path):
                documents.update(dict.fromkeys(self._first(import_candidates(one, language, path), path)))
            elif place is not None and place[1:] != path:
                documents[place[1:]] = None
        return tuple(documents)

    def of_module(self, path: str) -> tuple[str, ...]:
        """Return the documents of the Swift target around a document, itself among them; none without a target."""
        return next((self._swift_files[folder] for folder in folders_of(path) if folder in self._swift_files), ())

    def _swift_module(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents of the target of a name; of several packages with one, of the nearest."""
        folders = self._workspaces.swift_folders.get(name.partition(".")[0], ())
        files = {self._swift_files[folder][0]: folder for folder in folders if folder in self._swift_files}
        if not files or path in self._swift_files[folder := files[self.nearest(files, path)]]:
            return ()
        return self._swift_files[folder]

    @cached_property
    def _swift_files(self) -> Mapping[str, tuple[str, ...]]:
        """The documents of each Swift target, by its folder; a target in the folder of another one has its own."""
        folders = {folder for places in self._workspaces.swift_folders.values() for folder in places}
        files: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.language_of) if folders else ():
            if self.language_of[path] == "swift":
                around = next((folder for folder in folders_of(path) if folder in folders), None)
                if around is not None:
                    files[around].append(path)
        return {folder: tuple(own) for folder, own in files.items()}

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        """The documents by the names of their files, in order."""
        paths: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.language_of):
            paths[path.rpartition("/")[2]].append(path)
        return dict(paths)

    @cached_property
    def _in_folder(self) -> Mapping[str, Sequence[str]]:
        """The documents by their folders, in order."""
        paths: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.language_of):
            paths[path.rpartition("/")[0]].append(path)
        return dict(paths)

    @cached_property
    def _folders_by_name(self) -> Mapping[str, Sequence[str]]:
        folders: dict[str, list[str]] = defaultdict(list)
        for folder in self._in_folder:
            folders[folder.rpartition("/")[2]].append(folder)
        return dict(folders)

    def _is_other_package(self, name: str, language: str, path: str) -> bool:
        """Return True for a package of others by its name, which a folder here may have, too."""
        is_script = family(language) == "javascript"
        return is_script and self._workspaces.is_foreign(plain_name(name), language, path)

    def is_foreign(self, name: str, path: str) -> bool:
        """Return True if an import that means no document is known to lead outside of the project."""
        language = self.language_of.get(path, "")
        if language == "go":
            return not self._go_packages(name, path) if self._go_modules else "." not in name.partition("/")[0]
        return all(self._workspaces.is_foreign(plain_name(one), language, path) for one in written_out(name))

    def may_mean(self, name: str, target: str) -> bool:
        """Return True if an import name could lead to the target; cheap, so that few names must be resolved."""
        folder, _, file_name = target.rpartition("/")
        stem = file_name.partition(".")[0]
        written = flattened(name)
        if may_go_unnamed(target) or not stem or flattened(stem) in written:
            return True
        return (bool(folder) and flattened(folder.rpartition("/")[2]) in written) or self.is_of_package(name)

    def is_of_package(self, name: str) -> bool:
        """Return True if an import names a package of the project, so that its file may be called anything."""
        return self._workspaces.names(name)

    @property
    def package_names(self) -> AbstractSet[str]:
        """The beginnings of the imports for which `is_of_package` is true, and perhaps of others."""
        return self._workspaces.beginnings

    def may_lead(self, name: str, path: str, targets: AbstractSet[str]) -> bool:
        """Return True if an import in the document `path` can mean one of some documents, which need not be there.

        Those are not looked at that imports can mean silently, or without their names.
        """
        language = self.language_of.get(path, "")
        if language == "python":
            return has_stem(name, targets)
        if language == "go":
            return any(_is_at(target, candidate) for candidate in self._go_packages(name, path) for target in targets)
        for one in written_out(name):
            plain = plain_name(one)
            own = self._workspaces.candidates(plain, language, path)
            for candidate in (*own, *import_candidates(one, language, path)):
                if any(_is_at(target, candidate) for target in targets):
                    return True
        return False

    def is_meant_silently(self, target: str, language: str = "") -> bool:
        """Return True if imports of its own language can mean a document though `may_mean` does not see it.

        The language is that of a document which is gone.
        """
        language = language or self.language_of.get(target, "")
        if language == "go":
            return target.rpartition("/")[0] in self._go_modules.values()
        return language in _BY_PLACE_ALONE or self._workspaces.is_entry(target)

    def nearest(self, paths: Iterable[str], path: str) -> str:
        """Return `path` itself, else the one with most folders in common; of equals the shortest, then the first."""
        parts = path.split("/")[:-1]
        return min(
            paths, key=lambda other: (other != path, -_shared(parts, other.split("/")[:-1]), other.count("/"), other)
        )

    def _go_packages(self, name: str, path: str) -> tuple[str, ...]:
        """Return the folder under a module of the project; without any module guess, but never the root."""
        if not self._go_modules or name.startswith("."):
            return tuple(candidate for candidate in import_candidates(name, "go", path) if candidate != "/")
        for module, folder in self._go_modules.items():
            if name == module or name.startswith(module + "/"):
                inside = "/".join(part for part in (folder, name[len(module) + 1 :]) if part)
                return (f"/{inside}/" if inside else "/",)
        return ()

    def _first(self, candidates: Iterable[str], path: str) -> list[str]:
        for candidate in candidates:
            documents = self._at(candidate, path)
            if documents:
                return [other for other in documents if other != path]
        return []

    def _at(self, candidate: str, path: str) -> list[str]:
        if candidate.endswith("/"):
            return self._files_of(candidate, path)
        if candidate.startswith("/"):
            return [candidate[1:]] if candidate[1:] in self.language_of else []
        documents = [
            other
            for other in self._with_end(candidate)
            if (other == candidate or other.endswith("/" + candidate)) and self._is_root(other, candidate)
        ]
        return [self.nearest(documents, path)] if documents else []

    def _with_end(self, candidate: str) -> Sequence[str]:
        """Return the documents that may end so, in order: those whose name, and the folder around it, are the same."""
        front, _, name = candidate.rpartition("/")
        paths = self._by_name.get(name, ())
        if not front or len(paths) < _MANY_OF_A_NAME:
            return paths
        # Half of the imports of Python ask for an `__init__.py`, of which there are thousands.
        if name not in self._by_folder_and_name:
            by_folder: dict[str, list[str]] = defaultdict(list)
            for path in paths:
                by_folder[path.rpartition("/")[0].rpartition("/")[2]].append(path)
            self._by_folder_and_name[name] = by_folder
        return self._by_folder_and_name[name].get(front.rpartition("/")[2], ())

    def _is_root(self, path: str, candidate: str) -> bool:
        """Return True if an absolute import can begin here: in Python outside packages, so that `os` is not x/os.py."""
        folder = path[: len(path) - len(candidate)].rstrip("/")
        return not candidate.endswith((".py", ".pyi")) or f"{folder}/__init__.py" not in self.language_of

    def _files_of(self, candidate: str, path: str) -> list[str]:
        folder_path = candidate.strip("/")
        folders = [folder_path] if folder_path in self._in_folder else []
        if not candidate.startswith("/"):
            folders += [
                folder
                for folder in self._folders_by_name.get(folder_path.rpartition("/")[2], ())
                if folder.endswith("/" + folder_path)
            ]
        own = family(self.language_of.get(path, ""))
        files = [
            [other for other in self._in_folder[folder] if self._belongs(other, own)]
            for folder in dict.fromkeys(folders)
        ]
        files = [group for group in files if group]
        best = self.nearest([group[0] for group in files], path) if files else ""
        return next((group for group in files if group[0] == best), [])

    def _belongs(self, path: str, own: str) -> bool:
        return family(self.language_of[path]) == own and not path.endswith("_test.go")


def _is_at(path: str, candidate: str) -> bool:
    """Return True if a document can be what a candidate of `imports.py` stands for."""
    if candidate.endswith("/"):
        path = path.rpartition("/")[0]
    place = candidate.strip("/")
    return path == place or (not candidate.startswith("/") and path.endswith(f"/{place}"))


def has_stem(name: str, paths: Iterable[str]) -> bool:
    """Return True if a word of an import is the name of one of some files, as it is of all that Python can mean."""
    return not {path.rpartition("/")[2].partition(".")[0] for path in paths}.isdisjoint(_WORD.findall(name))


def _shared(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
