"""Questions to several projects: they are asked at the same time, and a project that fails stops no other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar, Unpack, cast

from codefathom.agent.loop import Event
from codefathom.answer.answer_types import Answer, AnswerRequest
from codefathom.answer.ask import AnswerSources, Text
from codefathom.askers.joined_agent import investigate_several
from codefathom.askers.joined_answers import (
    all_related,
    as_one,
    ask_several,
    context,
    each_asked,
    in_project_note,
    related_in,
    without_first_runs,
)
from codefathom.askers.kept import KeptProject
from codefathom.askers.named_files import files_by_project, relative_to
from codefathom.askers.part import Part
from codefathom.askers.side_by_side import outcomes
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, UnindexedPathError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.project.answer_setup import HITS_PER_FILE, for_prompt, question_of, request_of, size_of
from codefathom.project.asking import fitted_map
from codefathom.question.asker import result_of
from codefathom.question.extents import (
    MOST_HITS,
    USUAL_DEPTH,
    USUAL_LIMIT,
    USUAL_MAP_TOKENS,
    check_page,
    limit_of,
    most_parts,
)
from codefathom.question.question import Kind, Question
from codefathom.question.question_options import EdgeOptions
from codefathom.question.question_options import question_of as question_with
from codefathom.search.federation import MergedHits, ProjectHit, merge, questions_for, reach
from codefathom.search.graph.impact import Impact
from codefathom.search.graph.impact_part import in_project as impact_in_project
from codefathom.search.graph.project_map import MapParts, ProjectMap, joined
from codefathom.search.grouping import by_repository
from codefathom.search.verdict import Verdict, of_several
from codefathom.types import (
    NO_FACETS,
    NO_REST,
    Context,
    Facets,
    FileLines,
    FileOutline,
    FoundSymbol,
    Grouping,
    Hit,
    LevelName,
    LineHistory,
    Mode,
    RelatedResult,
    Rest,
    SearchResult,
    Skipped,
    SomeFiles,
    SomeSymbols,
    SomeTexts,
    TourStep,
    Where,
)

_T = TypeVar("_T")
_MOST_NAMED = 5  # of what was left out
_NOT_HERE = (UsageError, UnindexedPathError)  # what a question names, and one project lacks


class FederatedSearch(NamedTuple):
    """The hits of several projects, best first, and what each of them said."""

    hits: tuple[ProjectHit, ...]
    results: Mapping[str, SearchResult]  # by project
    failed: Mapping[str, FathomError]
    roots: Mapping[str, str]  # absolute path of each project's folder
    left_out: tuple[Skipped, ...] = ()  # of the paths that are searched, such as what a budget did not allow
    offset: int = 0  # of the first hit in the whole list
    rest: Rest = NO_REST  # of the list, behind these hits
    facets: Facets = NO_FACETS  # of the list

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
    limitations: tuple[Note, ...] = ()  # what was not listed

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


class FederatedTour(NamedTuple):
    """The tours of several projects one after the other; the paths begin with the name of their project."""

    steps: tuple[TourStep, ...]
    failed: Mapping[str, FathomError]


def placed(root: str, path: str) -> str:
    """Return the absolute path of a file of a project."""
    return f"{root.rstrip('/')}/{path}"


def left_out_notes(left_out: Sequence[Skipped]) -> tuple[Note, ...]:
    """Return a note for each of the first places that were left out, and for the number of the others."""
    notes = tuple(Note(say.LEFT_OUT, {"path": item.path, "reason": item.why}) for item in left_out[:_MOST_NAMED])
    n_more = len(left_out) - len(notes)
    return (*notes, Note(say.MORE_LEFT_OUT, {"count": n_more})) if n_more else notes


class JoinedProjects:
    """Askers that are asked together, by name; together they are one asker. Safe to ask from several threads.

    A path in a result of `answer` begins with the name of its project; `of_each` keeps the results apart.
    """

    folder = ""  # paths begin with the name of a project, not with a folder

    def __init__(
        self,
        projects: Mapping[str, Part],
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
    def projects(self) -> Mapping[str, Part]:
        """The opened projects by name."""
        return {name: project.asker for name, project in self._projects.items()}

    @property
    def engines(self) -> dict[str, Engine]:
        """The opened projects by name, those that are engines."""
        return {name: project for name, project in self.projects.items() if isinstance(project, Engine)}

    @property
    def only_name(self) -> str:
        """The name of the only project of all that were to be asked, "" where there are several."""
        return next(iter(self._projects)) if len(self._projects) == 1 and not self._unopened else ""

    @property
    def settings(self) -> Settings:
        """The settings of the first project, which hold for an answer. Raises its error if none could be opened."""
        if not self._projects:
            raise next(iter(self._unopened.values()))
        return next(iter(self._projects.values())).settings

    @property
    def roots(self) -> dict[str, str]:
        """The absolute path of each project's folder, by name, written with `/`."""
        return {name: project.root.replace(os.sep, "/") for name, project in self._projects.items()}

    @property
    def left_out(self) -> tuple[Skipped, ...]:
        """The places that are not asked about although a path names them; complete after a question."""
        return self._left_out

    def shown_path(self, name: str, path: str) -> str:
        """Return the path of a file in a project as a list of results shows it."""
        return f"{name}/{path}"

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the events of one answer of all projects, the result last; see `Asker`.

        A project that fails is named in the answer, and stops no other. Raises the first error if all of them fail.
        """
        return _ANSWERS[question.kind](self, self._of_files(question))

    def of_each(self, question: Question) -> Any:
        """Return the results of a search, of symbols, of connections or of a map, apart: see the methods below."""
        return _OF_EACH[question.kind](self, self._of_files(question))

    def _of_files(self, question: Question) -> Question:
        """Return a question that its words do not lead to the commits, unless there is only one project."""
        return replace(question, or_commits=question.or_commits and len(self._projects) == 1)

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
    ) -> FederatedSearch:
        """Return the best places in all projects; see `Engine.search`.

        With `files`, only the projects that hold these files and folders are asked; a path begins with the name of its
        project, or is one of the disk. Raises UsageError for one that lies in none of them.
        Hits are ordered by score where the projects have the same model, else by rank; see `search.federation.merge`.
        Equal files of two projects are listed once. Raises the error of the first project if all of them fail.
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
        )
        return self._search_of_each(question)

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = USUAL_LIMIT["symbols"], offset: int = 0
    ) -> FederatedSymbols:
        """Return symbols by name; limit and offset count in each project; see `Engine.symbols`."""
        return self._symbols_of_each(
            Question(query, "symbols", path=path, symbol_kind=kind, limit=limit, offset=offset)
        )

    def related(
        self,
        target: str,
        *,
        depth: int = USUAL_DEPTH["related"],
        limit: int = USUAL_LIMIT["related"],
        offset: int = 0,
        **options: Unpack[EdgeOptions],
    ) -> FederatedRelated:
        """Return the connections of a file or symbol in each project that has it; see `Engine.related`.

        A path may begin with the name of a project, or be one of the disk; then only that one is asked. Limit and
        offset count in each project.
        """
        question = question_with("related", target, options)
        return self._related_of_each(replace(question, depth=depth, limit=limit, offset=offset))

    def map(
        self,
        query: str = "",
        *,
        files: Sequence[str] = (),
        folders: Sequence[str] = (),
        max_tokens: int = USUAL_MAP_TOKENS,
        offset: int = 0,
    ) -> FederatedMap:
        """Return one map of all projects, in one budget of tokens; see `Engine.map`.

        The projects take turns; those whose hits answer the question better have more of them. A path of `files` is as
        in `search`; folders are those of each project that has them.
        """
        return self._map_of_each(
            Question(query, "map", files=tuple(files), folders=tuple(folders), max_tokens=max_tokens, offset=offset)
        )

    def map_parts(
        self, query: str = "", *, files: Sequence[str] = (), folders: Sequence[str] = (), limit: int | None = None
    ) -> tuple[MapParts, Mapping[str, FathomError]]:
        """Return the parts of one map of all projects, and the errors of those that have failed; see `map`.

        `limit` is the number of the first parts that are wanted.
        """
        question = Question(query, "map", files=tuple(files), folders=tuple(folders), limit=limit, as_parts=True)
        return self._map_parts(question)

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
        question = Question(
            query,
            "context",
            where=where,
            max_files=max_files,
            max_tokens=max_tokens,
            format_name=format_name,
            anyway=anyway,
        )
        return cast(Context, result_of(self, question))

    def ask(self, request: str | AnswerRequest) -> Answer:
        """Return one answer from all projects. See `ask_events`."""
        return cast(Answer, result_of(self, question_of(request)))

    def ask_events(self, request: str | AnswerRequest) -> Iterator[AnswerSources | Text | Answer]:
        """Yield the sources, the text and the answer as `Engine.ask_events` does. Paths begin with the project.

        Settings and models are those of the first project.
        """
        return self.answer(question_of(request))

    def investigate(self, request: str | AnswerRequest) -> Iterator[Event | Text | Answer]:
        """Let the model of the first project look in all of them; see `Engine.investigate`."""
        return self.answer(question_of(request, as_agent=True))

    def close(self) -> None:
        """Close the projects."""
        for project in self._projects.values():
            with suppress(FathomError):
                project.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- of each

    def _search_of_each(self, question: Question) -> FederatedSearch:
        check_page(question, MOST_HITS)
        owners = self._owners(question.files)
        names = owners or self._projects
        most = question.limit or max((self._projects[name].settings.search.limit for name in names), default=0)
        # The list of a single project is not made anew for each page.
        is_one = len(questions_for(question.text, names)) == 1
        begins_anew = question.offset and not is_one
        question, group = replace(question, group="none"), question.group  # the hits of all are gathered as one list
        own = replace(question, limit=reach(most, question.offset), offset=0) if begins_anew else question
        results, failed = self._searched({name: replace(own, files=owners.get(name, ())) for name in names})
        hits, rest, facets = merge(results, most, question.offset)
        if group == "repository":
            hits = by_repository(hits, lambda item: (item.project_id, item.hit.chunk.path))
        return FederatedSearch(hits, results, failed, self.roots, self.left_out, question.offset, rest, facets)

    def _symbols_of_each(self, question: Question) -> FederatedSymbols:
        answers, failed = self._outcomes(question)
        pairs = tuple((name, symbol) for name, page in answers.items() for symbol in page.symbols)
        n_symbols = {name: page.n_symbols for name, page in answers.items()}
        limitations = dict.fromkeys(note for page in answers.values() for note in page.limitations)
        return FederatedSymbols(pairs, failed, n_symbols, question.offset, tuple(limitations))

    def _related_of_each(self, question: Question) -> FederatedRelated:
        name, target = self._owner_of(question.text)
        if name:
            return FederatedRelated({name: result_of(self._projects[name], replace(question, text=target))}, {})
        return FederatedRelated(*self._outcomes(question))

    def _tour_of_each(self, question: Question) -> FederatedTour:
        tours, failed = self._outcomes(question)
        return FederatedTour(tuple(step.below(name) for name, steps in tours.items() for step in steps), failed)

    def _outline_of_each(self, question: Question) -> FederatedMap | FederatedTour:
        return self._tour_of_each(question) if question.tour else self._map_of_each(question)

    def _map_of_each(self, question: Question) -> FederatedMap:
        parts, failed = self._map_parts(question)
        return FederatedMap(fitted_map(parts, question, self.settings.context.tokenizer_path), failed)

    def _map_parts(self, question: Question) -> tuple[MapParts, Mapping[str, FathomError]]:
        """Return the parts of one map of all projects, and the errors of those that have failed."""
        owners = self._owners(question.files)
        in_work = {name: relative_to(self._projects[name].root, own) for name, own in owners.items()}
        projects, waiting = without_first_runs(self._projects)
        # The first parts of all are among the first ones of each.
        limit = question.limit if question.as_parts else most_parts(question)
        own = replace(question, as_parts=True, limit=limit, offset=0)
        wishes = {name: (project, replace(own, files=in_work.get(name, ()))) for name, project in projects.items()}
        contents, failed = self._answered(*_each_answered(wishes), waiting)
        for name in in_work:
            if isinstance(error := failed.get(name), _NOT_HERE):
                raise error
        # A folder, or what the question names, may be in one project only: that is no failure of the others.
        failed = {name: error for name, error in failed.items() if not isinstance(error, _NOT_HERE)}
        return joined(contents), failed

    # ---- as one

    def _search(self, question: Question) -> Iterator[SearchResult]:
        each = self._search_of_each(question)
        yield as_one(each.results, each.failed, MergedHits(each.hits, each.rest, each.facets), each.offset)

    def _symbols(self, question: Question) -> Iterator[SomeSymbols]:
        each = self._symbols_of_each(question)
        named = tuple(replace(item, path=f"{name}/{item.path}") for name, item in each.symbols)
        yield SomeSymbols(named, sum(each.n_symbols.values()), each.limitations)

    def _related(self, question: Question) -> Iterator[RelatedResult]:
        limit = limit_of(question)
        own = replace(question, limit=question.offset + limit, offset=0)
        results = self._related_of_each(own).results
        yield all_related([related_in(result, name) for name, result in results.items()], limit, question.offset)

    def _impact(self, question: Question) -> Iterator[Impact]:
        names = (*self._projects, *self._unopened)
        if len(names) > 1:
            raise UsageError("a diff is about one project", hint=f"name one of these in projects: {', '.join(names)}")
        for error in self._unopened.values():
            raise error
        yield impact_in_project(result_of(self._projects[names[0]], question), names[0])

    def _map(self, question: Question) -> Iterator[MapParts | ProjectMap | tuple[TourStep, ...]]:
        if question.tour:
            yield self._tour_of_each(question).steps
            return
        yield self._map_parts(question)[0] if question.as_parts else self._map_of_each(question).map

    def _context(self, question: Question) -> Iterator[Context]:
        size = size_of(question, self.settings.context)
        limit = HITS_PER_FILE * size.max_files
        each = self._search_of_each(Question(question.text, limit=limit, level="chunk", where=question.where))
        result = as_one(each.results, each.failed, MergedHits(each.hits, each.rest, each.facets))
        result = replace(result, problems=(*result.problems, *left_out_notes(each.left_out)))
        answering = {name: self._projects[name] for name in each.results}  # what has failed cannot be read either
        yield context(answering, for_prompt(result, anyway=question.anyway), size)

    def _files(self, question: Question) -> Iterator[SomeFiles]:
        listed, _ = self._outcomes(question)
        yield SomeFiles(
            tuple(item._replace(path=f"{name}/{item.path}") for name, some in listed.items() for item in some.files),
            tuple(in_project_note(name, note) for name, some in listed.items() for note in some.limitations),
        )

    def _lines(self, question: Question) -> Iterator[FileLines]:
        name, path = self._holder(question.text)
        self._projects[name].refresh()
        lines: FileLines = result_of(self._projects[name], replace(question, text=path))
        yield lines._replace(file=lines.file._replace(path=f"{name}/{lines.file.path}"))

    def _history(self, question: Question) -> Iterator[LineHistory]:
        if question.text.startswith("@@"):
            raise UsageError("a symbol is looked for in one project", hint="name its lines: PROJECT/PATH:LINE")
        name, path = self._holder(question.text)
        history: LineHistory = result_of(self._projects[name], replace(question, text=path))
        steps = tuple(replace(step, path=f"{name}/{step.path}") for step in history.steps)
        yield replace(history, path=f"{name}/{history.path}", steps=steps)

    def _texts(self, question: Question) -> Iterator[SomeTexts]:
        each = self._of_holders(question)
        texts = (item._replace(path=f"{name}/{item.path}") for name, some in each for item in some.texts)
        problems = (in_project_note(name, told) for name, some in each for told in some.problems)
        yield SomeTexts(tuple(texts), tuple(problems))

    def _outlines(self, question: Question) -> Iterator[tuple[FileOutline, ...]]:
        each = self._of_holders(question)
        yield tuple(item._replace(path=f"{name}/{item.path}") for name, outlines in each for item in outlines)

    def _of_holders(self, question: Question) -> list[tuple[str, Any]]:
        """Return what each project with some of these files answers about its own."""
        own: dict[str, list[str]] = {}
        for path in question.files:
            name, rest = self._holder(path)
            own.setdefault(name, []).append(rest)
        questions = {name: replace(question, files=tuple(files)) for name, files in own.items()}
        return [(name, result_of(self._projects[name], one)) for name, one in questions.items()]

    def _ask(self, question: Question) -> Iterator[Any]:
        if question.commits:
            raise UsageError(
                "the commits of one project answer at a time", hint="name exactly one project, and no path"
            )
        request = request_of(question)
        if not self._projects:
            raise next(iter(self._unopened.values()))
        projects, waiting = without_first_runs(self._projects)
        ask = investigate_several if question.as_agent else ask_several
        return ask(projects, request, self._unopened | waiting, lambda: left_out_notes(self.left_out))

    # ---- inside

    def _outcomes(self, question: Question) -> tuple[dict[str, Any], dict[str, FathomError]]:
        """Ask each project, and return answers and errors by project. Raises the first error if there is no answer."""
        projects, waiting = without_first_runs(self._projects)
        return self._answered(*outcomes(lambda project: result_of(project, question), projects), waiting)

    def _searched(self, wishes: Mapping[str, Question]) -> tuple[dict[str, SearchResult], dict[str, FathomError]]:
        """Search each project that has a wish and that the question is for. Raises the first error without a result."""
        projects, waiting = without_first_runs({name: self._projects[name] for name in wishes})
        return self._answered(
            *_each_answered({name: (project, wishes[name]) for name, project in projects.items()}), waiting
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
        folders_first = sorted(self.roots, key=lambda name: not self._projects[name].folder)
        roots = {name: self.roots[name] for name in folders_first}
        return files_by_project(files, roots, self._unopened, here=self._here)

    def _holder(self, path: str) -> tuple[str, str]:
        """Return the project of a file, and the path in it: the only one, or the one that the path begins with.

        Raises its error if it could not be opened, and UsageError where the path begins with none of them.
        """
        names = (*self._projects, *self._unopened)
        name, _, rest = path.partition("/")
        if name not in names or not rest:
            name, rest = names[0], path
            if len(names) > 1:
                hint = f"begin the path with one of {', '.join(names)}"
                raise UsageError(f"{path[:200]!r} is not inside any of these projects", hint=hint)
        if name in self._unopened:
            raise self._unopened[name]
        return name, rest

    def _owner_of(self, target: str) -> tuple[str, str]:
        """Return the project that a path names, and the path in it; "" for what may be in each of them."""
        if "/" not in target or target.startswith("@@"):
            return "", target
        try:
            ((name, (path,)),) = self._owners([target.removeprefix("@")]).items()
        except UsageError:
            return "", target
        return name, relative_to(self.roots[name], [path])[0]


def _each_answered(wishes: Mapping[str, tuple[Part, Question]]) -> tuple[dict[str, Any], dict[str, FathomError]]:
    """Return results and errors by project; a question that is kept to one project by a mark goes to that one only."""
    text = next((question.text for _, question in wishes.values()), "")
    return each_asked(lambda wish, query: result_of(wish[0], replace(wish[1], text=query)), wishes, text)


_ANSWERS: Mapping[Kind, Callable[[JoinedProjects, Question], Iterator[Any]]] = {
    "search": JoinedProjects._search,
    "context": JoinedProjects._context,
    "related": JoinedProjects._related,
    "impact": JoinedProjects._impact,
    "symbols": JoinedProjects._symbols,
    "map": JoinedProjects._map,
    "files": JoinedProjects._files,
    "lines": JoinedProjects._lines,
    "texts": JoinedProjects._texts,
    "outlines": JoinedProjects._outlines,
    "history": JoinedProjects._history,
    "ask": JoinedProjects._ask,
}
_OF_EACH: Mapping[Kind, Callable[[JoinedProjects, Question], Any]] = {
    "search": JoinedProjects._search_of_each,
    "symbols": JoinedProjects._symbols_of_each,
    "related": JoinedProjects._related_of_each,
    "map": JoinedProjects._outline_of_each,
}
