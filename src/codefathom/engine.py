"""One class with everything that a face (command line, server, program) may ask of a project.

    from codefathom import Engine

    with Engine.open("path/to/project") as engine:
        result = engine.search("where are tokens refreshed", limit=5)

An engine may be used from several threads; from asyncio call it with `asyncio.to_thread`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Self, TypeVar, cast

from codefathom.config.configuration import is_bare_repository
from codefathom.config.git_config import excludes_file
from codefathom.config.settings import Settings
from codefathom.config.user_places import PROJECT_FILE
from codefathom.errors import (
    FathomError,
    IndexingError,
    LockedError,
    NoFilesError,
    SettingsError,
    SourceError,
    StoppedError,
    StoreError,
    UsageError,
)
from codefathom.facts.reasons import LEFT_OUT, Note, Told
from codefathom.index.plan import plan
from codefathom.project import kept_rules
from codefathom.project.damage import (
    again_when_damaged,
    damage_of,
    first_run,
    is_whole,
    lines_of,
    made_meanwhile,
    reading,
    state_of,
)
from codefathom.project.kept_rules import scan_rules
from codefathom.project.location import Location, locate, locate_registered
from codefathom.project.opening import OpenedProject, fusion, is_slow
from codefathom.search.filter.filter_options import IMPORT, kind_named
from codefathom.search.pipeline import search
from codefathom.search.question.query import parse_query
from codefathom.search.request import SearchRequest
from codefathom.search.verdict import of_several
from codefathom.source.languages import is_extracted
from codefathom.source.masks import MASK
from codefathom.stores.conditions import combine
from codefathom.stores.lock import held_lock, writer_lock
from codefathom.system.real_paths import refuse_moved
from codefathom.system.stopping import check_stopped
from codefathom.text.kept_names import kept_path
from codefathom.text.printable import is_text
from codefathom.types import (
    FUNCTION_KINDS,
    LEVELS,
    MODES,
    Backup,
    ConsultedFile,
    Context,
    Filter,
    FoundSymbol,
    Hit,
    IndexReport,
    LevelName,
    Mode,
    PathReport,
    Progress,
    RelatedResult,
    RunProgress,
    SearchResult,
    SecretPlace,
    Snapshot,
    Status,
    Where,
)

if TYPE_CHECKING:
    from codefathom.agent.loop import Event
    from codefathom.answer.answer_types import Answer, AnswerRequest
    from codefathom.answer.ask import AnswerSources, Text
    from codefathom.index.indexing import Stages
    from codefathom.index.word_search import UnindexedFiles
    from codefathom.project.browsing import Files
    from codefathom.project.stores.desk import StoreDesk
    from codefathom.project.stores.revision_indexes import RevisionIndex
    from codefathom.providers.base import ChatModel
    from codefathom.search.graph.impact import Impact
    from codefathom.search.graph.project_map import MapParts, ProjectMap
    from codefathom.source.scan import ScanRules
    from codefathom.source.watching.watch import TreeNotice
    from codefathom.stores.lock import WriterLock
    from codefathom.types import Check

OnProgress = Callable[[Progress], None]
OnWait = Callable[[str], None]
OnFile = Callable[[ConsultedFile], None]

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
_RESTORED_FROM_ELSEWHERE = (
    "this backup was not made by you for this folder; the next run compares it with the files of the project"
)
_POLLING = "the files are looked at every {s:g} s: {reason}"
_GONE, _BACK = "the folder {root!r} is gone", "start again when it is back"
_LEAST_WAIT_S = 5.0  # for another writer, while watching
_NOT_TAKEN = "{n} documents of the export were left out: no file of this project has exactly their text"


class Engine:
    """One project: its files, its index, and questions to it."""

    def __init__(
        self,
        place: Location,
        on_progress: OnProgress | None = None,
        on_wait: OnWait = lambda _: None,
        *,
        wrap_model: Callable[[ChatModel], ChatModel] = lambda model: model,
        first_index_wait_s: float | None = None,
    ) -> None:
        """Take the place of a project. Nothing is read or written yet.

        `wrap_model` is applied to each language model before it is used. `first_index_wait_s` is the time that a
        question waits while another process makes the first index; without one it is `index.wait_s`.
        """
        self.place = place
        self._wrap_model = wrap_model
        self._first_index_wait_s = first_index_wait_s
        self._on_progress = on_progress or (lambda _: None)
        self._on_wait = on_wait
        self._lock = RLock()
        self._opened: OpenedProject | None = None
        self._looked_at, self._rest_s = float("-inf"), 0.0
        self._behind = False
        self._notes: tuple[Told, ...] = ()  # for the next search to tell

    @classmethod
    def open(
        cls,
        path: str = ".",
        *,
        settings: Settings | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait = lambda _: None,
        revision: str = "",
        is_root: bool = False,
    ) -> Self:
        """Open the project that `path` lies in: the nearest folder upwards with .fathom, fathom.toml or .git.

        `on_progress` takes each step; `on_wait`, from any thread, a line for the user: what we wait for, and what was
        wrong with an index that was made elsewhere. With `revision` the files are those of a branch, tag or commit
        of git, read from its object store; a bare repository is read at HEAD without one. With `is_root`, the project
        is the folder `path` itself, whatever lies above it.
        Nothing is read or written yet. Raises SourceError without such a folder, SettingsError for a bad setting.
        """
        place = locate(os.fspath(path), settings, is_root=is_root)
        if revision or is_bare_repository(place.root):
            from codefathom.project.stores.revised_place import at_revision

            place = at_revision(place, revision or "HEAD")
        return cls(place, on_progress, on_wait)

    @property
    def root(self) -> str:
        """Absolute path of the project."""
        return self.place.root

    @property
    def folder(self) -> str:
        """Absolute path of the folder with the project's files, "" for a revision."""
        return self.place.root if self.place.revision is None else ""

    @property
    def index_dir(self) -> str:
        """Absolute path of the index."""
        return self.place.index_dir

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.place.settings

    @property
    def generation(self) -> int:
        """Number of changes of the index, by whatever process; 0 before the first run, or the first check."""
        opened = self.opened
        return opened.catalog.generation if opened.is_known else 0

    @property
    def damage(self) -> tuple[str, ...]:
        """A sentence for each part of the index that is damaged; the next `index` repairs them."""
        return damage_of(self.opened)

    @property
    def first_run(self) -> RunProgress | None:
        """The progress of another run that makes this index for the first time; None while there is no such run."""
        return first_run(self.opened)

    @property
    def is_written(self) -> bool:
        """True while another run writes the index."""
        return self.opened.lock().progress() is not None

    @property
    def lacks_views(self) -> bool:
        """True if a run has completed the index, but not with these settings, or a part of it was lost."""
        return is_whole(self.opened) and not self.opened.views.are_made

    @property
    def opened(self) -> OpenedProject:
        """The opened index, for callers that ask several projects at once, measure or test. Raises MovedError."""
        refuse_moved(self.place.root)
        with self._lock:
            # One that is replaced stays open: another thread may be reading it.
            if self._opened is None or self._opened.catalog.is_replaced or self._opened.is_moved:
                self._opened = OpenedProject(self.place, self._on_wait, self._wrap_model)
                self._looked_at = float("-inf")  # whoever has put it there may not have made its views yet
            return self._opened

    def with_settings(self, settings: Settings) -> Self:
        """Return this engine with other settings for questions; it is open for as long as this one is."""
        other = copy(self)
        other._opened = self.opened.with_settings(settings)
        other.place = other._opened.place
        return other

    # ---- index

    def index(self, *, full: bool = False, wait_s: float | None = None, keep_rules: bool = False) -> IndexReport:
        """Bring the index up to date with the tree; with `full`, from nothing.

        With `keep_rules`, `source.required_exts` and `source.ignore` given as arguments hold for later runs, too.

        Raises LockedError when another process goes on writing for `wait_s`, without one `index.wait_s`.
        """
        return self._report(self.index_events(full=full, wait_s=wait_s, keep_rules=keep_rules))

    def index_events(
        self, *, full: bool = False, wait_s: float | None = None, keep_rules: bool = False, retry: bool = True
    ) -> Generator[Progress | IndexReport, None, None]:
        """Like `index`, as a stream of progress with the report as its last item.

        Without `retry`, a language model is not asked again about unchanged files on which it failed.
        """
        wait_s = self.settings.index.wait_s if wait_s is None else wait_s
        run = partial(self._run, full=full, retry=retry, wait_s=wait_s, keep_rules=keep_rules)
        from codefathom.project.stores.settled import with_settled_store

        self._reach_model()
        yield from again_when_damaged(
            lambda: with_settled_store(self.opened.with_models(run(), retry=retry), self.opened), self.close
        )

    def _reach_model(self) -> None:
        """Open the index again if its embedding model was not reached with the few attempts that a question makes."""
        if not is_slow(self.settings):
            return
        from codefathom.remote.embedding_model import is_away

        with self._lock:
            if is_away(self.opened.embedder):
                self._opened = OpenedProject(self.place, self._on_wait, self._wrap_model, is_patient=True)

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
        from codefathom.index.by_path import places_of, take_in

        self._refuse_revision("cannot be updated by paths")
        places = places_of(self.opened.recipe.root, paths) if paths or not texts else []
        by_path = {kept_path(name): text for name, text in texts.items()}
        if not self.generation:
            self.index(wait_s=wait_s)
        with self._writing(self.settings.index.wait_s if wait_s is None else wait_s) as stages:
            report = take_in(stages, places, by_path)
            self._looked_at = float("-inf")
            return report

    def remove_index(self, *, wait_s: float | None = None) -> int:
        """Remove the index and return its size in bytes; 0 when there is none. A later question makes a new one.

        Raises LockedError as `index` does.
        """
        from codefathom.project.removal import remove_index

        with self._lock:
            self.close()
            wait_s = self.settings.index.wait_s if wait_s is None else wait_s
            return remove_index(self.place, wait_s=wait_s, leave_store=self._leave_store)

    def remove_revision(self, name: str, *, wait_s: float | None = None) -> int:
        """Remove the index of a revision of this project and return its size in bytes; 0 when there is none.

        It can be one whose branch or tag is gone. Raises SourceError for a name of nothing, LockedError as `index`.
        """
        from codefathom.project.stores.revision_indexes import remove_revision

        return remove_revision(self.place, name, wait_s=self.settings.index.wait_s if wait_s is None else wait_s)

    @property
    def revisions(self) -> tuple[RevisionIndex, ...]:
        """The indexes of revisions of this project, the one used last first."""
        from codefathom.project.stores.revision_indexes import revision_indexes

        return revision_indexes(self.place)

    def _leave_store(self) -> None:
        """Remove what a store of other makers has of this project; one that cannot be used keeps it."""
        try:
            project = OpenedProject(self.place, self._on_wait)
        except IndexingError:  # it cannot be read any more, so that nobody knows where its vectors are
            return
        with closing(project) as opened:
            if opened.store.vectors != "flat":
                try:
                    with closing(opened.vector_store(opened.store)) as store:
                        store.drop()
                except StoreError as error:  # the index can be removed all the same
                    self._on_wait(f"{error}: what it has of this project stays there")

    @property
    def stores(self) -> StoreDesk:
        """The stores of this project's vectors."""
        from codefathom.project.stores.desk import StoreDesk

        return StoreDesk(self._believed(self.opened), self._on_progress)

    def refresh(self) -> bool:
        """Bring the index up to date as `search.refresh` says, as each question does; return whether it is behind."""
        with self._lock:
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
            pending = plan(opened.catalog, opened.recipe).n_pending if opened.is_known else 1
            self._rest_s = max(LOOK_AGAIN_AFTER_S, _REST * (time.monotonic() - began))
            self._behind = bool(pending) or not opened.views.current
            self._looked_at = time.monotonic()
            most = self.settings.search.refresh_max_files
            if not opened.views.are_made:
                pending = 0  # there is nothing else to search: waited for, however much it is
            if self._behind and (fresh or policy == "always" or pending <= most):
                self._try_to_index(opened)
            return self._behind

    def _is_left_to_others(self, opened: OpenedProject) -> bool:
        """Return True if another run makes what the index lacks, or if that is too much for this question to wait for.

        No question waits for a part that is made again; the first index, which is all that there is to ask, is waited
        for, unless `first_index_wait_s` says otherwise.
        """
        waits = self._first_index_wait_s != 0.0
        if is_whole(opened):
            return self.lacks_views and (not waits or opened.lock().progress() is not None)
        return not waits and first_run(opened) is not None

    def plan(self) -> IndexReport:
        """Return the report that `index` would give now, and change nothing."""
        from codefathom.index.forecast import dry_run
        from codefathom.project.inspection import forecast

        opened = self.opened
        report = dry_run(
            opened.catalog,
            opened.recipe,
            opened.without_purpose() if opened.is_known else None,
            is_known=opened.is_known,
        )
        return replace(report, forecast=forecast(opened, report))

    def watch(
        self,
        stop: Callable[[], bool],
        *,
        interval_s: float = 1.0,
        read_settings: Callable[[], Settings] | None = None,
    ) -> Iterator[IndexReport]:
        """Index now and after every change, until `stop` returns True; yield the first report, and those with changes.

        Changes are reported by the system, see `index.watch`; where that cannot be, the files are looked at every
        `interval_s` seconds, and `on_wait` is told why. On an unchanged file a model that failed is not asked again.
        `read_settings` is called after each change: from then on the settings that it returns are in force; those that
        cannot be read are told to `on_wait`. Without it, the settings of the beginning stay. Raises SourceError when
        the folder of the project is gone.
        """
        self._refuse_revision("cannot be watched")
        yield self.index(keep_rules=True)
        for _ in self.notices(stop, interval_s=interval_s, read_settings=read_settings):
            report = self._follow(stop)
            if report is not None and report.is_eventful:
                yield report

    def notices(
        self,
        stop: Callable[[], bool],
        *,
        interval_s: float = 1.0,
        read_settings: Callable[[], Settings] | None = None,
    ) -> Iterator[TreeNotice]:
        """Yield now, and each time when files may have changed, until `stop` returns True. Nothing is indexed.

        Without an interval nothing is looked at again and again: it ends where the system reports no changes. Between
        two notices the engine may be closed. `read_settings` is that of `watch`. Raises SourceError when the folder of
        the project is gone.
        """
        from codefathom.source.watching.watch import WatchOptions, watch
        from codefathom.source.watching.watched_folders import OwnPlaces

        self._refuse_revision("cannot be watched")
        read = read_settings or (lambda: self.settings)
        own = OwnPlaces((self.index_dir, self.place.cache_dir, self.place.state_dir), (PROJECT_FILE,))
        variables = self.place.variables
        # Looked at every second, for which a closed engine is not opened again.
        options = WatchOptions(self.settings.index.watch, interval_s, own, lambda: excludes_file(variables))
        reason = ""
        for notice in watch(self.root, lambda: self._rules_now(read), stop, options):
            if notice.by == "polling" and not interval_s:
                return
            if read_settings is not None:
                self._rules_now(read_settings)
            if notice.reason and notice.reason != reason:
                reason = notice.reason
                self._on_wait(_POLLING.format(s=interval_s, reason=reason))
            yield notice

    def _rules_now(self, read_settings: Callable[[], Settings]) -> ScanRules:
        """Return the rules for files, after a look whether settings or the ignore file of the user are others now."""
        try:
            settings = read_settings()
        except SettingsError as error:
            self._on_wait(f"{error}; the settings before stay in force")
            settings = self.settings
        rules = self.opened.recipe.rules
        exclude = scan_rules(settings, self.place.variables).user_exclude
        if settings != self.settings or exclude != rules.user_exclude:
            if not os.path.isdir(self.root):
                raise SourceError(_GONE.format(root=self.root), hint=_BACK)
            for text in settings.refused.values():
                self._on_wait(text)
            with self._lock:
                self.place = locate_registered(self.root, settings)
                self._opened = None  # another thread may be reading the one that was open
            rules = self.opened.recipe.rules
        return rules

    def _follow(self, stop: Callable[[], bool]) -> IndexReport | None:
        """Take in what has changed, however long another process writes; None when `stop` came first."""
        while not stop():
            try:
                return self._report(
                    self.index_events(retry=False, wait_s=max(self.settings.index.wait_s, _LEAST_WAIT_S))
                )
            except LockedError as error:
                self._on_wait(str(error))
            except FathomError as error:
                if os.path.isdir(self.root):
                    raise
                raise SourceError(_GONE.format(root=self.root), hint=_BACK) from error
        return None

    # ---- questions

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        offset: int = 0,
        level: LevelName | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
        files: Sequence[str] = (),
        on_file: OnFile = lambda _: None,
    ) -> SearchResult:
        """Return the best places for a question, each with file, lines, symbol and reason.

        There are at most `limit` hits, those behind the `offset` first ones; `SearchResult.rest` tells how the list
        goes on. In the modes "regex", "symbol" and "graph" it has all places there are, else those that may answer.

        With `files`, only these files and folders are searched, and what has changed in them is taken in first,
        whatever `search.refresh` says; see `update`. A path that is no file of the index is named in `degraded`.
        `on_file` takes each file that is looked into: the named ones with what became of them, then those with hits.
        `level` is what a hit is: "chunk" (default), "symbol", "function" (also methods) or "file". `where` is a filter,
        see `codefathom.search.filter.filter_parser.parse_filter`. Scores run from 0 to 1. The first search makes the
        index.
        Raises UsageError for an empty query or one that names a path or symbol that is not there.
        """
        started = time.perf_counter()
        request = self._request(query, limit=limit, level=level, mode=mode, where=where, least=min_score)
        _check_count("offset", offset, _MOST_PLACES, least=0)
        request = replace(request, offset=offset)
        if files:
            request, refused = self._kept_to(request, files, on_file)
            self._notes = (*self._notes, *refused)
        stale = self.refresh()
        with reading(self._believed()) as opened:
            result = search(request, opened.sources)
            if made_meanwhile(opened):
                result = search(request, opened.sources)
            notes, self._notes = (*self._notes, *state_of(opened)), ()
            hits = _with_places(opened.marked(_as_in_files(result.hits, opened)), opened)
            _tell(hits, on_file)
            return SearchResult(
                query=query,
                hits=hits,
                level=request.level,
                mode=result.mode,
                confidence=result.confidence,
                generation=opened.catalog.generation,
                problems=(*result.problems, *notes),
                stale=stale,
                advice=result.suggestion,
                milliseconds=(time.perf_counter() - started) * 1000,
                weak=result.verdict.weak,
                unanswerable=result.verdict.unanswerable,
                plan=result.plan,
                scale=" ".join(
                    (result.mode, opened.views.model, self.settings.search.ranking, self.settings.rerank.model)
                ),
                offset=offset,
                rest=result.rest,
            )

    def _kept_to(
        self, request: SearchRequest, files: Sequence[str], on_file: OnFile
    ) -> tuple[SearchRequest, list[Note]]:
        """Take in these files, and return the search in them, and a note for each that is not in the index."""
        where = combine(request.where, self.kept_to(files))
        return replace(request, where=where), self._take_in(files, on_file)

    def take_in(self, files: Sequence[str]) -> None:
        """Take in what has changed in these files and folders, as a search does that names them.

        The next search names a path that is no file of the index in `degraded`. Raises as `update`.
        """
        self._notes = tuple(dict.fromkeys((*self._notes, *self._take_in(files, lambda _: None))))

    def _take_in(self, files: Sequence[str], on_file: OnFile) -> list[Note]:
        """Take in these files, and return a note for each that is not in the index."""
        if self.place.revision is not None:  # the usual look at the branch comes next
            return []
        report = self.update(files)
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
        return [Note(LEFT_OUT, {"path": item.path, "reason": item.reason}) for item in report.refused]

    def kept_to(self, files: Sequence[str]) -> Where | None:
        """Return the condition that a place lies in one of these files and folders; None when one is the root.

        Raises UsageError for a path that leads out of the project.
        """
        from codefathom.index.by_path import below_one_of, places_of

        return below_one_of(places_of(self.opened.recipe.root, files))

    def marked(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """Return hits of an earlier search with what is true now of their files; see `Hit.stale`."""
        return self.opened.marked(hits)

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50, offset: int = 0
    ) -> tuple[FoundSymbol, ...]:
        """Return the symbols whose name is, begins with or contains `query`, in that order, behind the first `offset`.

        With the kind "import" these are the imports. Raises UsageError for a kind that does not exist. `n_symbols`
        counts all of them.
        """
        _check_texts(query, path, kind)
        _check_count("limit", limit, _MOST_SYMBOLS)
        _check_count("offset", offset, _MOST_PLACES, least=0)
        kind = kind_named(kind) if kind else ""
        self.refresh()
        with reading(self._believed(), whole=True) as opened:
            if kind == IMPORT:
                from codefathom.project.browsing import imports

                return tuple(imports(opened.catalog, query, path)[offset : offset + limit])
            return tuple(opened.catalog.symbols(query, path=path, kind=kind, limit=limit, offset=offset))

    def n_symbols(self, query: str = "", *, path: str = "", kind: str = "") -> int:
        """Return the number of symbols that `symbols` gives without a limit."""
        _check_texts(query, path, kind)
        kind = kind_named(kind) if kind else ""
        with reading(self._believed(), whole=True) as opened:
            if kind == IMPORT:
                from codefathom.project.browsing import imports

                return len(imports(opened.catalog, query, path))
            return opened.catalog.n_symbols(query, path=path, kind=kind)

    @property
    def files(self) -> Files:
        """The indexed files: their names, lines and outlines."""
        from codefathom.project.browsing import Files
        from codefathom.project.originals import Lines

        opened = self._believed(self.opened)
        return Files(opened.catalog, Lines(opened))

    @property
    def unindexed(self) -> UnindexedFiles:
        """The files themselves, for an agent that cannot wait for the first index; what is returned lists them once."""
        from codefathom.index.word_search import UnindexedFiles

        return UnindexedFiles(self.opened.recipe, marks_secrets=self.settings.mcp.secrets == "mask")

    def related(self, target: str, *, depth: int = 1, limit: int = 200, offset: int = 0) -> RelatedResult:
        """Return the imports, importers, calls and uses of a file (`path`) or a symbol (`@@name`).

        There are at most `limit` edges, those behind the `offset` first ones; `RelatedResult.rest` counts the others.
        """
        from codefathom.search.graph.related import related

        _check_texts(target)
        _check_count("limit", limit, _MOST_SYMBOLS)
        _check_count("offset", offset, _MOST_PLACES, least=0)
        self.refresh()
        with reading(self._believed(), whole=True) as opened:
            return related(opened.catalog, target, depth=depth, limit=limit, offset=offset)

    def impact(
        self, revisions: str = "HEAD", *, diff: str = "", depth: int = 3, limit: int = 200, offset: int = 0
    ) -> Impact:
        """Return the reach of a change: the symbols that differ, their uses and importers, the tests that touch them.

        The change is a unified diff, applied or not, or what differs between `A..B`, or between `A` and the files now.
        There are at most `limit` items of each list, behind `offset` items, for which the lists take turns.
        Raises UsageError for what is no diff or no revision, SourceError without such a revision.
        """
        from codefathom.project.impact.file_changes import of_diff, of_range
        from codefathom.project.impact.impact_of_change import impact_of_change

        _check_texts(revisions, diff)
        _check_count("limit", limit, _MOST_SYMBOLS)
        _check_count("offset", offset, _MOST_PLACES, least=0)
        self.refresh()
        with reading(self._believed(), whole=True) as opened:
            files = of_diff(opened, diff) if diff else of_range(opened, revisions)
            return impact_of_change(opened, files, depth=depth, limit=limit, offset=offset)

    def map(
        self,
        query: str = "",
        *,
        files: Sequence[str] = (),
        folders: Sequence[str] = (),
        max_tokens: int = 4_000,
        offset: int = 0,
    ) -> ProjectMap:
        """Return the most central files with the signatures that others use, within a budget of tokens.

        It begins behind the first `offset` files and symbols: `ProjectMap.next_offset` is that of the next page.
        A question, or files that somebody works on, draw what is near them into the map; folders keep it to
        themselves. Raises UsageError for a file or folder that is not in the index.
        """
        from codefathom.answer.tokens import counter
        from codefathom.search.graph.project_map import fitted

        _check_count("offset", offset, _MOST_PLACES, least=0)
        parts = self.map_parts(query, files=files, folders=folders).behind(offset)
        return fitted(query, parts, max_tokens, counter(self.settings.context.tokenizer_path))

    def map_parts(
        self, query: str = "", *, files: Sequence[str] = (), folders: Sequence[str] = (), where: Where | None = None
    ) -> MapParts:
        """Return the parts of a map, the most central first; see `map`. Hits of the question fulfil a condition."""
        from codefathom.search.graph.project_map import MapRequest, map_parts

        _check_texts(*files, *folders)
        result = self.search(query, limit=_MAP_HITS, level="chunk", where=where) if query else None
        self.refresh()
        # What does not answer the question draws nothing into the map.
        hits = result.hits if result and not result.unanswerable else ()
        request = MapRequest(hits, tuple(files), tuple(folders))
        with reading(self._believed(), whole=True) as opened:
            parts = map_parts(opened.catalog, request)
        return parts._replace(verdict=of_several([result])) if result else parts

    def context(
        self,
        query: str,
        *,
        max_files: int | None = None,
        max_tokens: int | None = None,
        where: Where | None = None,
        format_name: str = "files",
        anyway: bool = False,
    ) -> Context:
        """Return the files a prompt about `query` needs, most relevant first, within a budget of tokens.

        What counts are the tokens of the files as `fathom context` prints them in this format. There are at most three
        files where most likely nothing answers, and none where that is as good as certain, unless `anyway` is set.
        """
        from codefathom.project import answer_setup

        context = self.settings.context
        if max_files is not None:
            _check_count("max_files", max_files, _MOST_HITS // answer_setup.HITS_PER_FILE)
        n_files = max_files or context.max_files
        result = self.search(query, limit=answer_setup.HITS_PER_FILE * n_files, level="chunk", where=where)
        with reading(self._believed(), whole=True) as opened:
            result = answer_setup.for_prompt(result, anyway=anyway)
            size = answer_setup.ContextSize(n_files, max_tokens or context.window, format_name)
            return answer_setup.context(opened, result, size)

    def ask(self, request: str | AnswerRequest) -> Answer:
        """Return the answer to a question, every citation checked. See `ask_events`."""
        *_, answer = self.ask_events(request)
        return cast("Answer", answer)

    def ask_events(self, request: str | AnswerRequest) -> Iterator[AnswerSources | Text | Answer]:
        """Yield the sources of an answer, its text in checked pieces, and the whole answer last.

        Without a language model the answer consists of excerpts. Closing the iterator ends the call. Raises UsageError
        for an empty question. A model that fails leaves what it wrote, and excerpts; see `Answer.failure`.
        """
        from codefathom.project import answer_setup

        request, opened = self._ready_for(request)
        events = answer_setup.answer(
            request, opened, lambda query, limit: self.search(query, limit=limit, level="chunk", where=request.where)
        )
        return answer_setup.with_damage(opened, events)

    def investigate(self, request: str | AnswerRequest) -> Iterator[Event | Text | Answer]:
        """Let the configured model look for itself with tools; yield what happens, and the answer last.

        As `ask_events`, but SettingsError without a model.
        """
        from codefathom.project import agent_setup, answer_setup

        request, opened = self._ready_for(request)
        project = agent_setup.project_of(
            request, opened, lambda query, level, n: self.search(query, limit=n, level=level, where=request.where)
        )
        return answer_setup.with_damage(opened, agent_setup.investigate(request, project))

    def status(self) -> Status:
        """Return the contents of the index, and the number of files that changed since."""
        from codefathom.project.inspection import status

        with reading(self.opened, is_old_shown=True) as opened:
            return status(opened)

    def secrets(self) -> tuple[SecretPlace, ...]:
        """Return the places of secrets in the indexed files, never their values."""
        from codefathom.project.inspection import secret_places

        self.refresh()
        with reading(self._believed(), whole=True) as opened:
            return tuple(secret_places(opened))

    def doctor(self, *, providers: bool = False, fix: bool = False) -> tuple[Check, ...]:
        """Check index, views, model, grammars and folders, each with what to do when it is not well.

        With `providers`, every configured language model is asked for one word. With `fix`, what is damaged in the
        index is made again first, as `index` does; raises LockedError when another process is writing.
        """
        from codefathom.project.inspection import doctor

        if fix:
            self.index()
        if not providers:
            return doctor(self.opened)
        from codefathom.project.roles import check_models

        return (*doctor(self.opened), *check_models(self.opened))

    def leaving(self) -> str:
        """Return a sentence on the texts that leave this machine to answer questions, and on their destination."""
        from codefathom.project.roles import leaving

        return leaving(self.place, self.opened.store if self.place.index_folder.exists() else None)

    def export(self, kind: str) -> Iterator[str]:
        """Yield all documents as lines of text; see `exchange` for the kinds."""
        from codefathom.answer.tokens import counter
        from codefathom.project.exchange import export

        self.refresh()
        opened = self._believed()
        count = counter(self.settings.context.tokenizer_path)
        purposes = opened.purposes([document.path for document in opened.catalog.documents()])
        return lines_of(opened, export(opened.catalog, opened.recipe.tree, kind, count, purposes))

    def export_faiss(self, folder: str) -> int:
        """Write `file_index.faiss`, `function_index.faiss` and `metadata.json`, and return their number of rows.

        Raises SettingsError without FAISS, SourceError when the folder cannot be written.
        """
        from codefathom.project.damage import reading
        from codefathom.project.stores.faiss_files import write_faiss_files

        self.refresh()
        opened = self._believed()
        with reading(opened, whole=True):
            return write_faiss_files(opened, folder)

    def import_index(self, lines: Iterator[str], kind: str) -> int:
        """Take over those documents of an export that stand in the tree as they are, and return their number.

        Nothing else of an export is believed: it may come from anywhere.
        """
        from codefathom.index.by_path import take_over
        from codefathom.project.exchange import read_export

        texts = read_export(lines, self.opened.recipe.tree, kind)
        if not self.opened.is_known:
            self._report(self._run(full=False, retry=False, wait_s=self.settings.index.wait_s))
        with self._writing(self.settings.index.wait_s) as stages:
            n_taken = take_over(stages, texts)
        if n_taken < len(texts):
            self._on_wait(_NOT_TAKEN.format(n=len(texts) - n_taken))
        return n_taken

    def backup(self, path: str) -> Backup:
        """Write the index as it is at this moment to one file; searches and index runs go on.

        Raises IndexingError without an index, UsageError when another file has the name, SourceError when it cannot be
        written.
        """
        from codefathom.project.stores.backup import backup

        return backup(self._believed(self.opened), os.path.abspath(path))

    def restore(self, path: str, *, wait_s: float | None = None) -> Backup:
        """Put a backup in the place of the index; the next question or `index` takes in what has changed since.

        A backup that this user did not make for this folder is compared with the files then. Raises LockedError as
        `index` does, SourceError, and IndexingError for what is no whole backup; the index stays as it was then.
        """
        from codefathom.project.stores.backup import restore

        wait_s = self.settings.index.wait_s if wait_s is None else wait_s
        with self._lock:
            self.close()
            restored, is_believed = restore(self.place, os.path.abspath(path), wait_s=wait_s)
            if not is_believed:
                self._on_wait(_RESTORED_FROM_ELSEWHERE)
            return restored

    def export_snapshot(self, path: str, *, key_file: str = "") -> Snapshot:
        """Write the index to one file for other checkouts, signed by the Ed25519 key in `key_file` where one is named.

        It holds the files as they are now: what has changed is taken in before. Raises IndexingError when that cannot
        be finished, UsageError when another file has the name or the key cannot be used, SourceError, SettingsError
        without the library for signatures.
        """
        from codefathom import __version__
        from codefathom.project.stores.snapshot import export_snapshot

        report = self.index()
        if report.paused:
            raise IndexingError(f"the index is not complete: {report.paused}", hint="run `fathom index`")
        with reading(self._believed(self.opened), whole=True) as opened:
            return export_snapshot(opened, os.path.abspath(path), key_file, __version__)

    def import_snapshot(self, path: str, *, check: str = "sample", wait_s: float | None = None) -> Snapshot:
        """Put a snapshot in the place of the index; the next question or `index` takes in what differs here.

        One that is signed by a key of `team.keys` is believed. Of others each text is compared with its file, and a
        sample of what was made of it is made again; with `check` "all", everything. Raises IndexingError for one that
        is refused, LockedError as `index` does, SourceError, SettingsError, ProviderError; the index stays as it was.
        """
        from codefathom.project.stores.snapshot import checked_snapshot, extent_named

        extent = extent_named(check)
        wait_s = self.settings.index.wait_s if wait_s is None else wait_s
        with self._lock:
            opened = self.opened
            with (
                writer_lock(opened.place.index_folder, wait_s=wait_s),
                checked_snapshot(opened, os.path.abspath(path), extent) as checked,
            ):
                self.close()
                if not checked.put_in_place(self.place):
                    self._on_wait(_NOT_REMEMBERED.format(dir=self.place.state_dir))
                return checked.snapshot

    def close(self) -> None:
        """Release files. Closing twice is no error.

        A question of another thread ends with IndexClosedError; a run that writes the index is waited for.
        """
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- inside

    def _ready_for(self, request: str | AnswerRequest) -> tuple[AnswerRequest, OpenedProject]:
        """Return a checked request and the index, up to date. Raises UsageError for texts that are not Unicode."""
        from codefathom.answer.answer_types import AnswerRequest

        request = AnswerRequest(request) if isinstance(request, str) else request
        _check_texts(request.text, *request.pinned, *request.documents, *request.documents.values())
        return request, self.ready()

    def ready(self) -> OpenedProject:
        """Return the index, up to date. Raises IndexingError for one that was made elsewhere and is not checked yet."""
        self.refresh()
        return self._believed()

    def _refuse_revision(self, what: str) -> None:
        if self.place.revision is not None:
            raise UsageError(f"the revision {self.place.revision.name!r} {what}", hint="its files do not change")

    def _believed(self, opened: OpenedProject | None = None) -> OpenedProject:
        """Return the opened index. Raises IndexingError for one that was made elsewhere and is not checked yet."""
        refuse_moved(self.place.root)
        opened = opened or self._opened or self.opened  # `refresh` has looked whether it was replaced
        if not opened.is_known:
            raise IndexingError(
                f"the index in {self.index_dir!r} was not made here and has not been compared with the files yet",
                hint="run `fathom index`, which compares them",
            )
        return opened

    @contextmanager
    def _writing(self, wait_s: float) -> Iterator[Stages]:
        """Wait for the writer lock, and give what a change of the index needs. Raises LockedError, IndexingError."""
        with self._lock:
            lock = self.opened.lock()
            for event in _waits(lock, wait_s, self.opened):
                self._on_progress(event)
            with held_lock(lock), self._in_place(), self._believed(self.opened).writing(lock) as stages:
                yield stages

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """Raise MovedError for each error that comes of a root that has become a link meanwhile."""
        try:
            yield
        except FathomError:
            refuse_moved(self.place.root)
            raise

    def _run(
        self, *, full: bool, retry: bool, wait_s: float = 0.0, keep_rules: bool = False
    ) -> Generator[Progress | IndexReport, None, None]:
        with self._lock:
            if self.opened.unwritable is not None:
                self._opened = None  # there may be room again; another thread may be reading the one that was open
            lock = self.opened.lock()
            yield from _waits(lock, wait_s, self.opened)
            with held_lock(lock), self._in_place():
                if not full and self.settings.index.siblings:
                    self._begin_with_sibling()
                yield from self._write(lock, full=full, retry=retry, keep_rules=keep_rules)
            self._remove_old_revisions()

    def _write(
        self, lock: WriterLock, *, full: bool, retry: bool, keep_rules: bool
    ) -> Generator[Progress | IndexReport, None, None]:
        with self.opened.writing(lock) as stages:
            from codefathom.index.indexing import run

            # Once the plan is told, which rules that take no file do not reach; of an index in doubt only at the end.
            keeps = keep_rules and stages.doubt is None
            if self.place.revision is not None:
                self._note_revision()
            progress = RunProgress()
            for event in run(stages, full=full, retry=retry, check=retry):
                progress = _told(lock, event, progress)
                if keeps and isinstance(event, Progress) and event.extent is not None:
                    kept_rules.keep_rules(self.opened.catalog, self.settings)
                if stages.doubt is not None and isinstance(event, IndexReport):
                    self._checked(event, keep_rules=keep_rules)
                yield event
            self._looked_at, self._behind = time.monotonic(), False

    def _begin_with_sibling(self) -> None:
        """Begin a first index with that of a worktree, clone or copy of this project, where this user has one."""
        from codefathom.project.stores.sibling import begin_with_sibling

        opened = self.opened
        if opened.is_known and not opened.catalog.generation and (root := begin_with_sibling(opened)):
            self._on_wait(_LIKE_ANOTHER.format(root=root))

    def _note_revision(self) -> None:
        from codefathom.project.stores.revision_indexes import note_revision

        note_revision(self.opened.catalog, self.place)

    def _remove_old_revisions(self) -> None:
        """Remove the indexes of revisions that are too many now that this one is there, and say so."""
        if self.place.revision is None:
            return
        from codefathom.project.stores.revision_indexes import remove_unused

        for item in remove_unused(self.place):
            self._on_wait(_OLD_REVISION.format(name=item.revision, why=item.why))

    def _checked(self, report: IndexReport, *, keep_rules: bool) -> None:
        """Remember that the index was compared with the tree, and tell of what was wrong in it."""
        opened = self.opened
        if keep_rules:
            kept_rules.keep_rules(opened.catalog, self.settings)
        notes = [_MENDED.format(n=len(report.mended), dir=self.index_dir)] if report.mended else []
        if not opened.remember():
            notes.append(_NOT_REMEMBERED.format(dir=self.place.state_dir))
        for note in notes:
            self._note(note)

    def _note(self, text: str) -> None:
        """Tell the user something now, and those who only see the result of the next search with that."""
        self._on_wait(text)
        self._notes = (*self._notes, text)

    def _close_damaged(self) -> None:
        """Close an index that was found to be damaged, to be made anew; tell it of one that was not made here."""
        if self._opened is not None and not self._opened.is_known:
            self._note("the index is damaged and was not made here; it is made again from the files")
        self.close()

    def _report(self, events: Generator[Progress | IndexReport, None, None]) -> IndexReport:
        report: IndexReport | None = None
        with closing(events):  # its lock is free again at once, also when nobody waits for the end
            for event in events:
                check_stopped()
                if isinstance(event, IndexReport):
                    report = event
                else:
                    self._on_progress(event)
        assert report is not None  # the last event of every run
        return report

    def _request(
        self,
        query: str,
        *,
        limit: int | None,
        level: LevelName | None,
        mode: Mode | None,
        where: Where | None,
        least: float,
    ) -> SearchRequest:
        settings = self.settings.search
        _check_texts(query)
        if limit is not None:
            _check_count("limit", limit, _MOST_HITS)
        parsed = parse_query(query)
        if parsed.is_empty:
            raise UsageError("the query is empty", hint='ask for something, such as fathom search "retry with backoff"')
        unit = _chosen("level", level or settings.level, LEVELS)
        return SearchRequest(
            query=parsed,
            limit=limit or settings.limit,
            level="symbol" if unit == "function" else unit,
            mode=_chosen("mode", mode or settings.mode, MODES),
            where=combine(where, Filter("kind", "in", FUNCTION_KINDS)) if unit == "function" else where,
            min_score=least,
            fusion=fusion(self.settings),
            expression_limit_s=settings.expression_timeout_s,
        )

    def _try_to_index(self, opened: OpenedProject) -> None:
        """Index now. Where that fails, there is what was indexed before, which is said to be stale.

        What another process makes for the first time is waited for: there is nothing else to search. What a model
        failed on, and purposes, wait for `index`: no search waits for more of a model than it must.
        """
        is_there = opened.is_known and opened.catalog.generation > 0
        longest_s = self.settings.index.wait_s if self._first_index_wait_s is None else self._first_index_wait_s
        wait_s = 0.0 if is_there and opened.views.are_made else longest_s
        try:
            run = partial(self._run, full=False, retry=False, wait_s=wait_s)
            report = self._report(again_when_damaged(run, self._close_damaged))
            if report.lost:
                self._note(report.lost)
        except StoppedError:
            self._looked_at = float("-inf")  # the next question takes in what was left
            raise
        except (IndexingError, NoFilesError) as error:
            if not is_there:
                raise
            if not isinstance(error, LockedError):
                self._notes = (*self._notes, f"the index cannot be brought up to date: {error}")


def _told(lock: WriterLock, event: Progress | IndexReport, before: RunProgress) -> RunProgress:
    """Tell in the file of the lock how far a run is after an event, and return it."""
    if not isinstance(event, Progress) or event.phase != "index":
        return before
    n_files = event.extent.n_files if event.extent is not None else before.n_files
    n_left = event.n_total - event.n_done
    progress = RunProgress(max(n_files - n_left, 0), n_files)
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
        yield Progress("wait", n_done, max(n_files, 0), message=f"{holder} is writing the index")


_MOST_HITS = 100_000
_MOST_PLACES = 10_000_000  # of a list, over all pages
_MOST_SYMBOLS = 1_000_000
_MAP_HITS = 50  # that draw files into a map


def _check_count(what: str, number: int, most: int, least: int = 1) -> None:
    if not least <= number <= most:
        raise UsageError(f"{what} cannot be {number}", hint=f"give a number from {least} to {most}")


def _check_texts(*texts: str) -> None:
    for text in texts:
        if not is_text(text.replace("\0", "")):
            raise UsageError(
                f"{text[:80]!r} cannot be written as UTF-8", hint="remove the unpaired surrogate characters"
            )


_Name = TypeVar("_Name", bound=str)


def _chosen(what: str, value: str, choices: tuple[_Name, ...]) -> _Name:
    if value in choices:
        return choices[choices.index(value)]
    raise UsageError(f"{what} cannot be {value!r}", hint=f"choose one of {', '.join(choices)}")


def _tell(hits: Sequence[Hit], on_file: OnFile) -> None:
    """Tell of each file that has hits, once, the best first."""
    stale = {hit.chunk.path for hit in hits if hit.stale}
    for path in dict.fromkeys(hit.chunk.path for hit in hits):
        on_file(ConsultedFile(path, "read", "it has changed since it was indexed" if path in stale else ""))


def _as_in_files(hits: Sequence[Hit], opened: OpenedProject) -> tuple[Hit, ...]:
    """Return hits with the lines of their files where the index has masks in them."""
    if not any(MASK in hit.chunk.text for hit in hits):
        return tuple(hits)
    from codefathom.project.originals import Lines

    return Lines(opened).hits(hits)


def _with_places(hits: tuple[Hit, ...], opened: OpenedProject) -> tuple[Hit, ...]:
    """Return hits with their pages, headings and cells, where they lie in documents that have them."""
    if not any(is_extracted(hit.chunk.path) for hit in hits):
        return hits
    from codefathom.source.document_places import Places

    return Places(opened.catalog.text).with_places(hits)
