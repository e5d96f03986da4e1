"""Files that belong to no project: which of them are searched, within a budget, and an index that lives for that only.

Nothing of them is kept: the index, and what is cached and remembered of it, lie in a temporary folder of this user.
A search shows nothing of them to a model outside of this machine; an answer does to the language model that writes it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from typing import BinaryIO, NamedTuple

from codefathom.askers.held_folder import HeldFolder
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.project.location import Location, locate
from codefathom.source.changes import FileStat, Scan
from codefathom.source.scan import ScanRules
from codefathom.stores.catalog.catalog import CATALOGUE
from codefathom.system.real_paths import open_below, regular_file, status_below
from codefathom.text.printable import is_text
from codefathom.types import Skipped

_MOST_ENTRIES = 20_000  # that are looked at in folders


class LooseBudget(NamedTuple):
    """The most that is read to search files that belong to no project."""

    n_files: int = 200
    n_bytes: int = 20_000_000


USUAL_BUDGET = LooseBudget()


class LooseChoice(NamedTuple):
    """The files that are searched, and what is left out, both with absolute paths."""

    files: tuple[str, ...]
    left_out: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class LooseFiles:
    """Some files below a folder, whatever ignore rules say. They are read where they lie, and no link is followed."""

    root: str
    paths: tuple[str, ...]  # relative to the root, sorted
    max_bytes: int  # of one file
    name: str = "files of no project"
    has_times: bool = True

    def tree(self, below: str = "") -> LooseFiles:
        """Return these files: they are all that there is."""
        return self

    def scan(self, rules: ScanRules) -> Scan:
        """List the files that are still there."""
        files = tuple(file for path in self.paths if (file := self.stat(path)) is not None)
        return Scan(files, ())

    def open(self, path: str) -> BinaryIO | None:
        """Open a file of these; None for what is no regular file any more. Raises OSError."""
        if path not in self.paths:
            return None
        file = regular_file(open_below(self.root, path.split("/")))
        if file is None:
            return None
        with file:
            return BytesIO(file.read(self.max_bytes))  # it may have grown

    def stat(self, path: str) -> FileStat | None:
        """Return size and stamp of a file of these."""
        if path not in self.paths:
            return None
        with suppress(OSError):
            status = status_below(self.root, path.split("/"))
            if stat.S_ISREG(status.st_mode):
                return FileStat.of(path, status)
        return None


class LooseProject:
    """Loose files with an index of their own, which goes when it is closed."""

    def __init__(
        self,
        files: Sequence[str],
        settings_of: Callable[[str], Settings] | None,
        budget: LooseBudget,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take files by absolute, resolved paths. Raises UsageError where they have no folder in common."""
        self._folder = HeldFolder()
        try:
            base = self._folder.path
            place = loose_place(base, files, settings_of(base) if settings_of else None, budget)
        except BaseException:
            self._folder.close()
            raise
        self.root = place.root
        self.engine = Engine(place, on_wait=on_wait)

    def left_out(self) -> Iterator[Skipped]:
        """Yield the files that are not in the index, with the reason of each."""
        yield from not_indexed(self.engine)

    def close(self) -> None:
        """Close and remove the index."""
        try:
            self.engine.close()
        finally:
            self._folder.close()


def loose_place(base: str, files: Sequence[str], settings: Settings | None, budget: LooseBudget) -> Location:
    """Return the place of files by absolute, resolved paths, whose index lies in the folder `base`, as all else of it.

    Raises UsageError where they have no folder in common.
    """
    root = _common_folder(files)
    paths = tuple(sorted(os.path.relpath(file, root).replace(os.sep, "/") for file in files))
    place = locate(base, settings, is_root=True)
    return replace(
        place,
        root=root,
        index_dir=os.path.join(base, "index"),
        cache_dir=os.path.join(base, "cache"),
        state_dir=os.path.join(base, "state"),
        settings=_settings(place.settings),
        revision=LooseFiles(root, paths, budget.n_bytes),
    )


def not_indexed(engine: Engine) -> Iterator[Skipped]:
    """Yield the files that are not in an index, with absolute paths and the reason of each."""
    catalog = engine.opened.catalog
    reasons = [(item.path, item.why) for item in catalog.rejected()]
    reasons += [(item.path, item.why) for item in catalog.failures()]
    for path, why in reasons:
        yield Skipped(os.path.join(engine.root, path), why)


def choose(
    paths: Iterable[str], budget: LooseBudget, is_of_project: Callable[[str], bool] = lambda _: False
) -> LooseChoice:
    """Return the files to search among files and folders: those that are named first, then those of folders.

    In folders hidden entries, links and folders of projects are passed by. What a budget leaves out is named.
    """
    named = [path for path in paths if not os.path.isdir(path)]
    folders = [path for path in paths if os.path.isdir(path)]
    choice = _Choice(budget)
    for path in named:
        choice.offer(path)
    for folder in folders:
        for n_entries, path in enumerate(_files_below(folder, is_of_project), start=1):
            is_file = not path.endswith("/")
            if n_entries > _MOST_ENTRIES or (is_file and choice.is_full and path not in choice.files):
                choice.left_out.append(Skipped(folder, choice.why_ended))
                break
            if is_file:
                choice.offer(path)
    return LooseChoice(tuple(choice.files), tuple(choice.left_out))


class _Choice:
    """Files within a budget."""

    def __init__(self, budget: LooseBudget) -> None:
        self.files: dict[str, None] = {}
        self.left_out: list[Skipped] = []
        self._budget = budget
        self._n_bytes = 0

    @property
    def is_full(self) -> bool:
        return len(self.files) >= self._budget.n_files

    @property
    def why_ended(self) -> Note:
        """The reason why nothing further is looked at."""
        if self.is_full:
            return Note(say.ONLY_FILES, {"count": self._budget.n_files})
        return Note(say.ONLY_ENTRIES, {"count": _MOST_ENTRIES})

    def offer(self, path: str) -> None:
        """Take a file, or say why not."""
        if path in self.files:
            return
        n_bytes = _size(path)
        if n_bytes is None:
            why = Note(say.NOT_REGULAR_OR_UNREADABLE)
        elif not is_text(path):
            path, why = path.encode("utf-8", "backslashreplace").decode(), Note(say.NAME_NOT_UTF8)
        elif self.is_full:
            why = self.why_ended
        elif self._n_bytes + n_bytes > self._budget.n_bytes:
            why = Note(say.ONLY_BYTES, {"count": self._budget.n_bytes})
        else:
            self.files[path] = None
            self._n_bytes += n_bytes
            return
        self.left_out.append(Skipped(path, why))


def _size(path: str) -> int | None:
    with suppress(OSError):
        status = os.lstat(path)
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    return None


def _files_below(folder: str, is_of_project: Callable[[str], bool]) -> Iterator[str]:
    """Yield files, and folders with a slash at their end, those near the top first, each folder by name."""
    level = [folder]
    while level:
        below: list[str] = []
        for place in level:
            try:
                with os.scandir(place) as listing:
                    entries = sorted(islice(listing, _MOST_ENTRIES + 1), key=lambda entry: entry.name)
            except OSError:
                continue
            if any(entry.name == CATALOGUE for entry in entries):  # the folder of an index
                continue
            for entry in entries:
                path = f"{place.rstrip('/')}/{entry.name}"
                if entry.name.startswith(".") or is_of_project(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(path)
                    yield f"{path}/"
                elif entry.is_file(follow_symlinks=False):
                    yield path
        level = below


def _common_folder(files: Sequence[str]) -> str:
    try:
        return os.path.commonpath([os.path.dirname(file) for file in files]).replace(os.sep, "/")
    except ValueError as error:
        raise UsageError("files on two drives cannot be searched together", hint="search each drive alone") from error


def _settings(settings: Settings) -> Settings:
    """Return the settings for such files: all of them are read, nothing is kept, and no other machine is asked."""
    return settings._replace(
        source=settings.source._replace(
            dir=".", required_exts=(), ignore=(), include_generated=True, follow_symlinks=False
        ),
        parse=settings.parse._replace(chain=tuple(name for name in settings.parse.chain if name != "llm") or ("text",)),
        embed=type(settings.embed)(),
        store=settings.store._replace(vectors="flat"),
        search=settings.search._replace(refresh="auto"),
        rerank=settings.rerank._replace(model=""),
        index=settings.index._replace(dir="", purposes=False, siblings=False),
    )
