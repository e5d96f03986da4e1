"""Rules that say to which project a path belongs. Pure: no rule looks at the disk, and paths are written with `/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from codefathom.errors import SettingsError

_NAME = re.compile(r"\{([a-z][a-z0-9_]*)\}")
# Folders that begin with a dot hold indexes, caches and the like, and `..` is none. What cannot be shown is no name.
_VALUE = r"(?!\.)[^/\\\x00-\x1f\x7f\ud800-\udfff]+"
_UNUSUAL = re.compile(r"[^\w.-]")  # in the name of a project
_PROJECT = re.compile(r"\w[\w.-]{0,99}")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")
_EXAMPLE = "/data/chats/{id}"


class RoutedFolder(NamedTuple):
    """The project that a path belongs to."""

    project: str
    root: str
    index_dir: str  # of its index; "": where the index of any project lies


@dataclass(frozen=True, slots=True)
class PathRoute:
    """A rule: what lies at or below `pattern` belongs to the project in the folder `root`.

    `{name}` in the pattern stands for characters in the name of a folder, and in the other texts for the same ones.
    `project` writes those that no name of a project has as a URL does: "my notes" as "my%20notes". Raises SettingsError
    for texts that cannot be a rule.
    """

    pattern: str  # such as /data/chats/{id}
    project: str  # such as chat-{id}
    root: str = ""  # as the pattern, without one
    index: str = ""  # such as /data/.index/chats/{id}; without one, as for any project

    def __post_init__(self) -> None:
        for field in ("pattern", "root", "index"):
            text = getattr(self, field)
            if text or field == "pattern":
                object.__setattr__(self, field, _checked_path(self, field))
        if not self.root:
            object.__setattr__(self, "root", self.pattern)
        _check_names(self)

    def values_of(self, path: str) -> Mapping[str, str] | None:
        """Return the values of the names for a path at or below the pattern, else None."""
        parts, segments = path.split("/"), self.pattern.split("/")
        if len(parts) < len(segments):
            return None
        values: dict[str, str] = {}
        for segment, part in zip(segments, parts, strict=False):
            match = _expression(segment).fullmatch(part)
            if match is None:
                return None
            values |= match.groupdict()
        return values

    def folder_with(self, values: Mapping[str, str]) -> RoutedFolder:
        """Return the project, its root and its index for values of the names."""
        project = _NAME.sub(lambda name: _UNUSUAL.sub(_as_in_url, values[name[1]]), self.project)
        root, index = (_NAME.sub(lambda name: values[name[1]], text) for text in (self.root, self.index))
        return RoutedFolder(project, root, index)

    def folder_of(self, path: str) -> RoutedFolder | None:
        """Return the project of a path, None if this rule is not for it."""
        values = self.values_of(path)
        folder = None if values is None else self.folder_with(values)
        return folder if folder is not None and is_at_or_below(path, folder.root) else None

    def names_below(self, folder: str) -> Callable[[str], bool] | None:
        """Return the test for names in a folder above the pattern, None for a folder that is not above it."""
        parts, segments = folder.rstrip("/").split("/"), self.pattern.split("/")
        if len(parts) >= len(segments):
            return None
        if not all(_expression(segment).fullmatch(part) for segment, part in zip(segments, parts, strict=False)):
            return None
        expression = _expression(segments[len(parts)])
        return lambda name: expression.fullmatch(name) is not None

    def moved(self, real: Callable[[str], str]) -> PathRoute:
        """Return this rule with its folders as `real` writes them, up to the first name."""
        pattern, root, index = (_moved(text, real) for text in (self.pattern, self.root, self.index))
        return replace(self, pattern=pattern, root=root, index=index)


def folder_of(path: str, routes: Sequence[PathRoute]) -> RoutedFolder | None:
    """Return the project that the first fitting rule has for an absolute path; None if no rule is for it."""
    return next((folder for route in routes if (folder := route.folder_of(path)) is not None), None)


def routes_of(tables: object, origin: str) -> tuple[PathRoute, ...]:
    """Return the rules in the tables `[[routes]]` of a settings file. Raises SettingsError that names the file."""
    if not isinstance(tables, list):
        raise SettingsError(f"{origin}: routes is not a list of tables", hint="begin each rule with a line [[routes]]")
    try:
        routes = tuple(_route(table, number) for number, table in enumerate(tables, start=1))
        check_routes(routes)
    except SettingsError as error:
        raise SettingsError(f"{origin}: {error}", hint=error.hint) from error
    return routes


def check_routes(routes: Sequence[PathRoute]) -> None:
    """Raise SettingsError for two rules that would put two projects into one index."""
    roots: dict[str, str] = {}
    for route in routes:
        if route.index and roots.setdefault(route.index, route.root) != route.root:
            raise SettingsError(
                f"two routes have the index {route.index!r}, and different roots", hint="give each an index of its own"
            )


def is_at_or_below(path: str, folder: str) -> bool:
    """Return True for a folder and for what lies below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _route(table: object, number: int) -> PathRoute:
    fields = ("pattern", "project", "root", "index")
    if not isinstance(table, dict):
        raise SettingsError(f"route {number} is not a table", hint="begin each rule with a line [[routes]]")
    for name, value in table.items():
        if name not in fields:
            raise SettingsError(
                f"route {number}: {str(name)[:80]!r} is not a part of a route", hint=f"use {', '.join(fields)}"
            )
        if not isinstance(value, str):
            raise SettingsError(f"route {number}: {name} is not a text", hint="write it in quotation marks")
    for name in ("pattern", "project"):
        if not table.get(name):
            raise SettingsError(f"route {number} has no {name}", hint=f"write a line such as {_SAMPLES[name]}")
    return PathRoute(**table)


_SAMPLES = {"pattern": f'pattern = "{_EXAMPLE}"', "project": 'project = "chat-{id}"'}


def _checked_path(route: PathRoute, field: str) -> str:
    """Return a path without a slash at its end. Raises SettingsError."""
    text: str = getattr(route, field)
    path = text.rstrip("/")
    parts = path.split("/")[1:]
    problem = ""
    if not _ABSOLUTE.match(text):
        problem = f"write an absolute path, such as {_EXAMPLE}"
    elif not path or not all(parts) or "." in parts or ".." in parts or "\0" in path:
        problem = "write the path of a folder below the root of the disk, without empty parts, `.` and `..`"
    elif "{" in (rest := _NAME.sub("", path)) or "}" in rest or "}{" in path:
        problem = "write a name as {id}: small letters, digits and _ in braces, and something between two of them"
    elif field == "pattern" and len(set(_NAME.findall(path))) < len(_NAME.findall(path)):
        problem = "use each name once"
    if problem:
        raise SettingsError(f"the {field} of a route cannot be {text[:200]!r}", hint=problem)
    return path


def _check_names(route: PathRoute) -> None:
    """Raise SettingsError where a text has a name that has no value, or where two folders would be one project."""
    values, roots = set(_NAME.findall(route.pattern)), set(_NAME.findall(route.root))
    for field in ("project", "root", "index"):
        text = getattr(route, field)
        names = set(_NAME.findall(text))
        if names - values:
            raise SettingsError(
                f"the {field} of a route cannot be {text[:200]!r}: {{{min(names - values)}}} is not in its pattern "
                f"{route.pattern!r}",
                hint=f"write it without {{{min(names - values)}}}, or put that into the pattern",
            )
        if field != "root" and text and roots - names:
            raise SettingsError(
                f"the {field} of a route cannot be {text[:200]!r}: its root {route.root!r} is another folder for each "
                f"{{{min(roots - names)}}}",
                hint=f"put {{{min(roots - names)}}} into the {field}, so that each folder has its own",
            )
    if not _PROJECT.fullmatch(_NAME.sub("x", route.project)):
        raise SettingsError(
            f"the project of a route cannot be {route.project[:200]!r}",
            hint="write letters, digits, dots, dashes and underscores, such as chat-{id}",
        )


def _as_in_url(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


@lru_cache(maxsize=1_000)
def _expression(segment: str) -> re.Pattern[str]:
    """Return the expression for one part of a path."""
    pieces = _NAME.split(segment)  # text, name, text, name, …, text
    named = (f"(?P<{piece}>{_VALUE})" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
    return re.compile("".join(named))


def _moved(path: str, real: Callable[[str], str]) -> str:
    """Return a path of a rule whose part before the first name is written by `real`."""
    if not path:
        return ""
    parts = path.split("/")
    n_fixed = next((place for place, part in enumerate(parts) if "{" in part), len(parts))
    return "/".join([real("/".join(parts[:n_fixed]) or "/").rstrip("/"), *parts[n_fixed:]])
