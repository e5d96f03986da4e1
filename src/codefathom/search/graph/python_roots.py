"""The folders in which imports of Python begin, by what manifests say, and the files that an import means there.

A project of very many packages has as many such folders, and most names lie in one of them: so what lies in each is
looked up, and not tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from codefathom.search.graph.imports import python_files

_ENDINGS = (".py", ".pyi", ".pyx")


class PythonRoots:
    """Folders of packages, by the names of these; those of the name "" are where names begin."""

    def __init__(self, folders: Mapping[str, Sequence[str]], paths: Collection[str]) -> None:
        """Take the folders, and the paths of all files."""
        self._folders = folders
        self._paths = paths

    def files(self, name: str) -> Iterator[str]:
        """Yield the files that an import of this dotted name can mean, likeliest first."""
        parts = [part for part in name.split(".") if part and part != "*"]
        if name.startswith(".") or not parts or not self._folders:
            return
        for end in range(len(parts), -1, -1):
            package = ".".join(parts[:end])
            for folder in self._likely(package, parts[end]) if end < len(parts) else self._folders.get(package, ()):
                candidates = python_files(f"/{folder}/" if folder else "/", parts[end:])
                yield from (file for file in candidates if file[1:] in self._paths)

    def _likely(self, package: str, following: str) -> Sequence[str]:
        """Return the folders of a package, those first that hold what follows; where names begin, these alone."""
        holding = self._holding.get((package, following), ())
        if not package:
            return holding
        return (*holding, *(folder for folder in self._folders.get(package, ()) if folder not in holding))

    @cached_property
    def _holding(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """The folders of a package that hold a module or folder of a name, by the package and that name."""
        roots = {folder for folders in self._folders.values() for folder in folders}
        names = defaultdict[str, set[str]](set)
        for path in self._paths:
            if path.endswith(_ENDINGS):
                for folder, name in _around(path):
                    if folder in roots:
                        names[folder].add(name)
        holding = defaultdict[tuple[str, str], list[str]](list)
        for package, folders in self._folders.items():
            for folder in dict.fromkeys(folders):
                for name in names.get(folder, ()):
                    holding[package, name].append(folder)
        return dict(holding)


def _around(path: str) -> Iterator[tuple[str, str]]:
    """Yield each folder around a file, "" at last, and what lies in it on the way to the file, without its ending."""
    folder, _, name = path.rpartition("/")
    yield folder, name.partition(".")[0]
    while folder:
        folder, _, name = folder.rpartition("/")
        yield folder, name
