"""Questions to several projects: they are asked at the same time, and a project that fails stops no other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self, TypeVar, cast

from codefathom.agent.loop import Event
from codefathom.answer.answer_types import Answer, AnswerRequest
from codefathom.answer.ask import AnswerSources, Text
from codefathom.answer.tokens import counter
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.project.answer_setup import HITS_PER_FILE, ContextSize, for_prompt
from codefathom.search.federation import ProjectHit, merge, reach
from codefathom.search.graph.project_map import MapParts, ProjectMap, fitted, joined
from codefathom.search.verdict import Verdict, of_several
from codefathom.several.joined import as_one, ask_several, context, each_asked, without_first_runs
from codefathom.several.joined_agent import investigate_several
from codefathom.several.kept_project import KeptProject, SearchWish, SymbolWish
from codefathom.several.named_files import files_by_project, relative_to
from codefathom.several.side_by_side import outcomes
from codefathom.types import (
    NO_REST,
    Context,
    FoundSymbol,
    Hit,
    LevelName,
    Mode,
    RelatedResult,
    Rest,
    SearchResult,
    Skipped,
    Where,
)

_T = TypeVar("_T")
_MOST_NAMED = 5  # of what was left out


class FederatedSearch(NamedTuple):
    """The hits of several projects, best first, and what each of them said."""

    hits: tuple[ProjectHit, ...]
    results: Mapping[str, SearchResult]  # by project
    failed: Mapping[str, FathomError]
    roots: Mapping[str, str]  # absolute path of each project's folder
    left_out: tuple[Skipped, ...] = ()  # of the paths that are searched, such as what a budget did not allow
    offset: int = 0  # of the first hit in the whole list
    rest: Rest = NO_REST  # of the list, behind these hits

    @property
    def verdict(self) -> Verdict:
        """The verdict on the question: whether most likely nothing in any of the projects answers it."""
        return of_several(self.results.values())

    def path_of(self, item: ProjectHit) -> str:
        """Return the absolute path of a hit."""
        return placed(self.roots[item.project_id], item.hit.chunk.path)

    def in_place(self, item: ProjectHit) -> Hit:
        """Return a hit with its absolute path."""
        chunk = item.hit.chunk
        return replace(item.hit, chunk=replace(chunk, id=f"{item.project_id}:{chunk.id}", path=self.path_of(item)))


class FederatedSymbols(NamedTuple):
    """The symbols of several projects, in the order of the projects."""

    symbols: tuple[tuple[str, FoundSymbol], ...]  # project and symbol
    failed: Mapping[str, FathomError]
    n_symbols: Mapping[str, int]  # all that fit, by project
    offset: int = 0  # of the first symbol of each project in its whole list

    @property
    def n_rows(self) -> int:
        """The largest number of symbols that one project has here."""
        return max(self._n_here().values(), default=0)

    @property
    def rest(self) -> Rest:
        """The symbols of all projects behind these."""
        here = self._n_here()
        return Rest(sum(max(n - self.offset - here[name], 0) for name, n in self.n_symbols.items()))

    def first(self, n: int) -> list[tuple[str, FoundSymbol]]:
        """Return the first symbols of each project."""
        places = Counter[str]()
        kept = []
        for name, item in self.symbols:
            places[name] += 1
            if places[name] <= n:
                kept.append((name, item))
        return kept

    def _n_here(self) -> Counter[str]:
        return Counter(name for name, _ in self.symbols)


class FederatedRelated(NamedTuple):
    """Connections of a file or symbol, in each project that has it."""

    results: Mapping[str, RelatedResult]
    failed: Mapping[str, FathomError]

    @property
    def n_rows(self) -> int:
        """The largest number of edges that one project has here."""
        return max((len(one.edges) for one in self.results.values()), default=0)

    @property
    def rest(self) -> Rest:
        """The edges of all projects behind these."""
        rests = [one.rest for one in self.results.values()]
        return Rest(sum(rest.n for rest in rests), all(rest.is_exact for rest in rests))

    def first(self, n: int) -> dict[str, RelatedResult]:
        """Return the results with the first edges of each project."""
        return {
            name: replace(one, edges=one.edges[:n], rest=one.rest.plus(len(one.edges[n:])))
            for name, one in self.results.items()
        }

    def n_in(self, n: int) -> int:
        """Return the number of the first `n` edges of all projects."""
        return sum(len(one.edges[:n]) for one in self.results.values())


class FederatedMap(NamedTuple):
    """One map of several projects, whose paths begin with the name of their project."""

    map: ProjectMap
    failed: Mapping[str, FathomError]


def placed(root: str, path: str) -> str:
    """Return the absolute path of a file of a project."""
    return f"{root.rstrip('/')}/{path}"


def left_out_notes(left_out: Sequence[Skipped]) -> tuple[str, ...]:
    """Return a sentence for each of the first places that were left out, and for the number of the others."""
    notes = tuple(f"{item.path}: {item.reason}" for item in left_out[:_MOST_NAMED])
    n_more = len(left_out) - len(notes)
    return (*notes, f"{n_more} more places were left out; the JSON of a search lists them") if n_more else notes


class JoinedProjects:
    """Opened projects, by name. Safe to ask from several threads."""

    folder = ""  # paths begin with the name of a project, not with a folder

    def __init__(
        self,
        projects: Mapping[str, Engine | KeptProject],
        unopened: Mapping[str, FathomError] | None = None,
        *,
        here: str | None = os.curdir,
        left_out: Sequence[Skipped] = (),
    ) -> None:
        """Take opened projects, and the errors of those that could not be opened.

        `here` is the folder in which a path begins that is not absolute and has no name of a project; None: no path is.
        `left_out` are places that are not asked about although a path names them.
        """
        self._projects = {
            name: project if isinstance(project, KeptProject) else KeptProject(project)
            for name, project in projects.items()
        }
        self._unopened = dict(unopened or {})
        self._here = here
        self._left_out = tuple(left_out)

    @property
    def engines(self) -> dict[str, Engine]:
        """The opened projects by name."""
        return {name: project.engine for name, project in self._projects.items()}

    @property
    def only_name(self) -> str:
        """The name of the only project of all that were to be asked, "" where there are several."""
        return next(iter(self._projects)) if len(self._projects) == 1 and not self._unopened else ""

    @property
    def settings(self) -> Settings:
        """The settings of the first project, which hold for an answer. Raises its error if none could be opened."""
        return self._first().settings

    @property
    def roots(self) -> dict[str, str]:
        """The absolute path of each project's folder, by name, written with `/`."""
        return {name: engine.root.replace(os.sep, "/") for name, engine in self.engines.items()}

    @property
    def left_out(self) -> tuple[Skipped, ...]:
        """The places that are not asked about although a path names them; complete after a question."""
        return self._left_out

    def shown_path(self, name: str, path: str) -> str:
        """Return the path of a file in a project as a list of results shows it."""
        return f"{name}/{path}"

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
    ) -> FederatedSearch:
        """Return the best places in all projects; see `Engine.search`.

        With `files`, only the projects that hold these files and folders are asked; a path begins with the name of its
        project, or is one of the disk. Raises UsageError for one that lies in none of them.
        Hits are ordered by score where the projects have the same model, else by rank; see `search.federation.merge`.
        Equal files of two projects are listed once. Raises the error of the first project if all of them fail.
        """
        owners = self._owners(files)
        limits = [self._projects[name].engine.settings.search.limit for name in owners or self._projects]
        most = limit or max(limits, default=0)
        wish = SearchWish(reach(most, offset) if offset else limit, level, mode, where, min_score)
        results, failed = self._searched(
            query, {name: wish._replace(files=owners.get(name, ())) for name in (owners or self._projects)}
        )
        hits, rest = merge(results, most, offset)
        return FederatedSearch(hits, results, failed, self.roots, self.left_out, offset, rest)

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50, offset: int = 0
    ) -> FederatedSymbols:
        """Return symbols by name; limit and offset count in each project; see `Engine.symbols`."""
        wish = SymbolWish(query, path, kind, limit, offset)
        answers, failed = self._outcomes(lambda project: project.symbols(wish))
        pairs = tuple((name, symbol) for name, page in answers.items() for symbol in page.symbols)
        return FederatedSymbols(pairs, failed, {name: page.n_symbols for name, page in answers.items()}, offset)

    def related(self, target: str, *, depth: int = 1, limit: int = 200, offset: int = 0) -> FederatedRelated:
        """Return the connections of a file or symbol in each project that has it; see `Engine.related`.

        A path may begin with the name of a project, or be one of the disk; then only that one is asked. Limit and
        offset count in each project.
        """

        def ask(project: KeptProject, target: str) -> RelatedResult:
            return project.related(target, depth=depth, limit=limit, offset=offset)

        name, own = self._owner_of(target)
        if name:
            return FederatedRelated({name: ask(self._projects[name], own)}, {})
        return FederatedRelated(*self._outcomes(lambda project: ask(project, target)))

    def map(
        self,
        query: str = "",
        *,
        files: Sequence[str] = (),
        folders: Sequence[str] = (),
        max_tokens: int = 4_000,
        offset: int = 0,
    ) -> FederatedMap:
        """Return one map of all projects, in one budget of tokens; see `Engine.map`.

        The projects take turns; those whose hits answer the question better have more of them. A path of `files` is as
        in `search`; folders are those of each project that has them.
        """
        content, failed = self.map_parts(query, files=files, folders=folders)
        content = content.behind(offset)
        return FederatedMap(fitted(query, content, max_tokens, counter(self.settings.context.tokenizer_path)), failed)

    def map_parts(
        self, query: str = "", *, files: Sequence[str] = (), folders: Sequence[str] = ()
    ) -> tuple[MapParts, Mapping[str, FathomError]]:
        """Return the parts of one map of all projects, and the errors of those that have failed; see `map`."""
        owners = self._owners(files)
        in_work = {name: relative_to(self._projects[name].engine.root, own) for name, own in owners.items()}
        projects, waiting = without_first_runs(self._projects)
        pairs = {name: (project, in_work.get(name, ())) for name, project in projects.items()}
        contents, failed = self._answered(
            *each_asked(lambda pair, question: pair[0].map_parts(question, pair[1], folders), pairs, query), waiting
        )
        for name in in_work:
            if isinstance(error := failed.get(name), UsageError):
                raise error
        # A folder, or what the question names, may be in one project only: that is no failure of the others.
        failed = {name: error for name, error in failed.items() if not isinstance(error, UsageError)}
        return joined(contents), failed

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
        """Return the files of all projects that a prompt needs; see `Engine.context`. Paths begin with the project.

        Limits that are not given are those of the first project.
        """
        first = self.settings.context
        size = ContextSize(max_files or first.max_files, max_tokens or first.window, format_name)
        limit = HITS_PER_FILE * size.max_files
        wish = SearchWish(limit, level="chunk", where=where)
        results, failed = self._searched(query, dict.fromkeys(self._projects, wish))
        result = as_one(results, failed, limit)
        result = replace(result, degraded=(*result.degraded, *left_out_notes(self.left_out)))
        answering = {name: self._projects[name] for name in results}  # what has failed cannot be read either
        return context(answering, for_prompt(result, anyway=anyway), size)

    def ask(self, request: str | AnswerRequest) -> Answer:
        """Return one answer from all projects. See `ask_events`."""
        *_, answer = self.ask_events(request)
        return cast("Answer", answer)

    def ask_events(self, request: str | AnswerRequest) -> Iterator[AnswerSources | Text | Answer]:
        """Yield the sources, the text and the answer as `Engine.ask_events` does. Paths begin with the project.

        Settings and models are those of the first project.
        """
        request = AnswerRequest(request) if isinstance(request, str) else request
        self._first()
        projects, waiting = without_first_runs(self._projects)
        return ask_several(projects, request, self._unopened | waiting, lambda: left_out_notes(self.left_out))

    def investigate(self, request: str | AnswerRequest) -> Iterator[Event | Text | Answer]:
        """Let the model of the first project look in all of them; see `Engine.investigate`."""
        request = AnswerRequest(request) if isinstance(request, str) else request
        self._first()
        projects, waiting = without_first_runs(self._projects)
        return investigate_several(projects, request, self._unopened | waiting, lambda: left_out_notes(self.left_out))

    def close(self) -> None:
        """Close the projects."""
        for engine in self.engines.values():
            with suppress(FathomError):
                engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _outcomes(self, ask: Callable[[KeptProject], _T]) -> tuple[dict[str, _T], dict[str, FathomError]]:
        """Ask each project, and return answers and errors by project. Raises the first error if there is no answer."""
        projects, waiting = without_first_runs(self._projects)
        return self._answered(*outcomes(ask, projects), waiting)

    def _searched(
        self, query: str, wishes: Mapping[str, SearchWish]
    ) -> tuple[dict[str, SearchResult], dict[str, FathomError]]:
        """Search each project that has a wish and that the question is for. Raises the first error without a result."""
        projects, waiting = without_first_runs({name: self._projects[name] for name in wishes})
        pairs = {name: (project, wishes[name]) for name, project in projects.items()}
        return self._answered(
            *each_asked(lambda pair, question: pair[0].search(question, pair[1]), pairs, query), waiting
        )

    def _answered(
        self, answers: dict[str, _T], failed: dict[str, FathomError], waiting: Mapping[str, FathomError]
    ) -> tuple[dict[str, _T], dict[str, FathomError]]:
        if not answers:
            raise next(iter((failed or self._unopened or waiting).values()))
        return answers, {**self._unopened, **waiting, **failed}

    def _owners(self, files: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the paths of each project that holds some of these files; see `files_by_project`.

        A path of the disk belongs to a folder, and to a revision of it only where the folder itself is not asked.
        """
        folders_first = sorted(self.roots, key=lambda name: not self._projects[name].engine.folder)
        roots = {name: self.roots[name] for name in folders_first}
        return files_by_project(files, roots, self._unopened, here=self._here)

    def _owner_of(self, target: str) -> tuple[str, str]:
        """Return the project that a path names, and the path in it; "" for what may be in each of them."""
        if "/" not in target or target.startswith("@@"):
            return "", target
        try:
            ((name, (path,)),) = self._owners([target.removeprefix("@")]).items()
        except UsageError:
            return "", target
        return name, relative_to(self.roots[name], [path])[0]

    def _first(self) -> Engine:
        """Return the first project. Raises the error of the first if none could be opened."""
        if not self._projects:
            raise next(iter(self._unopened.values()))
        return next(iter(self.engines.values()))
