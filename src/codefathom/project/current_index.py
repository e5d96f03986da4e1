"""The index of a project, opened and kept current: by a run, by the next question, by paths that are named."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from copy import copy
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, TypeVar

from codefathom import types
from codefathom.config.settings import Settings
from codefathom.errors import FathomError, IndexingError, LockedError, NoFilesError, StoppedError, UsageError
from codefathom.facts.reasons import LEFT_OUT, Note, Told
from codefathom.index.plan import IndexPlan, plan
from codefathom.index.plan_again import plan_again, remember
from codefathom.project import kept_rules
from codefathom.project.damage import again_when_damaged, first_run, is_whole, reading
from codefathom.project.location import Location
from codefathom.project.opening import OpenedProject, is_slow
from codefathom.stores.conditions import normalise
from codefathom.stores.lock import held_lock
from codefathom.system.real_paths import refuse_moved
from codefathom.system.stopping import check_stopped
from codefathom.text.kept_names import kept_path
from codefathom.types.choices import Branches
from codefathom.types.hits import ConsultedFile, Partial
from codefathom.types.where import Where

if TYPE_CHECKING:
    from codefathom.index.indexing import Stages
    from codefathom.providers.base import ChatModel
    from codefathom.question.question import Question
    from codefathom.stores.lock import WriterLock
    from codefathom.types.index_runs import IndexReport, PathReport, Progress, RunProgress, ScipReport
    from codefathom.types.index_states import Check, Status

_T = TypeVar("_T")
OnProgress: TypeAlias = "Callable[[Progress], None]"
OnWait = Callable[[str], None]
OnFile: TypeAlias = "Callable[[ConsultedFile], None]"
FleetAction = Literal["", "index", "verify", "remove"]  # of `fathom fleet`
Run: TypeAlias = "Generator[Progress | IndexReport, None, None]"

# In one process the tree is compared with the index at most this often; a search in between sees the last state.
LOOK_AGAIN_AFTER_S = 1.0
_REST = 20  # times as long as a look took: a look at a large tree takes a second

_MENDED = (
    "the index in {dir} was not made here; its entries for {n} files did not match the files "
    "and were made again from them"
)
_NOT_REMEMBERED = "cannot write into {dir!r} that the index was checked; the next command will check it again"
_LIKE_ANOTHER = "{root} has nearly the same files: the index begins with a copy of its index"
_OLD_REVISION = "the index of the revision {name!r} was removed: {why}"


class CurrentIndex:
    """The index of one place, opened when it is first needed. Safe to use from several threads."""

    is_fleet = False

    def __init__(
        self,
        place: Location,
        on_progress: OnProgress,
        on_wait: OnWait,
        *,
        wrap_model: Callable[[ChatModel], ChatModel],
        first_index_wait_s: float | None,
    ) -> None:
        """See `Engine`."""
        self.place = place
        self.on_progress, self.on_wait = on_progress, on_wait
        self.lock = RLock()
        self._wrap_model = wrap_model
        self._first_index_wait_s = first_index_wait_s
        self._opened: OpenedProject | None = None
        self._history: CurrentIndex | None = None
        self._shared: CurrentIndex | None = None  # whose history this one asks, with its own settings
        self._looked_at, self._rest_s = float("-inf"), 0.0
        self._behind = False
        self._notes: tuple[Told, ...] = ()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.place.settings

    @property
    def opened(self) -> OpenedProject:
        """The opened index. Raises MovedError."""
        refuse_moved(self.place.root)
        with self.lock:
            # One that is replaced stays open: another thread may be reading it.
            if self._opened is None or self._opened.catalog.is_replaced or self._opened.is_moved:
                self._opened = OpenedProject(self.place, self.on_wait, self._wrap_model)
                self.note_later(self._opened.opening_notes)
                self._looked_at = float("-inf")  # whoever has put it there may not have made its views yet
            return self._opened

    @property
    def last_opened(self) -> OpenedProject:
        """The index as it was opened last, without a look whether it was replaced: `refresh` has looked."""
        return self._opened or self.opened

    def wait_s(self, wait_s: float | None) -> float:
        """Return the time for which another writer is waited for; without one, `index.wait_s`."""
        return self.settings.index.wait_s if wait_s is None else wait_s

    @property
    def lacks_views(self) -> bool:
        """True if a run has completed the index, but not with these settings, or a part of it was lost."""
        opened = self.opened
        return is_whole(opened) and not opened.views.are_made

    def with_settings(self, settings: Settings) -> Self:
        """Return this index with other settings for questions; it is open for as long as this one is."""
        other = copy(self)
        other._opened = self.opened.with_settings(settings)
        other.place = other._opened.place
        other._shared = self
        return other

    @property
    def history(self) -> CurrentIndex:
        """The index of the commits of this place. Raises SourceError without a repository, UsageError."""
        from codefathom.project.stores.history_place import at_history, history_settings

        if self._shared is not None:
            return self._shared.history.with_settings(history_settings(self.settings))
        with self.lock:
            if self._history is None:
                self._history = CurrentIndex(
                    at_history(self.place),
                    self.on_progress,
                    self.on_wait,
                    wrap_model=self._wrap_model,
                    first_index_wait_s=self._first_index_wait_s,
                )
            return self._history

    def move_to(self, place: Location) -> None:
        """Go on with other settings; another thread may be reading the index that was open."""
        with self.lock:
            self.place, self._opened, self._history = place, None, None

    def close(self) -> None:
        """Release files; a run that writes the index is waited for."""
        with self.lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None
            if self._history is not None:
                self._history.close()

    def take_in(self, files: Sequence[str], on_file: OnFile = lambda _: None) -> None:
        """Take in what has changed in these files and folders, and tell of each; see `Engine.take_in`."""
        if self.place.revision is not None:  # the usual look at the branch comes next
            return
        report = self.update(files, {}, None)
        for act, paths in (
            ("added", report.added),
            ("changed", report.changed),
            ("removed", report.removed),
            ("unchanged", report.unchanged),
        ):
            for path in paths:
                on_file(ConsultedFile(path, act))
        for item in report.refused:
            on_file(ConsultedFile(item.path, "refused", item.reason))
        refused = [Note(LEFT_OUT, {"path": item.path, "reason": item.why}) for item in report.refused]
        self._notes = tuple(dict.fromkeys((*self._notes, *refused)))

    def condition(self, where: Where) -> Where:
        """Return a condition that stands in a question as the catalogue reads it."""
        return where

    def files_of_branches(self, where: Where) -> Callable[[str], bool]:
        """Return whether a file is in the branches that a condition names, by its path.

        Raises UsageError for a branch that no repository has, and for a project, which has no branches.
        """
        normalise(where)  # the error of a project
        return lambda path: False

    def asked_by(self, question: Question) -> CurrentIndex:
        """Return the index that answers a question: of a fleet, with all branches where it asks for these."""
        return self

    def branches_asked(self) -> Branches:
        """Return which branches are read; None where there is one only."""
        return None

    def status(self) -> Status:
        """Return the contents of the index, and the number of files that changed since."""
        from codefathom.project.inspection import status

        with reading(self.opened, is_old_shown=True) as opened:
            return status(opened)

    def doctor(self) -> tuple[Check, ...]:
        """Return the checks of the index that ask no model; see `Engine.doctor`."""
        from codefathom.project.inspection import doctor

        return doctor(self.opened)

    def refuse(self, what: str) -> None:
        """Raise UsageError, with what cannot be done, for an index of files that do not change."""
        if self.place.revision is not None:
            raise UsageError(f"the revision {self.place.revision.name!r} {what}", hint="its files do not change")

    def refuse_fleet(self, what: str, instead: FleetAction = "index") -> None:
        """Raise UsageError for a fleet, with what it cannot do, and what can be done instead; a project does all."""

    # ---- how far a question reaches: all of a project, and in a fleet what can be asked in time

    def in_time(self, ask: Callable[[], _T]) -> _T:
        """Return the answer to a question."""
        return ask()

    def looking(self) -> AbstractContextManager[None]:
        """Have the questions of the block end in time."""
        return nullcontext()

    def partial(self) -> Partial | None:
        """Return what the question of now has not reached; None where that is nothing."""
        return None

    def partial_notes(self) -> tuple[Note, ...]:
        """Return what the question of now has not reached as a note, or none."""
        return ()

    # ---- what the next search tells

    def take_notes(self) -> tuple[Told, ...]:
        """Return what the next search has to tell, once."""
        notes, self._notes = self._notes, ()
        return notes

    def note_later(self, notes: Sequence[Told]) -> None:
        """Let the next search tell something."""
        self._notes = (*self._notes, *notes)

    def note(self, text: str) -> None:
        """Tell the user something now, and those who only see the result of the next search with that."""
        self.on_wait(text)
        self.note_later([text])

    # ---- a look before each question

    def refresh(self) -> bool:
        """Bring the index up to date as `search.refresh` says, and return whether it is behind; see `Engine`."""
        with self.lock:
            policy = self.settings.search.refresh
            opened = self.opened
            fresh = not opened.is_known or opened.catalog.generation == 0
            is_current = opened.views.current
            if not is_current:
                opened.views.reload()  # another process may have written
                is_current = opened.views.current
            if not fresh and (policy == "never" or time.monotonic() - self._looked_at < self._rest_s):
                return self._behind or not is_current
            if not fresh and self._is_left_to_others(opened):
                return True
            began = time.monotonic()
            todo = self._planned(opened) if opened.is_known else None
            pending = 1 if todo is None else todo.n_pending
            self._rest_s = max(LOOK_AGAIN_AFTER_S, _REST * (time.monotonic() - began))
            self._behind = bool(pending) or not opened.views.current
            self._looked_at = time.monotonic()
            most = self.settings.search.refresh_max_files
            if not opened.views.are_made:
                pending = 0  # there is nothing else to search: waited for, however much it is
            if self._behind and (fresh or policy == "always" or pending <= most):
                self._try_to_index(opened, todo)
            return self._behind

    def _planned(self, opened: OpenedProject) -> IndexPlan:
        """Return what the index has to take in."""
        recipe = opened.recipe
        todo = plan_again(opened.catalog, recipe, opened.tree)
        if not todo.n_pending and not todo.unrecorded:
            remember(opened.tree, opened.catalog, recipe, todo)
        return todo

    def _is_left_to_others(self, opened: OpenedProject) -> bool:
        """Return True if another run makes what the index lacks, or if that is too much for this question to wait for.

        No question waits for a part that is made again; the first index, which is all that there is to ask, is waited
        for, unless `first_index_wait_s` says otherwise.
        """
        waits = self._first_index_wait_s != 0.0
        if is_whole(opened):
            return self.lacks_views and (not waits or opened.lock().progress() is not None)
        return not waits and first_run(opened) is not None

    def _try_to_index(self, opened: OpenedProject, todo: IndexPlan | None) -> None:
        """Index now. Where that fails, there is what was indexed before, which is said to be stale.

        What another process makes for the first time is waited for: there is nothing else to search. What a model
        failed on, and purposes, wait for `index`: no search waits for more of a model than it must.
        """
        is_there = opened.is_known and opened.catalog.generation > 0
        longest_s = self.settings.index.wait_s if self._first_index_wait_s is None else self._first_index_wait_s
        wait_s = 0.0 if is_there and opened.views.are_made else longest_s
        try:
            run = partial(self.run, full=False, retry=False, wait_s=wait_s, earlier=todo)
            report = self.report_of(again_when_damaged(run, self._close_damaged))
            if report.lost:
                self.note(report.lost)
        except StoppedError:
            self._looked_at = float("-inf")  # the next question takes in what was left
            raise
        except (IndexingError, NoFilesError) as error:
            if not is_there:
                raise
            if not isinstance(error, LockedError):
                self.note_later([f"the index cannot be brought up to date: {error}"])

    def _close_damaged(self) -> None:
        """Close an index that was found to be damaged, to be made anew; tell it of one that was not made here."""
        if self._opened is not None and not self._opened.is_known:
            self.note("the index is damaged and was not made here; it is made again from the files")
        self.close()

    def believed(self, opened: OpenedProject | None = None) -> OpenedProject:
        """Return the opened index. Raises IndexingError for one that was made elsewhere and is not checked yet."""
        refuse_moved(self.place.root)
        opened = opened or self.last_opened
        if not opened.is_known:
            raise IndexingError(
                f"the index in {self.place.index_dir!r} was not made here and has not been compared with the files yet",
                hint="run `fathom index`, which compares them",
            )
        return opened

    # ---- runs

    def whole_run(self, *, full: bool, retry: bool, wait_s: float | None, keep_rules: bool) -> Run:
        """Bring the index up to date with the tree, and with its store; see `Engine.index_events`."""
        from codefathom.project.stores.settled import with_settled_store

        run = partial(self.run, full=full, retry=retry, wait_s=self.wait_s(wait_s), keep_rules=keep_rules)
        self._reach_model()
        yield from again_when_damaged(
            lambda: with_settled_store(self.opened.with_models(run(), retry=retry), self.opened), self.close
        )

    def _reach_model(self) -> None:
        """Open the index again if its embedding model was not reached with the few attempts that a question makes."""
        if not is_slow(self.settings):
            return
        from codefathom.remote.embedding_model import is_away

        with self.lock:
            if is_away(self.opened.embedder):
                self._opened = OpenedProject(self.place, self.on_wait, self._wrap_model, is_patient=True)
                self.note_later(self._opened.opening_notes)

    def run(
        self,
        *,
        full: bool,
        retry: bool,
        wait_s: float = 0.0,
        keep_rules: bool = False,
        earlier: IndexPlan | None = None,
    ) -> Run:
        """Bring the index up to date with the tree, which an `earlier` look may have planned. Raises LockedError."""
        with self.lock:
            if self.opened.unwritable is not None:
                self._opened = None  # there may be room again; another thread may be reading the one that was open
            lock = self.opened.lock()
            yield from _waits(lock, wait_s, self.opened)
            with held_lock(lock), self._in_place():
                if not full and self.settings.index.siblings:
                    self._begin_with_sibling()
                yield from self._write(lock, full=full, retry=retry, keep_rules=keep_rules, earlier=earlier)
            self._remove_old_revisions()

    def report_of(self, run: Run) -> IndexReport:
        """Return the report of a run, whose progress is told."""
        report: IndexReport | None = None
        with closing(run) as events:  # its lock is free again at once, also when nobody waits for the end
            for event in events:
                check_stopped()
                if isinstance(event, types.IndexReport):
                    report = event
                else:
                    self.on_progress(event)
        assert report is not None  # the last event of every run
        return report

    def update(self, paths: Sequence[str], texts: Mapping[str, str | None], wait_s: float | None) -> PathReport:
        """Take in what has changed in files and folders, and texts by their names; see `Engine.update`."""
        from codefathom.index.by_path import places_of, take_in

        places = places_of(self.opened.recipe.root, paths) if paths or not texts else []
        by_path = {kept_path(name): text for name, text in texts.items()}
        opened = self.opened
        if not opened.is_known or not opened.catalog.generation:
            self.report_of(self.whole_run(full=False, retry=True, wait_s=wait_s, keep_rules=False))
        with self.writing(self.wait_s(wait_s)) as stages:
            report = take_in(stages, places, by_path)
            self._looked_at = float("-inf")
            return report

    def import_scip(self, files: Sequence[str], wait_s: float | None, *, refresh: bool) -> ScipReport:
        """Take the edges of files from SCIP indexes; see `Engine.import_scip`."""
        from codefathom.index.scip_import import import_scip
        from codefathom.source.scip import ScipFile

        with ExitStack() as stack:
            indexes = [stack.enter_context(closing(ScipFile(path))) for path in files]
            if refresh or not self.opened.is_known or not self.opened.catalog.generation:
                self.report_of(self.whole_run(full=False, retry=True, wait_s=wait_s, keep_rules=False))
            with self.writing(self.wait_s(wait_s)) as stages, _followed_by_views(stages):
                return import_scip(self.opened.catalog, indexes)

    def remove_scip(self, wait_s: float | None) -> int:
        """Remove the edges of compilers; see `Engine.remove_scip`."""
        with self.writing(self.wait_s(wait_s)) as stages, _followed_by_views(stages):
            return self.opened.catalog.forget_compiler_uses()

    @contextmanager
    def writing(self, wait_s: float) -> Iterator[Stages]:
        """Wait for the writer lock, and give what a change of the index needs. Raises LockedError, IndexingError."""
        with self.lock:
            lock = self.opened.lock()
            for event in _waits(lock, wait_s, self.opened):
                self.on_progress(event)
            with held_lock(lock), self._in_place(), self.believed(self.opened).writing(lock) as stages:
                yield stages

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """Raise MovedError for each error that comes of a root that has become a link meanwhile."""
        try:
            yield
        except FathomError:
            refuse_moved(self.place.root)
            raise

    def _write(self, lock: WriterLock, *, full: bool, retry: bool, keep_rules: bool, earlier: IndexPlan | None) -> Run:
        with self.opened.writing(lock) as stages:
            from codefathom.index.indexing import run

            # Once the plan is told, which rules that take no file do not reach; of an index in doubt only at the end.
            keeps = keep_rules and stages.doubt is None
            if self.place.revision is not None:
                self._note_revision()
            progress = types.RunProgress()
            for event in run(stages, full=full, retry=retry, check=retry, earlier=earlier):
                progress = _told(lock, event, progress)
                if keeps and isinstance(event, types.Progress) and event.extent is not None:
                    kept_rules.keep_rules(self.opened.catalog, self.settings)
                if stages.doubt is not None and isinstance(event, types.IndexReport):
                    self._checked(event, keep_rules=keep_rules)
                yield event
            self._looked_at, self._behind = time.monotonic(), False

    def _begin_with_sibling(self) -> None:
        """Begin a first index with that of a worktree, clone or copy of this project, where this user has one."""
        opened = self.opened
        if not opened.is_known or opened.catalog.generation:
            return
        from codefathom.project.stores.sibling import begin_with_sibling

        if root := begin_with_sibling(opened):
            self.on_wait(_LIKE_ANOTHER.format(root=root))

    def _note_revision(self) -> None:
        from codefathom.project.stores.revision_indexes import note_revision

        note_revision(self.opened.catalog, self.place)

    def _remove_old_revisions(self) -> None:
        """Remove the indexes of revisions that are too many now that this one is there, and say so."""
        if self.place.revision is None:
            return
        from codefathom.project.stores.revision_indexes import remove_unused

        for item in remove_unused(self.place):
            self.on_wait(_OLD_REVISION.format(name=item.revision, why=item.why))

    def _checked(self, report: IndexReport, *, keep_rules: bool) -> None:
        """Remember that the index was compared with the tree, and tell of what was wrong in it."""
        opened = self.opened
        if keep_rules:
            kept_rules.keep_rules(opened.catalog, self.settings)
        if report.mended:
            self.note(_MENDED.format(n=len(report.mended), dir=self.place.index_dir))
        if not opened.remember():
            self.note(not_remembered(self.place))


@contextmanager
def _followed_by_views(stages: Stages) -> Iterator[None]:
    """Let the views have the generation of what is changed in the catalogue inside of the block."""
    stages.views.begin(damaged=stages.views.damage())
    try:
        yield
    finally:
        stages.views.commit()
        stages.catalog.soundness.settle()


def not_remembered(place: Location) -> str:
    """Return the sentence for an index that is believed now, but will not be by the next process."""
    return _NOT_REMEMBERED.format(dir=place.state_dir)


def _told(lock: WriterLock, event: Progress | IndexReport, before: RunProgress) -> RunProgress:
    """Tell in the file of the lock how far a run is after an event, and return it."""
    if not isinstance(event, types.Progress) or event.phase != "index":
        return before
    n_files = event.extent.n_files if event.extent is not None else before.n_files
    n_left = event.n_total - event.n_done
    progress = types.RunProgress(max(n_files - n_left, 0), n_files)
    lock.tell(progress)
    return progress


def _waits(lock: WriterLock, wait_s: float, opened: OpenedProject) -> Iterator[Progress]:
    """Take the lock; say for whom it is waited, and how far a first run has come. Raises LockedError."""
    n_files = -1
    for holder in lock.wait(wait_s):
        is_first = opened.is_known and not int(opened.catalog.get_meta("indexed_at_ns", "0"))
        if is_first and n_files < 0:
            n_files = len(plan(opened.catalog, opened.recipe).scan.files)
        n_done = min(opened.catalog.counts().documents, n_files) if is_first else 0
        yield types.Progress("wait", n_done, max(n_files, 0), message=f"{holder} is writing the index")
