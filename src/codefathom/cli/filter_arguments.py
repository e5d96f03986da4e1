"""--dir, --lang, --kind and --filter → one condition; paths as typed here → paths of the project."""

from __future__ import annotations

import os
from posixpath import normpath

from codefathom.cli.options import AskOptions, ContextOptions, SearchOptions
from codefathom.errors import UsageError
from codefathom.search.filter.filter_options import as_itself, condition_of, is_glob
from codefathom.stores.conditions import combine
from codefathom.text.kept_names import KEPT_TEXTS, is_kept_text, kept_path
from codefathom.text.path_spelling import own_spelling
from codefathom.text.printable import is_text
from codefathom.types.where import Where


def where(options: SearchOptions | ContextOptions | AskOptions, root: str) -> Where | None:
    """Return the condition of the options: repeated ones are alternatives, different ones must all hold.

    Without a root, folders are meant in each of several projects.
    """
    condition = condition_of(options.values, lambda folder: _folder(folder, root) if root else folder)
    if not options.values.get("filter"):
        return condition
    from codefathom.search.filter.filter_parser import parse_filter

    return combine(condition, *map(parse_filter, options.values["filter"]))


def _folder(folder: str, root: str) -> str:
    try:
        return as_itself(inside_project(folder, root)) or "."
    except UsageError:
        if is_glob(folder):  # a folder may be named like a pattern, so that it is looked for first
            return folder
        raise


def _here() -> tuple[str, ...]:
    try:
        return (os.getcwd(),)
    except OSError:  # it was removed
        return ()


def _on_disk(base: str, path: str) -> str:
    """Return a path below a folder as the disk spells it, so that the index has it, too."""
    written = os.path.join(base, path)
    if os.path.isabs(path) or (os.sep == "/" and "\\" in path and os.path.lexists(written)):
        return written  # here a name may hold a backslash
    place = base
    for name in path.replace("\\", "/").split("/"):
        place = os.path.join(place, _own_name(place, name))
    return place


def _own_name(folder: str, name: str) -> str:
    if name in ("", ".", ".."):
        return name
    try:
        names = os.listdir(folder)
    except OSError:
        return name
    return own_spelling(name, names, is_there=os.path.lexists(os.path.join(folder, name)))


def path_typed(path: str, root: str) -> str:
    """Return the absolute path of one that was typed: in the current folder, or else in the project; it may be gone.

    The path of a text that is on no disk stays.
    """
    if is_kept_text(path):
        return path
    places = [os.path.join(base, path) for base in (*_here(), root)] if is_text(path) else []
    inside = [place for place in places if os.path.abspath(place).startswith(os.path.join(root, ""))]
    return next((place for place in inside if os.path.lexists(place)), inside[0] if inside else path)


def inside_project(path: str, root: str) -> str:
    """Return a path relative to the project. As typed it is looked for below the current folder, then in the project.

    The path of a text that is on no disk stays. Raises UsageError when it is in neither or outside the project. Without
    a root, it is not looked for.
    """
    if is_kept_text(path):
        return path if path == KEPT_TEXTS else kept_path(path)
    if not root:
        return normpath(path.replace("\\", "/")).removeprefix(".")
    for base in (*_here(), root) if is_text(path) else ():
        place = os.path.realpath(_on_disk(base, path))
        if os.path.exists(place) and (place == root or place.startswith(os.path.join(root, ""))):
            relative = os.path.relpath(place, root).replace(os.sep, "/")
            return "" if relative == "." else relative
    raise UsageError(f"no such path in the project: {path!r}", hint=f"give a path below {root}")
