"""One class with everything that a face (command line, server, program) may ask of a project.

    from codefathom import Engine

    with Engine.open("path/to/project") as engine:
        result = engine.search("where are tokens refreshed", limit=5)

An engine may be used from several threads; from asyncio call it with `asyncio.to_thread`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from codefathom.config.configuration import is_bare_repository
from codefathom.config.settings import Settings
from codefathom.facts.limits import LARGE_PROJECT
from codefathom.facts.reasons import Note
from codefathom.project import asking
from codefathom.project.current_index import CurrentIndex, OnFile, OnProgress, OnWait
from codefathom.project.damage import damage_of, first_run, reading
from codefathom.project.location import Location, locate
from codefathom.project.opening import OpenedProject
from codefathom.project.saved_index import SavedIndex
from codefathom.project.upkeep import Upkeep
from codefathom.question.asker import result_of
from codefathom.question.extents import USUAL_DEPTH, USUAL_LIMIT, USUAL_MAP_TOKENS, check_texts
from codefathom.question.question import Question
from codefathom.question.question_options import EdgeOptions, question_of
from codefathom.search.filter.filter_options import kind_named
from codefathom.search.question.query import branch_words
from codefathom.types.choices import Grouping, LevelName, Mode
from codefathom.types.hits import CommitMark, Hit, SearchResult
from codefathom.types.symbols import FoundSymbol
from codefathom.types.where import Where

if TYPE_CHECKING:
    from codefathom.agent.loop import Event
    from codefathom.answer.answer_types import Answer, AnswerRequest
    from codefathom.answer.ask import AnswerSources, Text
    from codefathom.index.word_search import UnindexedFiles
    from codefathom.project.browsing import Files
    from codefathom.providers.base import ChatModel
    from codefathom.search.graph.glance import Glance
    from codefathom.search.graph.impact import Impact
    from codefathom.search.graph.module_map import ModuleMap
    from codefathom.search.graph.project_map import ProjectMap
    from codefathom.types import Check, Picture, TourStep
    from codefathom.types.context_files import Context
    from codefathom.types.edges import NamedPlace, RelatedResult
    from codefathom.types.index_runs import RunProgress
    from codefathom.types.index_states import SecretPlace, Status
    from codefathom.types.line_histories import BlamedLines, LineHistory
    from codefathom.types.listed_files import SomeSymbols

_MANIFEST = "fleet.db"  # in the folder of a fleet; see `fleet/fleet_list.py`
__all__ = ["Engine", "OnFile", "OnProgress", "OnWait"]


class Engine(Upkeep, SavedIndex):
    """One project: its files, its index, and questions to it.

    `Upkeep` has the runs over its index, `SavedIndex` its exports, backups and snapshots.
    """

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
        kind: type[CurrentIndex] = CurrentIndex
        if os.path.exists(os.path.join(place.root, _MANIFEST)):
            from codefathom.fleet.fleet_list import FleetList
            from codefathom.fleet.fleet_place import place_of_fleet
            from codefathom.fleet.opened_fleet import FleetIndex

            if (fleet := FleetList(place.state_dir).of_root(place.root)) is not None:
                kind, place = FleetIndex, place_of_fleet(place, fleet.name)
        self.current = kind(
            place,
            on_progress or (lambda _: None),
            on_wait,
            wrap_model=wrap_model,
            first_index_wait_s=first_index_wait_s,
        )

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
    def place(self) -> Location:
        """Where the project and its index lie, with the settings in force."""
        return self.current.place

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
        return self.opened.generation

    @property
    def damage(self) -> tuple[str, ...]:
        """A sentence for each part of the index that is damaged; the next `index` repairs them."""
        return tuple(map(str, self.damages))

    @property
    def damages(self) -> tuple[Note, ...]:
        """The same as notes, for a face in another language."""
        return damage_of(self.opened)

    @property
    def first_run(self) -> RunProgress | None:
        """The progress of another run that makes this index for the first time; None while there is no such run."""
        return first_run(self.opened)

    @property
    def is_fleet(self) -> bool:
        """True for very many repositories in one index, which only `fathom fleet` changes."""
        return self.current.is_fleet

    @property
    def is_written(self) -> bool:
        """True while another run writes the index."""
        return self.opened.lock().progress() is not None

    @property
    def lacks_views(self) -> bool:
        """True if a run has completed the index, but not with these settings, or a part of it was lost."""
        return self.current.lacks_views

    @property
    def opened(self) -> OpenedProject:
        """The opened index, for callers that ask several projects at once, measure or test. Raises MovedError."""
        return self.current.opened

    @property
    def hides_secrets(self) -> bool:
        """True if no secret may be in the texts of an answer, since its models are on other machines."""
        from codefathom.project.roles import masks_secrets

        return masks_secrets(self.place)

    def chat_model(self, name: str) -> ChatModel:
        """Return a language model, the same each time. Raises SettingsError."""
        return self.opened.chat_model(name)

    def with_settings(self, settings: Settings) -> Self:
        """Return this engine with other settings for questions; it is open for as long as this one is."""
        other = copy(self)
        other.current = self.current.with_settings(settings)
        return other

    # ---- questions

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer to a question of any kind, the result last; see `Asker`."""
        return asking.answer(self.current, question)

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
        facets: bool = False,
        group: Grouping = "none",
        files: Sequence[str] = (),
        commits: bool = False,
        on_file: OnFile = lambda _: None,
    ) -> SearchResult:
        """Return the best places for a question, each with file, lines, symbol and reason.

        There are at most `limit` hits, those behind the `offset` first ones; `SearchResult.rest` tells how the list
        goes on. In the modes "regex", "symbol" and "graph" it has all places there are, else those that may answer.

        With `facets`, `SearchResult.facets` tells how many places of the whole list are in each language, kind, folder
        and so on, as far as the candidates of the search tell.
        With `group` "repository", the hits of a page are gathered by repository (the first folder of a path) and file.
        With `files`, only these files and folders are searched, and what has changed in them is taken in first,
        whatever `search.refresh` says; see `update`. A path that is no file of the index is named in `degraded`.
        With `commits` the hits are commits of git (`Hit.commit`) in the place of files; see `Settings.history`.
        `on_file` takes each file that is looked into: the named ones with what became of them, then those with hits.
        `level` is what a hit is: "chunk" (default), "symbol", "function" (also methods) or "file". `where` is a filter,
        see `codefathom.search.filter.filter_parser.parse_filter`. Scores run from 0 to 1. The first search makes the
        index.
        Raises UsageError for an empty query or one that names a path or symbol that is not there.
        """
        question = Question(
            query,
            files=tuple(files),
            where=where,
            level=level,
            mode=mode,
            min_score=min_score,
            facets=facets,
            group=group,
            limit=limit,
            offset=offset,
            commits=commits,
        )
        return asking.search(self.current.history if commits else self.current, question, on_file)

    def take_in(self, files: Sequence[str]) -> None:
        """Take in what has changed in these files and folders, as a search does that names them.

        The next search names a path that is no file of the index in `degraded`. Raises as `update`.
        """
        self.current.take_in(files)

    def kept_to(self, files: Sequence[str]) -> Where | None:
        """Return the condition that a place lies in one of these files and folders; None when one is the root.

        Raises UsageError for a path that leads out of the project.
        """
        return asking.kept_to(self.current, files)

    def marked(self, hits: tuple[Hit, ...], generation: int) -> tuple[Hit, ...]:
        """Return hits of a search of this generation with what is true now of their files; see `Hit.stale`."""
        return self.opened.marked(hits, generation)

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = USUAL_LIMIT["symbols"], offset: int = 0
    ) -> tuple[FoundSymbol, ...]:
        """Return the symbols whose name is, begins with or contains `query`, in that order, behind the first `offset`.

        With the kind "import" these are the imports. Raises UsageError for a kind that does not exist. `n_symbols`
        counts all of them. What of a fleet was not asked is told to `on_wait`.
        """
        question = Question(query, path=path, symbol_kind=kind, limit=limit, offset=offset, kind="symbols")
        result: SomeSymbols = result_of(self, question)
        for note in result.limitations:
            self.current.on_wait(str(note))
        return result.symbols

    def n_symbols(self, query: str = "", *, path: str = "", kind: str = "") -> int:
        """Return the number of symbols that `symbols` gives without a limit."""
        check_texts(query, path, kind)
        if branch_words(query).where is not None:
            page: SomeSymbols = result_of(self, Question(query, path=path, symbol_kind=kind, limit=1, kind="symbols"))
            return page.n_symbols

        def count() -> int:
            with reading(self.current.believed(), whole=True) as opened:
                return asking.n_symbols(opened, query, path, kind_named(kind) if kind else "")

        return self.current.in_time(count)

    def name_at(self, path: str, line: int, name: str) -> NamedPlace:
        """Return the definitions that a name can mean on a line of a file, the nearest first, and how certain that is.

        Raises SourceError for a file that is not in the index.
        """
        check_texts(path, name)
        with reading(self.current.believed(), whole=True) as opened:
            return asking.name_at(opened, path, line, name)

    def blame(self, path: str, start_line: int, end_line: int) -> tuple[BlamedLines, ...]:
        """Return the commit that each line of a file comes from; lines that follow each other and share one, together.

        Raises SourceError for a file that is not in the index, and without a repository.
        """
        from codefathom.project.blame_of_lines import blame

        check_texts(path)
        with reading(self.current.believed(), whole=True) as opened:
            return blame(opened, path, start_line, end_line)

    def picture(self, path: str, *, page: int = 0) -> Picture:
        """Return a picture file of the project as it is now, or with `page` a picture of that page of a PDF.

        Raises SourceError for what the index has not looked at and for what is no picture, UsageError for a page that
        is not there.
        """
        from codefathom.project.shown_pictures import picture

        check_texts(path)
        with reading(self.current.believed(), whole=True) as opened:
            return picture(opened, path, page)

    def module_map(self, folder: str = "") -> ModuleMap:
        """Return the folders of code at or below a folder, and the imports between them. Raises SourceError."""
        from codefathom.search.graph.module_map import module_map

        check_texts(folder)
        with reading(self.current.believed(), whole=True) as opened:
            return module_map(opened.catalog, folder)

    def glance(self) -> Glance:
        """Return what the first page of a project shows at once: its own words, sizes and ages of its files."""
        from codefathom.project.ages_of_files import glance_with_ages

        with reading(self.current.believed(), whole=True) as opened:
            return glance_with_ages(opened)

    def tour(self) -> tuple[TourStep, ...]:
        """Return places to read, one after the other: an entry, then the most central files that are imported there."""
        return cast("tuple[TourStep, ...]", result_of(self, Question(kind="map", tour=True)))

    def link_files(self) -> None:
        """Find out which files the imports of a large project mean, where that is not at hand: questions about
        connections begin with it, and no one of them should have to wait for all."""
        with reading(self.current.believed(), whole=True) as opened:
            if len(opened.catalog.languages()) >= LARGE_PROJECT:
                from codefathom.search.graph.reference_graph import make_links

                make_links(opened.catalog)

    def rank_files(self) -> Iterator[int]:
        """Make the map of a large project where it is due, so that nobody has to wait for it.

        Yields the number of files before that begins, and nothing where there is nothing to do.
        """
        from codefathom.search.graph.usual_map import is_map_due, usual_parts

        with reading(self.current.believed(), whole=True) as opened:
            if is_map_due(opened.catalog):
                yield len(opened.catalog.languages())
                usual_parts(opened.catalog)

    def read_signs(self) -> None:
        """Find out which signs the files of a large project have, where that is due: expressions without a word read
        only those that can match."""
        from codefathom.search.expression_search import make_signs

        with reading(self.current.believed(), whole=True) as opened:
            make_signs(opened.catalog)

    def recent_commits(self, limit: int) -> tuple[CommitMark, ...]:
        """Return the latest commits that changed the project.

        Raises SourceError without a repository, UsageError for a fleet.
        """
        from codefathom.project.history_of_lines import recent_commits

        self.current.refuse_fleet("has no commits of its own", instead="")
        with reading(self.current.believed()) as opened:
            return recent_commits(opened, limit)

    @property
    def files(self) -> Files:
        """The indexed files: their names, lines and outlines."""
        return asking.files_of(self.current.believed(self.opened))

    @property
    def unindexed(self) -> UnindexedFiles:
        """The files themselves, for an agent that cannot wait for the first index; what is returned lists them once."""
        from codefathom.index.word_search import UnindexedFiles

        return UnindexedFiles(self.opened.recipe, marks_secrets=self.settings.mcp.secrets == "mask")

    def related(
        self,
        target: str,
        *,
        depth: int = USUAL_DEPTH["related"],
        limit: int = USUAL_LIMIT["related"],
        offset: int = 0,
        **options: Unpack[EdgeOptions],
    ) -> RelatedResult:
        """Return the imports, importers, calls and uses of a file (`path`) or a symbol (`@@name`).

        There are at most `limit` edges, those behind the `offset` first ones; `RelatedResult.rest` counts the others.
        `direction` is "callers" for what uses the target, or "callees" for what it uses, `kind` one or more of "calls",
        "imports", "references" and "tests". Raises UsageError.
        """
        question = replace(question_of("related", target, options), depth=depth, limit=limit, offset=offset)
        return cast("RelatedResult", result_of(self, question))

    def impact(
        self,
        revisions: str = "HEAD",
        *,
        diff: str = "",
        depth: int = USUAL_DEPTH["impact"],
        limit: int = USUAL_LIMIT["impact"],
        offset: int = 0,
    ) -> Impact:
        """Return the reach of a change: the symbols that differ, their uses and importers, the tests that touch them.

        The change is a unified diff, applied or not, or what differs between `A..B`, or between `A` and the files now.
        There are at most `limit` items of each list, behind `offset` items, for which the lists take turns.
        Raises UsageError for what is no diff or no revision, SourceError without such a revision.
        """
        question = Question(revisions, "impact", diff=diff, depth=depth, limit=limit, offset=offset)
        return cast("Impact", result_of(self, question))

    def history(
        self, target: str, *, since: str = "", author: str = "", limit: int = USUAL_LIMIT["history"], offset: int = 0
    ) -> LineHistory:
        """Return the commits that made some lines (`PATH:LINE`, `PATH:A-B`), a file or a symbol (`@@name`).

        The latest comes first; each has the texts before and after, followed through moves and renames. `since` is a
        day such as "2026-11-01", `author` a part of a name. Raises UsageError, SourceError without a repository.
        """
        question = Question(target, "history", since=since, author=author, limit=limit, offset=offset)
        return cast("LineHistory", result_of(self, question))

    def map(
        self,
        query: str = "",
        *,
        files: Sequence[str] = (),
        folders: Sequence[str] = (),
        max_tokens: int = USUAL_MAP_TOKENS,
        offset: int = 0,
    ) -> ProjectMap:
        """Return the most central files with the signatures that others use, within a budget of tokens.

        It begins behind the first `offset` files and symbols: `ProjectMap.next_offset` is that of the next page.
        A question, or files that somebody works on, draw what is near them into the map; folders keep it to
        themselves. Raises SourceError for a file or folder that is not in the index.
        """
        question = Question(
            query, "map", files=tuple(files), folders=tuple(folders), max_tokens=max_tokens, offset=offset
        )
        return cast("ProjectMap", result_of(self, question))

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
        question = Question(
            query,
            "context",
            where=where,
            max_files=max_files,
            max_tokens=max_tokens,
            format_name=format_name,
            anyway=anyway,
        )
        return cast("Context", result_of(self, question))

    def ask(self, request: str | AnswerRequest) -> Answer:
        """Return the answer to a question, every citation checked. See `ask_events`."""
        *_, answer = self.ask_events(request)
        return cast("Answer", answer)

    def ask_events(self, request: str | AnswerRequest) -> Iterator[AnswerSources | Text | Answer]:
        """Yield the sources of an answer, its text in checked pieces, and the whole answer last.

        Without a language model the answer consists of excerpts. Closing the iterator ends the call. Raises UsageError
        for an empty question. A model that fails leaves what it wrote, and excerpts; see `Answer.failure`.
        """
        from codefathom.project.answer_setup import question_of

        return self.answer(question_of(request))

    def investigate(self, request: str | AnswerRequest) -> Iterator[Event | Text | Answer]:
        """Let the configured model look for itself with tools; yield what happens, and the answer last.

        As `ask_events`, but SettingsError without a model.
        """
        from codefathom.project.answer_setup import question_of

        return self.answer(question_of(request, as_agent=True))

    def status(self) -> Status:
        """Return the contents of the index, and the number of files that changed since."""
        return self.current.status()

    def secrets(self) -> tuple[SecretPlace, ...]:
        """Return the places of secrets in the indexed files, never their values."""
        from codefathom.project.inspection import secret_places

        self.refresh()
        with reading(self.current.believed(), whole=True) as opened:
            return tuple(secret_places(opened))

    def doctor(self, *, providers: bool = False, fix: bool = False) -> tuple[Check, ...]:
        """Check index, views, model, grammars and folders, each with what to do when it is not well.

        With `providers`, every configured language model is asked for one word. With `fix`, what is damaged in the
        index is made again first, as `index` does; raises LockedError when another process is writing.
        """
        if fix:
            self.index()
        if not providers:
            return self.current.doctor()
        from codefathom.project.roles import check_models

        return (*self.current.doctor(), *check_models(self.opened))

    def leaving(self) -> str:
        """Return a sentence on the texts that leave this machine to answer questions, and on their destination."""
        from codefathom.project.roles import leaving

        return leaving(self.place, self.opened.store if self.place.index_folder.exists() else None)

    def close(self) -> None:
        """Release files. Closing twice is no error.

        A question of another thread ends with IndexClosedError; a run that writes the index is waited for.
        """
        self.current.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
