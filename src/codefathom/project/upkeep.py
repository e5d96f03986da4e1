"""How an index is made, brought up to date, followed and removed: the part of an engine that is no question."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from codefathom.config.settings import Settings
from codefathom.facts.limits import POLLING_INTERVAL_S
from codefathom.project.current_index import CurrentIndex

if TYPE_CHECKING:
    from codefathom.project.stores.desk import StoreDesk
    from codefathom.project.stores.revision_indexes import RevisionIndex
    from codefathom.source.watching.watch import TreeNotice
    from codefathom.types.index_runs import IndexReport, PathReport, Progress, ScipReport


class Upkeep:
    """The runs over one index. See `Engine`."""

    current: CurrentIndex

    def index(self, *, full: bool = False, wait_s: float | None = None, keep_rules: bool = False) -> IndexReport:
        """Bring the index up to date with the tree; with `full`, from nothing.

        With `keep_rules`, `source.required_exts` and `source.ignore` given as arguments hold for later runs, too.

        Raises LockedError when another process goes on writing for `wait_s`, without one `index.wait_s`.
        """
        return self.current.report_of(self.index_events(full=full, wait_s=wait_s, keep_rules=keep_rules))

    def index_events(
        self, *, full: bool = False, wait_s: float | None = None, keep_rules: bool = False, retry: bool = True
    ) -> Generator[Progress | IndexReport, None, None]:
        """Like `index`, as a stream of progress with the report as its last item.

        Without `retry`, a language model is not asked again about unchanged files on which it failed.
        """
        return self.current.whole_run(full=full, retry=retry, wait_s=wait_s, keep_rules=keep_rules)

    def update(
        self,
        paths: Sequence[str] = (),
        *,
        texts: Mapping[str, str | None] = MappingProxyType({}),
        wait_s: float | None = None,
    ) -> PathReport:
        """Take in what has changed in these files and folders, at once or not at all; leave the others as they are.

        Paths are relative to the root. Files that are gone are removed from the index; a path that is no file of it is
        refused, with the reason. `texts` are texts that are on no disk, by name: the index keeps them as `texts://NAME`
        until the value None removes them; one that cannot be kept is refused, and the one before stays. Raises
        UsageError for a path that leads out of the project, for a name that no text can have, and for more texts than
        an index keeps; LockedError as `index`.
        """
        self.current.refuse("cannot be updated by paths")
        return self.current.update(paths, texts, wait_s)

    def import_scip(self, files: Sequence[str], *, wait_s: float | None = None, refresh: bool = True) -> ScipReport:
        """Take the edges of files from SCIP indexes, which compilers write; they replace those of earlier imports.

        `files` are the paths of the indexes, relative to the working directory. They hold for each file as long as its
        content stays as it is now; what changes later has the edges of the parser again. The index is brought up to
        date before; without `refresh` it is taken as it is. Raises SourceError for what is not a whole SCIP index, or
        one of another project, with nothing changed; LockedError as `index`.
        """
        self.current.refuse_fleet("takes no edges of compilers")
        return self.current.import_scip(files, wait_s, refresh=refresh)

    def remove_scip(self, *, wait_s: float | None = None) -> int:
        """Remove the edges of compilers, and return how many files had some. Raises LockedError as `index`."""
        self.current.refuse_fleet("has no edges of compilers")
        return self.current.remove_scip(wait_s)

    def remove_index(self, *, wait_s: float | None = None) -> int:
        """Remove the index and return its size in bytes; 0 when there is none. A later question makes a new one.

        Raises LockedError as `index` does.
        """
        from codefathom.project.removal import remove_index
        from codefathom.project.stores.desk import leave_store

        self.current.refuse_fleet("is nothing without its index", instead="remove")
        with self.current.lock:
            self.current.close()
            return remove_index(
                self.current.place,
                wait_s=self.current.wait_s(wait_s),
                leave_store=lambda: leave_store(self.current.place, self.current.on_wait),
            )

    def remove_revision(self, name: str, *, wait_s: float | None = None) -> int:
        """Remove the index of a revision of this project and return its size in bytes; 0 when there is none.

        It can be one whose branch or tag is gone. Raises SourceError for a name of nothing, LockedError as `index`.
        """
        from codefathom.project.stores.revision_indexes import remove_revision

        return remove_revision(self.current.place, name, wait_s=self.current.wait_s(wait_s))

    @property
    def revisions(self) -> tuple[RevisionIndex, ...]:
        """The indexes of revisions of this project, the one used last first."""
        from codefathom.project.stores.revision_indexes import revision_indexes

        return revision_indexes(self.current.place)

    @property
    def stores(self) -> StoreDesk:
        """The stores of this project's vectors."""
        from codefathom.project.stores.desk import StoreDesk

        self.current.refuse_fleet("keeps its vectors in files beside its shards", instead="verify")
        return StoreDesk(self.current.believed(self.current.opened), self.current.on_progress)

    def refresh(self) -> bool:
        """Bring the index up to date as `search.refresh` says, as each question does; return whether it is behind."""
        return self.current.refresh()

    def plan(self) -> IndexReport:
        """Return the report that `index` would give now, and change nothing."""
        from codefathom.project.inspection import planned

        self.current.refuse_fleet("is not indexed like a project")
        return planned(self.current.opened)

    def watch(
        self,
        stop: Callable[[], bool],
        *,
        interval_s: float = POLLING_INTERVAL_S,
        read_settings: Callable[[], Settings] | None = None,
    ) -> Iterator[IndexReport]:
        """Index now and after every change, until `stop` returns True; yield the first report, and those with changes.

        Changes are reported by the system, see `index.watch`; where that cannot be, the files are looked at every
        `interval_s` seconds, and `on_wait` is told why. On an unchanged file a model that failed is not asked again.
        `read_settings` is called after each change: from then on the settings that it returns are in force; those that
        cannot be read are told to `on_wait`. Without it, the settings of the beginning stay. Raises SourceError when
        the folder of the project is gone.
        """
        from codefathom.project.following import watch

        self.current.refuse("cannot be watched")
        yield self.index(keep_rules=True)
        yield from watch(self.current, stop, interval_s, read_settings)

    def notices(
        self,
        stop: Callable[[], bool],
        *,
        interval_s: float = POLLING_INTERVAL_S,
        read_settings: Callable[[], Settings] | None = None,
    ) -> Iterator[TreeNotice]:
        """Yield now, and each time when files may have changed, until `stop` returns True. Nothing is indexed.

        Without an interval nothing is looked at again and again: it ends where the system reports no changes. Between
        two notices the engine may be closed. `read_settings` is that of `watch`. Raises SourceError when the folder of
        the project is gone.
        """
        from codefathom.project.following import notices

        self.current.refuse("cannot be watched")
        return notices(self.current, stop, interval_s, read_settings)
