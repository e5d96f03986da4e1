"""The texts of manifest files → packages, entry points, other names and dependencies that they declare. Pure.

A manifest is data of a repository: what cannot be read, is too large or is of another form says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from posixpath import normpath
from typing import TypeAlias

from codefathom.text.foreign_json import read_json

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"
Table: TypeAlias = "Mapping[str, Json]"

MAX_MANIFEST_CHARS = 300_000
_MOST_KEYS = 2_000  # of one table of a manifest
_MOST_TARGETS = 20  # places that one entry point may name, for conditions such as `import` and `require`
_MOST_DEPTH = 6
# In a text with comments: what stands in quotes stays, and a comma before the end of a list goes. Quotes that nobody
# closes reach to the end, so that no text is read twice.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*+(?:"|\\?\Z))|,(?=\s*[}\]])', re.DOTALL)
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_ENTRIES = ("source", "types", "typings", "module", "main", "browser")
# One that is named as a dependency, `.target(name: "A")`, is a target by itself, too.
_SWIFT_TARGET = re.compile(r"\.(target|executableTarget|testTarget|macro|plugin)\s*\(")
_SWIFT_PART = re.compile(r'[()\[\]]|"(?:\\.|[^"\\])*+"?|[^()\[\]"]++')
_MOST_SWIFT_TARGETS, _MOST_SWIFT_CHARS = 500, 5_000  # of one manifest; of one target
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")


@dataclass(frozen=True, slots=True)
class ScriptPackage:
    """A package.json."""

    name: str
    entries: tuple[str, ...]  # files of the package itself, likeliest first
    exports: Mapping[str, tuple[str, ...]]  # ".", "./part", "./*" → files
    imports: Mapping[str, tuple[str, ...]]  # "#part", "#*" → files or packages
    dependencies: Mapping[str, str]  # name → version, or the place of a package such as "file:../core", "npm:other@1"


@dataclass(frozen=True, slots=True)
class ScriptPaths:
    """A tsconfig.json."""

    base: str = ""  # of the paths, relative to the folder of the file; "": none was set
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # "@app/*" → places
    above: tuple[str, ...] = ()  # files from which it takes what it does not set itself
    beside: tuple[str, ...] = ()  # files or folders that it refers to


@dataclass(frozen=True, slots=True)
class Crate:
    """A Cargo.toml."""

    name: str  # as code writes it, without hyphens; "" for one that only lists members
    root: str  # the file of the library, relative to the folder of the manifest; "": the usual one
    renamed: Mapping[str, str]  # name in code → name of the package, where they differ
    dependencies: frozenset[str]  # names in code


@dataclass(frozen=True, slots=True)
class PythonProject:
    """A pyproject.toml, setup.cfg or list of requirements."""

    folders: Mapping[str, str] = field(default_factory=dict)  # name of a package, "" for all → folder
    dependencies: frozenset[str] = frozenset()  # as code would write them


def script_package(text: str) -> ScriptPackage | None:
    """Read a package.json; None for what is no object."""
    data = _json(text)
    if data is None:
        return None
    entries = tuple(target for key in _ENTRIES for target in _targets(data.get(key)) if isinstance(data.get(key), str))
    exports = data.get("exports")
    table = exports if isinstance(exports, Mapping) and any(key.startswith(".") for key in exports) else {".": exports}
    return ScriptPackage(
        _text(data.get("name")),
        entries,
        _places(table),
        _places(_table(data.get("imports"))),
        {name: _text(version) for key in _DEPENDENCIES for name, version in _items(data.get(key))},
    )


def script_paths(text: str) -> ScriptPaths | None:
    """Read a tsconfig.json or jsconfig.json, which may have comments; None for what is no object."""
    data = _json(text)
    if data is None:
        return None
    options = _table(data.get("compilerOptions"))
    above = data.get("extends")
    references = data.get("references")
    return ScriptPaths(
        _text(options.get("baseUrl")),
        _places(_table(options.get("paths"))),
        tuple(_targets(above)),
        tuple(_text(_table(item).get("path")) for item in references[:_MOST_KEYS])
        if isinstance(references, list)
        else (),
    )


def crate(text: str) -> Crate | None:
    """Read a Cargo.toml; None for what is none."""
    data = _toml(text)
    if data is None:
        return None
    library = _table(data.get("lib"))
    name = _text(library.get("name")) or _text(_table(data.get("package")).get("name"))
    tables = [data, _table(data.get("workspace")), *(_table(item) for _, item in _items(data.get("target")))]
    dependencies = {
        _crate_name(name): _text(_table(item).get("package"))
        for table in tables
        for kind in ("dependencies", "dev-dependencies", "build-dependencies")
        for name, item in _items(table.get(kind))
    }
    return Crate(
        _crate_name(name),
        _text(library.get("path")),
        {name: _crate_name(package) for name, package in dependencies.items() if package},
        frozenset(dependencies),
    )


def python_project(text: str) -> PythonProject:
    """Read a pyproject.toml."""
    data = _toml(text) or {}
    project, tool = _table(data.get("project")), _table(data.get("tool"))
    poetry = _table(tool.get("poetry"))
    folders = {name: _text(place) for name, place in _items(_inside(tool, "setuptools", "package-dir"))}
    # `"src/tap" = "acme/tap"`: the folder src/tap is the package acme.tap.
    sources = _inside(tool, "hatch", "build", "targets", "wheel", "sources")
    folders |= {_text(name).replace("/", "."): place for place, name in _items(sources) if _text(name)}
    packages = poetry.get("packages")
    for item in packages[:_MOST_KEYS] if isinstance(packages, list) else ():
        include, origin, to = (_text(_table(item).get(key)) for key in ("include", "from", "to"))
        if to:
            folders[f"{to}.{include}".replace("/", ".")] = f"{origin}/{include}".strip("/")
    lists = [project.get("dependencies"), *(item for _, item in _items(project.get("optional-dependencies")))]
    lists += [item for _, item in _items(data.get("dependency-groups"))]
    names = [_text(item) for listed in lists if isinstance(listed, list) for item in listed[:_MOST_KEYS]]
    groups = [poetry, *(_table(item) for _, item in _items(poetry.get("group")))]
    names += [name for table in groups for key in _POETRY for name, _ in _items(table.get(key))]
    return PythonProject(folders, _required(names))


_POETRY = ("dependencies", "dev-dependencies")


def setup_cfg(text: str) -> PythonProject:
    """Read the folders and requirements of a setup.cfg."""
    folders: dict[str, str] = {}
    names: list[str] = []
    for key, lines in _ini(text):
        if key == "package_dir":
            pairs = (line.partition("=") for line in lines if "=" in line)
            folders |= {name.strip(): place.strip() for name, _, place in pairs}
        elif key in ("install_requires", "tests_require") or key.startswith("extra:"):
            names += lines
    return PythonProject(folders, _required(names))


def requirements(text: str) -> PythonProject:
    """Read a list of requirements, one a line."""
    lines = text[:MAX_MANIFEST_CHARS].split("\n")[:_MOST_KEYS]
    return PythonProject({}, _required(line for line in lines if not line.lstrip().startswith(("#", "-", "."))))


def composer_folders(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the folders of the namespaces that a composer.json declares."""
    data = _json(text) or {}
    folders: dict[str, tuple[str, ...]] = {}
    for key in ("autoload", "autoload-dev"):
        for standard in ("psr-4", "psr-0"):
            for name, place in _items(_table(data.get(key)).get(standard)):
                prefix = "/" + name.strip("\\").replace("\\", "/") if standard == "psr-0" else ""
                targets = tuple(target.rstrip("/") + prefix for target in _targets(place))
                folders[name.strip("\\")] = folders.get(name.strip("\\"), ()) + targets
    return folders


def dart_package(text: str) -> str:
    """Return the name in a pubspec.yaml."""
    match = re.search(r"^name:[ \t]*['\"]?([\w.-]{1,200})", text[:MAX_MANIFEST_CHARS], re.MULTILINE)
    return match[1] if match else ""


def swift_targets(text: str) -> Mapping[str, Sequence[str]]:
    """Return the folders in which the files of each target of a Package.swift can lie, the likelier first."""
    text = _COMMENT.sub(lambda match: match[1] or "", text[:MAX_MANIFEST_CHARS])
    folders: dict[str, Sequence[str]] = {}
    for match in islice(_SWIFT_TARGET.finditer(text), _MOST_SWIFT_TARGETS):
        arguments = _own_arguments(text[match.end() : match.end() + _MOST_SWIFT_CHARS])
        name, path = (re.search(rf'\b{word}\s*:\s*"([^"\\]{{1,200}})"', arguments) for word in ("name", "path"))
        if name and path:
            folders[name[1]] = (path[1],)
        elif name:
            usual = ("Tests",) if match[1] == "testTarget" else ("Sources", "Source", "src", "srcs")
            folders.setdefault(name[1], tuple(f"{folder}/{name[1]}" for folder in usual))
    return folders


def _own_arguments(text: str) -> str:
    """Return the text up to the end of a call, without what stands in brackets there."""
    depth, parts = 1, []
    for match in _SWIFT_PART.finditer(text):
        depth += (match[0] in "([") - (match[0] in ")]")
        if depth == 0:
            break
        parts += [match[0]] if depth == 1 else []
    return "".join(parts)


def go_replacements(text: str) -> Mapping[str, str]:
    """Return the folder that a go.mod or go.work names in place of a module."""
    line = re.compile(r"^[ \t]*(?:replace[ \t]+)?([^\s=]+)(?:[ \t]+v[^\s=]+)?[ \t]+=>[ \t]+(\.{1,2}/\S*)", re.MULTILINE)
    return {match[1].strip('"'): match[2].strip('"') for match in line.finditer(text[:MAX_MANIFEST_CHARS])}


def path_in(folder: str, relative: str) -> str | None:
    """Return the path that another one means in a folder of the project; None where it leads out of the project."""
    if relative.startswith(("/", "~")) or "\\" in relative or "\0" in relative:
        return None
    path = normpath(f"{folder}/{relative}" if folder else relative)
    return None if path == ".." or path.startswith(("../", "/")) else "" if path == "." else path


def _json(text: str) -> Table | None:
    if len(text) > MAX_MANIFEST_CHARS:
        return None
    data = _loaded(text)
    if data is None:  # most manifests have no comments, and are JSON as they are
        plain = _LAST_COMMA.sub(lambda match: match[1] or "", _COMMENT.sub(lambda match: match[1] or "", text))
        data = _loaded(plain.removeprefix("\ufeff"))
    return data if isinstance(data, dict) else None


def _loaded(text: str) -> Json:
    try:
        data: Json = read_json(text)
    except ValueError:
        return None
    return data


def _toml(text: str) -> Table | None:
    if len(text) > MAX_MANIFEST_CHARS:
        return None
    try:
        import tomllib  # noqa: PLC0415  12 ms, and most questions read no manifest

        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _ini(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the keys of a setup.cfg with their lines; those of the extra requirements as `extra:name`."""
    section, key, lines = "", "", list[str]()
    for line in text[:MAX_MANIFEST_CHARS].split("\n"):
        if line[:1] in (" ", "\t"):
            lines.append(line.strip())
            continue
        if key:
            yield key, lines
        key, lines = "", []
        if line.startswith("["):
            section = line.strip("[] \r")
        elif "=" in line:
            name, _, value = line.partition("=")
            key = f"extra:{name.strip()}" if section == "options.extras_require" else name.strip()
            lines = [value.strip()]
    if key:
        yield key, lines


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _table(value: Json) -> Table:
    return value if isinstance(value, Mapping) else {}


def _inside(table: Table, *keys: str) -> Json:
    value: Json = table
    for key in keys:
        value = _table(value).get(key)
    return value


def _items(value: Json) -> list[tuple[str, Json]]:
    return list(_table(value).items())[:_MOST_KEYS]


def _places(table: Table) -> Mapping[str, tuple[str, ...]]:
    return {key: targets for key, value in _items(table) if (targets := tuple(_targets(value)))}


def _targets(value: Json) -> list[str]:
    """Return the texts in a value, through conditions and lists of choices."""
    texts: list[str] = []
    stack: list[tuple[Json, int]] = [(value, 0)]
    while stack and len(texts) < _MOST_TARGETS:
        item, depth = stack.pop()
        if isinstance(item, str):
            texts.append(item)
        elif depth < _MOST_DEPTH:
            inner = list(item.values()) if isinstance(item, Mapping) else item if isinstance(item, list) else []
            stack += [(one, depth + 1) for one in reversed(inner[:_MOST_TARGETS])]
    return list(dict.fromkeys(texts))


def _crate_name(name: str) -> str:
    return name.replace("-", "_")


def _required(names: Iterator[str] | list[str]) -> frozenset[str]:
    """Return the names of requirements such as `Flask-Login>=1`, as an import would have them."""
    matches = (_REQUIREMENT.match(name) for name in names)
    return frozenset(re.sub(r"[-.]", "_", match[1]).lower() for match in matches if match)
