"""The façade: one class with everything a face (command line, server, program) may ask. Chooses the back ends.

    from codefathom import Engine

    with Engine.open("path/to/project") as engine:
        result = engine.search("where are tokens refreshed", limit=5)

An engine may be used from several threads; from asyncio call it with `asyncio.to_thread`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Self, TypeVar, cast

from codefathom.errors import LockedError, UsageError
from codefathom.opening import Opened, Place, fusion, locate
from codefathom.plan import plan
from codefathom.search.pipeline import Request, search
from codefathom.search.query import parse_query
from codefathom.settings import Settings
from codefathom.types import (
    LEVELS,
    MODES,
    Context,
    FoundSymbol,
    IndexReport,
    Level,
    Mode,
    Progress,
    RelatedResult,
    SearchResult,
    Status,
    Where,
)

if TYPE_CHECKING:
    from codefathom.agent.loop import Event
    from codefathom.answer.ask import Found, Text
    from codefathom.answer.types import Answer
    from codefathom.browsing import Files
    from codefathom.providers.base import Message
    from codefathom.types import Check

OnProgress = Callable[[Progress], None]
OnWait = Callable[[str], None]

# In one process the tree is compared with the index at most this often; a search in between sees the last state.
LOOK_AGAIN_AFTER_S = 1.0
_REST = 20  # times as long as a look took: a look at a large tree takes a second


class Engine:
    """One project: its files, its index, and questions to it."""

    def __init__(self, place: Place, on_progress: OnProgress | None = None, on_wait: OnWait = lambda _: None) -> None:
        self.place = place
        self._on_progress = on_progress or (lambda _: None)
        self._on_wait = on_wait
        self._lock = RLock()
        self._opened: Opened | None = None
        self._looked_at, self._rest_s = float("-inf"), 0.0
        self._behind = False

    @classmethod
    def open(
        cls,
        path: str = ".",
        *,
        settings: Settings | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait = lambda _: None,
    ) -> Self:
        """Open the project that `path` lies in: the nearest folder upwards with .fathom, fathom.toml or .git.

        `on_progress` takes each step; `on_wait`, from any thread, a line when a server keeps us waiting.
        Nothing is read or written yet. Raises SourceError without such a folder, SettingsError for a bad setting.
        """
        return cls(locate(os.fspath(path), settings), on_progress, on_wait)

    @property
    def root(self) -> str:
        """Absolute path of the project."""
        return self.place.root

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
        """Number of changes of the index, by whatever process; 0 before the first run."""
        return self._open().catalog.generation

    # ---- index

    def index(self, *, full: bool = False) -> IndexReport:
        """Bring the index up to date with the tree; with `full`, from nothing.

        Raises LockedError when another process is writing.
        """
        return self._report(self.index_events(full=full))

    def index_events(self, *, full: bool = False) -> Iterator[Progress | IndexReport]:
        """Like `index`, as a stream of progress with the report as its last item."""
        yield from self._open().with_models(self._run(full=full, retry=True))

    def refresh(self) -> bool:
        """Bring the index up to date as `search.refresh` says, as each question does; return whether it is behind."""
        with self._lock:
            policy = self.settings.search.refresh
            opened = self._open()
            fresh = opened.catalog.generation == 0
            if not opened.views.current:
                opened.views.reload()  # another process may have written
            if not fresh and (policy == "never" or time.monotonic() - self._looked_at < self._rest_s):
                return self._behind or not opened.views.current
            began = time.monotonic()
            pending = plan(opened.catalog, opened.recipe).n_pending
            self._rest_s = max(LOOK_AGAIN_AFTER_S, _REST * (time.monotonic() - began))
            self._behind = bool(pending) or not opened.views.current
            self._looked_at = time.monotonic()
            most = self.settings.search.refresh_max_files
            if self._behind and (fresh or policy == "always" or pending <= most):
                self._try_to_index(fresh)
            return self._behind

    def plan(self) -> IndexReport:
        """Say what `index` would do, without doing it."""
        from codefathom.indexing import dry_run

        opened = self._open()
        return dry_run(opened.catalog, opened.recipe, opened.without_purpose())

    def watch(self, stop: Callable[[], bool], *, interval_s: float = 1.0) -> Iterator[IndexReport]:
        """Index now and after every change, until `stop` returns True; yields the report of each run that did work."""
        from codefathom.source.watch import watch

        yield self.index()
        for _ in watch(self.root, self._open().recipe.rules, interval_s=interval_s, stop=stop):
            yield self.index()

    # ---- questions

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        level: Level | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
    ) -> SearchResult:
        """Return the best places for a question, each with file, lines, symbol and reason.

        `level` is what a hit is: "chunk" (default), "symbol" or "file". `where` is a filter, see
        `codefathom.search.filter_parser.parse_filter`. Scores run from 0 to 1. The first search makes the index.
        Raises UsageError for an empty query or one that names a path or symbol that is not there.
        """
        started = time.perf_counter()
        request = self._request(query, limit=limit, level=level, mode=mode, where=where, least=min_score)
        stale = self.refresh()
        opened = self._open()
        found = search(request, opened.sources)
        return SearchResult(
            query=query,
            hits=found.hits,
            level=request.level,
            mode=found.mode,
            confidence=found.confidence,
            generation=opened.catalog.generation,
            degraded=found.degraded,
            stale=stale,
            suggestion=found.suggestion,
            milliseconds=(time.perf_counter() - started) * 1000,
            weak=found.is_weak,
            plan=found.plan,
        )

    def symbols(self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50) -> tuple[FoundSymbol, ...]:
        """Return the symbols whose name is, begins with or contains `query`, in that order."""
        self.refresh()
        return tuple(self._open().catalog.symbols(query, path=path, kind=kind, limit=limit))

    @property
    def files(self) -> Files:
        """What is indexed, file by file: names, lines and outlines."""
        from codefathom.browsing import Files

        return Files(self._open().catalog)

    def related(self, target: str, *, depth: int = 1) -> RelatedResult:
        """Return what imports, is imported by, calls or uses a file (`path`) or a symbol (`@@name`)."""
        from codefathom.search.related import related

        self.refresh()
        return related(self._open().catalog, target, depth=depth)

    def context(
        self, query: str, *, max_files: int | None = None, max_tokens: int | None = None, where: Where | None = None
    ) -> Context:
        """Return the files a prompt about `query` needs, most relevant first, within a budget of tokens."""
        from codefathom import asking

        context = self.settings.context
        n_files = max_files or context.max_files
        result = self.search(query, limit=asking.HITS_PER_FILE * n_files, level="chunk", where=where)
        return asking.context(self._open(), result, n_files, max_tokens or context.window)

    def ask(
        self,
        question: str,
        *,
        where: Where | None = None,
        pinned: Sequence[str] = (),
        documents: Mapping[str, str] | None = None,
        history: Sequence[Message] = (),
    ) -> Answer:
        """Return the answer to a question, every citation checked. See `ask_events`."""
        *_, answer = self.ask_events(question, where=where, pinned=pinned, documents=documents, history=history)
        return cast("Answer", answer)

    def ask_events(
        self,
        question: str,
        *,
        where: Where | None = None,
        pinned: Sequence[str] = (),
        documents: Mapping[str, str] | None = None,
        history: Sequence[Message] = (),
    ) -> Iterator[Found | Text | Answer]:
        """Yield the sources of an answer, its text in checked pieces, and the whole answer last.

        Without a language model the answer consists of excerpts. `pinned` are paths that must be among the sources,
        `documents` further texts by name, `history` the turns before. Closing the iterator ends the call. Raises
        UsageError for an empty question. A model that fails leaves what it wrote, and excerpts; see `Answer.failure`.
        """
        from codefathom import asking, texts

        self.refresh()
        request = texts.Request(question, tuple(history), tuple(pinned), documents or {}, where)
        return asking.answer(
            request, self._open(), lambda query, limit: self.search(query, limit=limit, level="chunk", where=where)
        )

    def investigate(
        self,
        question: str,
        *,
        where: Where | None = None,
        pinned: Sequence[str] = (),
        documents: Mapping[str, str] | None = None,
        history: Sequence[Message] = (),
    ) -> Iterator[Event | Answer]:
        """Let the configured model look for itself with tools; yield what happens, and the answer last.

        As `ask_events`, but SettingsError without a model. `where` keeps the tools to files that have matching lines.
        """
        from codefathom import investigating, texts

        self.refresh()
        request = texts.Request(question, tuple(history), tuple(pinned), documents or {}, where)
        return investigating.investigate(
            request, self._open(), lambda query, level, n: self.search(query, limit=n, level=level, where=where)
        )

    def status(self) -> Status:
        """Say what the index holds and how far it is from the tree."""
        from codefathom.inspection import status

        return status(self._open())

    def doctor(self, *, providers: bool = False) -> tuple[Check, ...]:
        """Check index, views, model, grammars and folders, each with what to do when it is not well.

        With `providers`, every configured language model is asked for one word.
        """
        from codefathom.inspection import doctor

        if not providers:
            return doctor(self._open())
        from codefathom.roles import check_models

        return (*doctor(self._open()), *check_models(self._open()))

    def leaving(self) -> str:
        """Say what leaves this machine when questions are answered, and to where."""
        from codefathom.roles import leaving

        return leaving(self.place)

    def export(self, kind: str) -> Iterator[str]:
        """Yield the index as lines of text, `index-json` or `jsonl`, with paths relative to the project."""
        from codefathom.exchange import export

        self.refresh()
        return export(self._open().catalog, self._open().recipe.root, kind)

    def import_index(self, lines: Iterator[str], kind: str) -> int:
        """Take over an export and return its number of documents; the next search compares it with the tree."""
        from codefathom.exchange import read_export
        from codefathom.indexing import take_over

        texts = read_export(lines, self._open().recipe.root, kind)
        with self._lock, self._open().writing() as stages:
            return take_over(stages, texts)

    def close(self) -> None:
        """Release files. Closing twice is no error."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- inside

    def _open(self) -> Opened:
        with self._lock:
            if self._opened is None:
                self._opened = Opened(self.place, self._on_wait)
            return self._opened

    def _run(self, *, full: bool, retry: bool) -> Generator[Progress | IndexReport, None, None]:
        with self._lock, self._open().writing() as stages:
            from codefathom.indexing import run

            yield from run(stages, full=full, retry=retry)
            self._looked_at, self._behind = time.monotonic(), False

    def _report(self, events: Iterator[Progress | IndexReport]) -> IndexReport:
        report: IndexReport | None = None
        for event in events:
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
        level: Level | None,
        mode: Mode | None,
        where: Where | None,
        least: float,
    ) -> Request:
        settings = self.settings.search
        if limit is not None and limit < 1:
            raise UsageError(f"limit cannot be {limit}", hint="give a number from 1")
        parsed = parse_query(query)
        if parsed.is_empty:
            raise UsageError("the query is empty", hint='ask for something, such as fathom search "retry with backoff"')
        return Request(
            query=parsed,
            limit=limit or settings.limit,
            level=_chosen("level", level or settings.level, LEVELS),
            mode=_chosen("mode", mode or settings.mode, MODES),
            where=where,
            min_score=least,
            fusion=fusion(self.settings),
        )

    def _try_to_index(self, first: bool) -> None:
        """Index now, unless another process does: then search what there is, which is said to be stale.

        What a model failed on, and purposes, wait for `index`: no search waits for more of a model than it must.
        """
        try:
            self._report(self._run(full=False, retry=False))
        except LockedError:
            if first:
                raise


_Name = TypeVar("_Name", bound=str)


def _chosen(what: str, value: str, known: tuple[_Name, ...]) -> _Name:
    if value in known:
        return known[known.index(value)]
    raise UsageError(f"{what} cannot be {value!r}", hint=f"choose one of {', '.join(known)}")
