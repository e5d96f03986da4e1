"""Folders of a project, its index, and the caches and state of a user. The place that asks the environment for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from codefathom.config.configuration import UserTables, find_root, load_settings, tables_of
from codefathom.config.settings import Settings
from codefathom.config.user_places import home_folder, user_file
from codefathom.errors import SettingsError, SourceError
from codefathom.stores.catalog.catalog import CATALOGUE
from codefathom.stores.folder import Folder, index_folder
from codefathom.stores.registry import IndexPlace, Registry
from codefathom.system.real_paths import refuse_moved
from codefathom.text.printable import is_text

if TYPE_CHECKING:
    from codefathom.project.repository_sight import RepositorySight
    from codefathom.source.scan import FileTree

INDEX_FOLDER = ".fathom"
HISTORY_FOLDER = "history"  # in the folder of the index: the index of the commits


class ProjectFiles(Protocol):
    """Files of a project that are not those of its folder, such as those of a revision."""

    @property
    def name(self) -> str:
        """Their name in messages."""
        ...

    @property
    def has_times(self) -> bool:
        """True if the time stamp of a file is the time of its last change."""
        ...

    def tree(self, below: str = "") -> FileTree:
        """Return the files as they are now, of the whole project or `below` a folder of it. Raises SourceError."""
        ...


@dataclass(frozen=True, slots=True)
class Location:
    """The folders of a project, of its index and of the user's caches, and the settings in force."""

    root: str  # a real path: no part of it was a link when the project was found
    index_dir: str
    cache_dir: str
    settings: Settings
    variables: Mapping[str, str]  # of the environment, where the keys of providers are
    state_dir: str  # where it is remembered which indexes are known
    revision: ProjectFiles | None = None  # the files are these; None: those of the folder
    is_kept: bool = False  # the index of a revision goes only when somebody removes it
    sight: RepositorySight | None = None  # what of a fleet may be read; None: all of it

    @property
    def name(self) -> str:
        """The name of the project: that of its folder."""
        return os.path.basename(self.root)

    @property
    def index_folder(self) -> Folder:
        """The folder of the index, as all that is in it is opened. Raises MovedError."""
        refuse_moved(self.root)
        return index_folder(self.index_dir, self.root)


def locate(path: str, settings: Settings | None = None, *, is_root: bool = False) -> Location:
    """Find the project of a path; with `is_root`, it is the path itself, whatever lies above it.

    Raises SourceError when there is no such folder.
    """
    if not os.path.isdir(path):
        raise SourceError(f"no such folder: {path!r}", hint="give the path of a project's folder")
    root = os.path.realpath(path) if is_root else find_root(os.path.realpath(path))
    settings = settings or load_settings(root, environ=os.environ, user_file=user_file(os.environ))
    cache_dir = user_cache_dir()
    return Location(root, _index_dir(root, settings, cache_dir), cache_dir, settings, os.environ, user_state_dir())


def locate_registered(root: str, settings: Settings | None = None) -> Location:
    """Return the place of a project whose root was resolved when it was added.

    Raises MovedError when the root leads elsewhere now, SourceError when it is gone.
    """
    refuse_moved(root)
    return locate(root, settings, is_root=True)


def source_folder(root: str, chosen: str) -> str:
    """Return the real path of the folder with the files. Raises SettingsError where a link leads out of the root.

    A folder elsewhere is the user's own choice, by its path; a link in the project may have come with it.
    """
    top, place = os.path.join(root, ""), os.path.normpath(os.path.join(root, chosen))
    real = os.path.realpath(place)
    if os.path.join(place, "").startswith(top) and not os.path.join(real, "").startswith(top):
        raise SettingsError(
            f"source.dir: {chosen!r} leads out of the project {root!r} over a link",
            hint="set source.dir to the folder that the link leads to",
        )
    return real


def user_tables(name: str) -> UserTables:
    """Return the tables of this name in the user's settings file. Raises SettingsError for one that cannot be read."""
    return tables_of(user_file(os.environ), name)


def user_cache_dir() -> str:
    """Return the absolute path of the folder for what all projects of this user share."""
    home = home_folder()
    if os.environ.get("FATHOM_CACHE_DIR"):
        return os.path.abspath(os.environ["FATHOM_CACHE_DIR"])
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.abspath(os.path.join(base, "codefathom"))


def user_state_dir() -> str:
    """Return the folder for what this user's programs remember, such as which indexes were made or checked here."""
    if os.environ.get("FATHOM_STATE_DIR"):
        return os.environ["FATHOM_STATE_DIR"]
    home = home_folder()
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(base, "codefathom", "state")
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return os.path.join(base, "codefathom")


def word_of(place: Location) -> str:
    """Return the word by which this user knows the index of a project, "" for an index that is not known."""
    return Registry(place.state_dir).word(index_place(place))


def index_place(place: Location) -> IndexPlace:
    """Return the index as the registry of known indexes names it."""
    return IndexPlace(place.root, place.index_dir, os.path.join(place.index_dir, CATALOGUE))


def _index_dir(root: str, settings: Settings, cache_dir: str) -> str:
    """`.fathom` in the project; another folder by setting; under the user's cache when the project is read-only."""
    name = os.path.basename(root).encode("utf-8", "replace").decode()
    own = f"{name}-{blake2b(root.encode(errors='surrogateescape'), digest_size=6).hexdigest()}"
    chosen = settings.index.dir
    if chosen:
        _refuse_others(os.path.join(root, chosen))
        return os.path.join(root, chosen)
    if os.environ.get("FATHOM_INDEX_DIR"):  # one folder for the indexes of many projects
        return os.path.join(os.environ["FATHOM_INDEX_DIR"], own)
    inside = os.path.join(root, INDEX_FOLDER)
    kind = Folder(root).file(INDEX_FOLDER).kind()
    # What is neither a folder nor missing is an error of whoever opens the index: not all that it is may be ours.
    # The library of the lexical view takes only names in UTF-8.
    if is_text(inside) and (kind not in {"", "folder"} or os.access(inside if kind else root, os.W_OK)):
        return inside
    return os.path.join(cache_dir, "indexes", own)


# Beginnings of the names in the folder of an index.
OWN_NAMES = ("catalog.", "graph.", "lexical", "vectors-", "write.lock", "use.lock", "tree.", "history", ".gitignore")
_OF_VERSION_CONTROL = {".git", ".hg", ".svn", ".jj", ".bzr", "cvs"}


def _refuse_others(index_dir: str) -> None:
    """Raise SettingsError for a folder in which other files than ours lie: an index empties and ignores its folder."""
    hint = "set index.dir to a folder that is empty or not there yet"
    if _OF_VERSION_CONTROL & {part.lower() for part in os.path.normpath(index_dir).split(os.sep)}:
        raise SettingsError(f"the index cannot be in {index_dir!r}: that is a folder of version control", hint=hint)
    # None where it is not there yet, or cannot be read: the attempt to make it will say why.
    others = sorted(name for name in Folder(index_dir).names() if not name.startswith(OWN_NAMES))
    if others:
        raise SettingsError(
            f"the index cannot be in {index_dir!r}: other files are there, such as {others[0]!r}", hint=hint
        )


def path_within(path: str, root: str) -> str | None:
    """Return a whole path of the disk as a folder has it, "." for the folder itself; None for one outside, and for any
    other text. Links are not followed."""
    place = os.path.normpath(path)
    if not os.path.isabs(path) or not f"{place}{os.sep}".startswith(os.path.join(root, "")):
        return None
    return os.path.relpath(place, root).replace(os.sep, "/")
