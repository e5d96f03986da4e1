"""The modules of a project: its folders of code, and how many imports lead from one to another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from codefathom.errors import SourceError
from codefathom.facts.languages import CODE
from codefathom.facts.paths import starts_program
from codefathom.search.graph.main_types import stands_aside
from codefathom.search.graph.reference_graph import ReferenceGraph
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import StoredDocument
from codefathom.text.kept_names import is_kept_text

MOST_MODULES = 60  # more can no longer be told apart in a picture
MOST_ENTRY_POINTS = 8


class Module(NamedTuple):
    """A folder of code, with the folders below it or without them."""

    path: str  # "" for the root
    n_files: int
    n_lines: int
    language: str  # that of most lines
    is_whole: bool  # it stands for all folders below it, too
    has_folders: bool  # that a map of this folder would show


class ModuleLink(NamedTuple):
    """Imports in one module that mean another one."""

    source: str
    target: str
    n_imports: int


class ModuleMap(NamedTuple):
    """The modules at or below a folder, those with most files first, and the imports between them."""

    folder: str
    modules: tuple[Module, ...]
    links: tuple[ModuleLink, ...]
    n_files: int  # of code, at or below the folder
    n_modules_left_out: int
    n_files_left_out: int
    entry_points: tuple[str, ...]  # files by which programs start, those nearest to the folder first
    n_entry_points: int  # all of them


def module_map(catalog: SearchCatalog, folder: str = "") -> ModuleMap:
    """Return the map of the code at or below a folder. Raises SourceError for a folder without indexed code.

    Folders are divided, those with most files first, as long as there are at most `MOST_MODULES`. It is made of the
    paths and imports that the catalogue holds: no text is read.
    """
    below = f"{folder}/" if folder else ""
    code = [item for item in catalog.documents() if _is_code(item) and item.path.startswith(below)]
    if folder and not code:
        raise SourceError(f"no code is indexed below {folder!r}", hint="give a folder that `fathom files` lists")
    folders = _folders(folder, code)
    is_whole = _divided(folder, folders)
    inside: dict[str, list[StoredDocument]] = defaultdict(list)
    for item in code:
        inside[_module_of(item.path, is_whole)].append(item)
    order = sorted(inside, key=lambda path: (-len(inside[path]), path))
    chosen, behind = order[:MOST_MODULES], order[MOST_MODULES:]
    entries = [item.path for item in code if starts_program(_name(item.path)) and not stands_aside(item.path)]
    entries.sort(key=lambda path: (path.count("/"), path))
    return ModuleMap(
        folder,
        tuple(_module(path, inside[path], is_whole[path], folders) for path in chosen),
        tuple(_links(catalog, [item.path for item in code], is_whole, frozenset(chosen))),
        len(code),
        len(behind),
        sum(len(inside[path]) for path in behind),
        tuple(entries[:MOST_ENTRY_POINTS]),
        len(entries),
    )


def _is_code(document: StoredDocument) -> bool:
    return document.language in CODE and not is_kept_text(document.path)


class _Folder(NamedTuple):
    n_files: int  # with those of the folders below
    n_own_files: int
    children: tuple[str, ...]


def _folders(top: str, code: Iterable[StoredDocument]) -> Mapping[str, _Folder]:
    """Return the folders of some files up to `top`."""
    own = Counter(_parent(item.path) for item in code)
    n_files: Counter[str] = Counter()
    children: dict[str, set[str]] = defaultdict(set)
    for folder, n in own.items():
        here = folder
        n_files[here] += n
        while here != top:
            above = _parent(here)
            children[above].add(here)
            n_files[above] += n
            here = above
    return {
        path: _Folder(n, own[path], tuple(sorted(children[path]))) for path, n in (n_files or Counter({top: 0})).items()
    }


def _divided(top: str, folders: Mapping[str, _Folder]) -> Mapping[str, bool]:
    """Return the modules, and whether each stands for the folders below it, too. The first folder is always divided."""
    modules = {top: True}
    heap = [(-folders[top].n_files, top)]
    while heap:
        _, path = heappop(heap)
        folder = folders[path]
        n_more = len(folder.children) - (0 if folder.n_own_files else 1)
        if not folder.children or (path != top and len(modules) + n_more > MOST_MODULES):
            continue
        modules[path] = False  # also without files of its own: then it has none, and is not shown
        if not folder.n_own_files and path != top:
            del modules[path]
        for child in folder.children:
            modules[child] = True
            heappush(heap, (-folders[child].n_files, child))
    return modules


def _module_of(path: str, modules: Collection[str]) -> str:
    folder = _parent(path)
    while folder not in modules:
        folder = _parent(folder)
    return folder


def _module(path: str, inside: Sequence[StoredDocument], is_whole: bool, folders: Mapping[str, _Folder]) -> Module:
    n_lines: Counter[str] = Counter()
    for item in inside:
        n_lines[item.language] += item.n_lines
    language = min(n_lines, key=lambda name: (-n_lines[name], name))
    has_folders = is_whole and bool(folders[path].children)
    return Module(path, len(inside), n_lines.total(), language, is_whole, has_folders)


def _links(
    catalog: SearchCatalog, paths: Iterable[str], modules: Collection[str], chosen: Collection[str]
) -> Iterator[ModuleLink]:
    """Yield the links between chosen modules; an import that means several files of one module counts once."""
    module_of = {path: _module_of(path, modules) for path in paths}
    links = ReferenceGraph(catalog).links
    counts: Counter[tuple[str, str]] = Counter()
    for path, source in module_of.items():
        for documents in links.targets(path).values():
            targets = {module_of[document] for document in documents if document in module_of}
            counts.update((source, target) for target in targets if target != source)
    for (source, target), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if source in chosen and target in chosen:
            yield ModuleLink(source, target, n)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
