"""The projects that a user has given names, in the user's state folder; groups are names that several of them share.

Each project is a small file of its own, so that two processes that add some never write the same one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote

from codefathom.config.configuration import find_root
from codefathom.errors import IndexingError, UnwritableError, UsageError
from codefathom.project.location import user_state_dir
from codefathom.source.revisions.revision import revision as find_revision
from codefathom.stores.folder import Folder

_NAME = re.compile(r"[\w][\w.-]{0,59}")
_NOT_IN_A_NAME = re.compile(r"[^\w.-]+")
_MAX_CHARS = 60  # of a name
_MAX_BYTES = 20_000


class NamedProject(NamedTuple):
    """A project with the name that its user has given it."""

    name: str
    root: str
    groups: tuple[str, ...] = ()
    revision: str = ""  # a branch, tag or commit, which is asked instead of the files of the folder

    @property
    def place(self) -> str:
        """Its folder and its revision, as a user reads them."""
        return f"{self.root} at {self.revision}" if self.revision else self.root


class ProjectList:
    """The named projects of this user."""

    def __init__(self, state_dir: str = "") -> None:
        self._base = Folder(state_dir or user_state_dir())
        self._folder = self._base.below("projects")

    def listed(self) -> tuple[NamedProject, ...]:
        """Return all projects, by name; a file that cannot be read is left out."""
        names: list[str] = []
        with suppress(OSError, IndexingError):
            names = self._folder.names()
        projects = (self._read(name) for name in names)
        return tuple(sorted(project for project in projects if project is not None))

    def add(self, path: str, name: str = "", groups: Sequence[str] = (), revision: str = "") -> NamedProject:
        """Name the project that a folder lies in, or a revision of it; without a name, like its folder and revision.

        Raises UsageError for a name that is taken or cannot be one, SourceError for a revision that is not there,
        UnwritableError.
        """
        if not os.path.isdir(path):
            raise UsageError(f"{path!r} is not a folder", hint="name an existing folder")
        root = find_root(path)
        if revision:
            find_revision(root, revision)
        chosen = name or _name_of(root, revision)
        project = NamedProject(chosen, root, tuple(dict.fromkeys(groups)), revision)
        taken = next((item for item in self.listed() if item.name == chosen), project)
        if (taken.root, taken.revision) != (root, revision):
            raise UsageError(f"{chosen!r} is the name of {taken.place} already", hint="give another with --name")
        self._write(project)
        return project

    def remove(self, name: str) -> NamedProject:
        """Forget a name; the project and its index stay. Raises UsageError for an unknown one."""
        project = self._named(name)
        self._folder.file(_file_name(name)).remove()
        return project

    def rename(self, name: str, new: str) -> NamedProject:
        """Give a project another name. Raises UsageError for an unknown one, and as `add`."""
        project = self._named(name)
        if new in {item.name for item in self.listed()}:
            raise UsageError(f"there is a project {new!r} already", hint="choose another name")
        renamed = project._replace(name=new)
        self._write(renamed)
        self._folder.file(_file_name(name)).remove()
        return renamed

    def chosen(self, names: Sequence[str], *, is_all: bool = False) -> tuple[NamedProject, ...]:
        """Return the projects that names mean: of a project, of a group, or the path of a folder; with `is_all`, all.

        Raises UsageError for one that means nothing.
        """
        listed = self.listed()
        if is_all:
            if not listed:
                raise UsageError("no project has a name yet", hint="name one with `fathom projects add DIR`")
            return listed
        chosen: dict[str, NamedProject] = {}
        for name in names:
            of_name = [item for item in listed if item.name == name or name in item.groups]
            if not of_name and os.path.isdir(name):
                root = find_root(name)
                of_root = [item for item in listed if item.root == root and not item.revision]
                of_name = of_root or [_unnamed(root, {*chosen})]
            if not of_name:
                choices = sorted({item.name for item in listed}.union(*(item.groups for item in listed)))
                raise UsageError(
                    f"{name!r} is not a project, group or folder",
                    hint=f"write one of {', '.join(choices)}" if choices else "name one with `fathom projects add DIR`",
                )
            chosen |= {item.name: item for item in of_name}
        return tuple(chosen.values())

    def _named(self, name: str) -> NamedProject:
        listed = self.listed()
        for project in listed:
            if project.name == name:
                return project
        names = ", ".join(item.name for item in listed)
        raise UsageError(f"there is no project {name!r}", hint=f"write one of {names}" if names else "none has a name")

    def _read(self, file_name: str) -> NamedProject | None:
        try:
            content = json.loads(self._folder.file(file_name).read(_MAX_BYTES))
            values = (content["name"], content["root"], tuple(content["groups"]), content.get("revision", ""))
            project = NamedProject(*values)
        except (OSError, IndexingError, ValueError, KeyError, TypeError):
            return None
        texts = (project.name, project.root, project.revision, *project.groups)
        is_sound = all(isinstance(text, str) for text in texts)
        return project if is_sound and _file_name(project.name) == file_name else None

    def _write(self, project: NamedProject) -> None:
        """Check the names, and write. Raises UsageError, UnwritableError."""
        for name in (project.name, *project.groups):
            if not _NAME.fullmatch(name):
                raise UsageError(
                    f"{name!r} cannot be a name",
                    hint="give one with --name: up to 60 letters, digits, dots, dashes and underscores",
                )
        listed = (*self.listed(), project)
        both = {item.name for item in listed} & {group for item in listed for group in item.groups}
        if both:
            raise UsageError(f"{min(both)!r} would be a project and a group", hint="choose another name")
        try:
            self._base.make(private=True)
            self._folder.make()
            content = json.dumps(project._asdict()).encode()
            self._folder.file(_file_name(project.name)).replace([content], by_many=True, private=True)
        except OSError as error:
            raise UnwritableError(
                f"cannot write {self._folder.path!r}: {error.strerror}", hint="set FATHOM_STATE_DIR to another folder"
            ) from error


def _file_name(name: str) -> str:
    return quote(name, safe="")


def _name_of(root: str, revision: str) -> str:
    """Return the name of a folder and its revision, without the signs that no name may have."""
    base = os.path.basename(root) or "root"
    return f"{base}-at-{_NOT_IN_A_NAME.sub('-', revision)}"[:_MAX_CHARS] if revision else base


def _unnamed(root: str, taken: set[str]) -> NamedProject:
    """Return a project under the name of its folder, with a number where that is taken."""
    name = base = os.path.basename(root) or "root"
    number = 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return NamedProject(name, root)
