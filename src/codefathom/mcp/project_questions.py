"""Questions of the tools to the projects of a call; paths begin with their project where several may be meant.

A session that asks one project imports nothing for several, nor for answers: twenty of them may be open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from codefathom.errors import UsageError
from codefathom.facts.reasons import NO_FILE_INDEXED, Note, verbatim
from codefathom.mcp.agent_masks import masked_text
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.tool_arguments import where_of
from codefathom.mcp.tool_projects import ChosenProjects
from codefathom.project.location import path_within
from codefathom.question.asker import Asker, result_of
from codefathom.question.question import Question
from codefathom.search.filter.filter_options import as_spelled, folder_of, is_glob
from codefathom.search.graph.project_map import ProjectMap, map_text
from codefathom.search.verdict import Verdict
from codefathom.stores.conditions import combine
from codefathom.system.stopping import check_stopped
from codefathom.text.near_names import near_names
from codefathom.text.printable import show_name
from codefathom.types import (
    FileLines,
    Filter,
    FilterGroup,
    Hit,
    LineHistory,
    Progress,
    RelatedResult,
    SearchResult,
    SomeFiles,
    Symbol,
    TourStep,
    Where,
)

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Answer, AnswerStep, OnStep
    from codefathom.askers.part import Part
    from codefathom.search.graph.impact import Impact

_T = TypeVar("_T")
_MOST_REACHED = 1_000  # more than an answer ever has room for
_MOST_EDGES = 1_000
_LOOK_AROUND = "read with path . lists the folders of the project"


class FolderEntries(NamedTuple):
    """The entries of a folder of the index."""

    path: str
    folders: tuple[tuple[str, int], ...]  # name, and number of files below it
    files: tuple[tuple[str, int], ...]  # name, and number of lines
    limitations: tuple[Note, ...] = ()  # what was not listed


class Outline(NamedTuple):
    """The map of one project or several as a text."""

    text: str
    completeness: str
    missing: str  # the part of it that agents read beside the text, too
    n_left_out: int  # files
    n_symbols_left_out: int
    next_offset: int | None  # of the next page
    verdict: Verdict | None  # on the question, where there is one


def searched(
    chosen: ChosenProjects, question: Question, paths: Sequence[str], *, are_files: bool = False
) -> SearchResult:
    """Return the best places of all projects; of one whose first index is being made, those that words find.

    The paths are patterns, files and folders, or files alone, as hits name them. Raises the error of the first project
    if there is no result.
    """
    condition = _any_file if are_files else where_of
    projects: dict[str, Part] = {**chosen.askers, **chosen.indexing}
    if not chosen.is_named:
        inside = combine(question.where, condition(paths))
        return cast(SearchResult, result_of(projects[_only(chosen)], replace(question, where=inside)))
    from codefathom.askers.kept import KeptProject

    parts = {
        name: KeptProject(projects[name], where=condition(own)) for name, own in _paths_of_each(paths, projects).items()
    }
    return cast(SearchResult, result_of(_joined(parts, chosen), question))


def _any_file(paths: Sequence[str]) -> Where | None:
    return FilterGroup("OR", tuple(as_spelled(Filter("path", "eq", path)) for path in paths))


def entries_of(chosen: ChosenProjects, path: str) -> FolderEntries | None:
    """Return the entries of a folder; None where the index has no file below it, unless it is the project's own."""
    for name, asker, folder in _in_each(chosen, path):
        files, limitations = _files_below(asker, folder)
        if files:
            shown = "/".join(filter(None, (name * chosen.is_named, folder)))
            inside = [(file.path[len(folder) + bool(folder) :].partition("/"), file.n_lines) for file in files]
            folders = Counter(first for (first, mark, _), _ in inside if mark)
            here = tuple((first, n_lines) for (first, mark, _), n_lines in inside if not mark)
            return FolderEntries(shown or ".", tuple(sorted(folders.items())), here, limitations)
    if not folder_of(path) and not chosen.is_named:
        return FolderEntries(".", (), (), (verbatim(NO_FILE_INDEXED),))
    return None


def check_paths(chosen: ChosenProjects, paths: Sequence[str]) -> None:
    """Raise UsageError for one that names no file and no folder of the index. A pattern may match nothing."""
    for path in paths:
        if not is_glob(path) and not any(_has(asker, own) for _, asker, own in _in_each(chosen, path)):
            raise UsageError(f"there is no file or folder {path!r} in the index", hint=near_hint(chosen, path))


def near_hint(chosen: ChosenProjects, path: str) -> str:
    """Return the remedy for a path that is not there: those that are spelled like it."""
    name = folder_of(path).rpartition("/")[2].lower()
    by_name: dict[str, str] = {}  # the first place of each name: of a file, of a folder
    for place in _all_paths(chosen):
        parts = place.split("/")
        for n, part in enumerate(parts, start=1):
            by_name.setdefault(part.lower(), "/".join(parts[:n]))
    stem = name.partition(".")[0]
    close = [other for other in by_name if name and stem and stem in other]
    near = [by_name[other] for other in (close or near_names(name, by_name))[:3]]
    return f"did you mean {', '.join(map(show_name, near))}?" if near else _LOOK_AROUND


def _all_paths(chosen: ChosenProjects) -> Iterator[str]:
    for name, asker in chosen.askers.items():
        yield from (f"{name}/" * chosen.is_named + file.path for file in _files_below(asker).files)


def _in_each(chosen: ChosenProjects, path: str) -> Iterator[tuple[str, Part, str]]:
    """Yield the projects that a path may lie in, and the path as each of them has it."""
    if not chosen.is_named:
        yield from ((name, asker, folder_of(path)) for name, asker in chosen.askers.items())
        return
    for name, (own, *_) in _paths_of_each((path,), chosen.askers).items():
        yield name, chosen.askers[name], folder_of(own)


def _has(asker: Part, path: str) -> bool:
    return bool(result_of(asker, Question(kind="texts", files=(path,))).texts) or bool(_files_below(asker, path).files)


def _files_below(asker: Part, folder: str = "") -> SomeFiles:
    return cast(SomeFiles, result_of(asker, Question(folder, "files")))


def outlines_of(chosen: ChosenProjects, paths: Collection[str]) -> dict[str, tuple[Symbol, ...]]:
    """Return the symbols of each of these files."""
    asked_for = Question(kind="outlines", files=tuple(dict.fromkeys(paths)))
    return {outline.path: outline.symbols for outline in result_of(_asker(chosen), asked_for)}


def body_of(chosen: ChosenProjects, hit: Hit, symbols: Sequence[Symbol]) -> FileLines:
    """Return the lines of the symbol that a hit is a part of, else those of the hit. Raises as `lines_of`."""
    chunk = hit.chunk
    around = [item for item in symbols if item.start_line <= chunk.start_line and chunk.end_line <= item.end_line]
    named = [item for item in symbols if hit.name and hit.name == item.qualified_name]
    meant = [item for item in named if item.start_line <= hit.line <= item.end_line] or around
    inner = max(meant, key=lambda item: (item.start_line, -item.end_line), default=None)
    start, end = (chunk.start_line, chunk.end_line) if inner is None else (inner.start_line, inner.end_line)
    return lines_of(chosen, Question(chunk.path, "lines", start_line=start, end_line=end, for_agent=True))


def lines_of(chosen: ChosenProjects, question: Question) -> FileLines:
    """Return lines of a file; a path may be a handle such as `a/b.py:10-40`. Raises SourceError, UsageError."""
    projects: dict[str, Part] = {**chosen.askers, **chosen.indexing}
    if chosen.is_named:
        return cast(FileLines, result_of(_joined(projects, chosen), question))
    only = projects[_only(chosen)]
    only.refresh()
    return cast(FileLines, result_of(only, question))


def history_of(chosen: ChosenProjects, place: str) -> LineHistory:
    """Return the commits that made the lines of a place. Raises SourceError, UsageError."""
    return cast(LineHistory, result_of(_asker(chosen), Question(place, "history")))


def related(chosen: ChosenProjects, question: Question) -> RelatedResult:
    """Return the connections of a file or symbol in each project that has it, as one result."""
    return cast(RelatedResult, result_of(_asker(chosen), replace(question, limit=_MOST_EDGES)))


def impact_of(chosen: ChosenProjects, diff: str, offset: int) -> Impact:
    """Return the reach of a diff in its project. Raises UsageError where several projects may be meant."""
    question = Question(kind="impact", diff=diff, limit=_MOST_REACHED, offset=offset)
    return cast("Impact", result_of(_asker(chosen), question))


def mapped(chosen: ChosenProjects, question: Question) -> Outline:
    """Return one map of all projects within a budget of tokens."""
    if not chosen.is_named:
        return _outline(result_of(_asker(chosen), question))
    below = _paths_of_each(question.folders, chosen.askers)
    kept = tuple(dict.fromkeys(folder for names in below.values() for folder in names if folder != "."))
    projects = _joined({name: chosen.askers[name] for name in below}, chosen)
    return _outline(result_of(projects, replace(question, folders=kept)))


def tour(chosen: ChosenProjects, question: Question) -> tuple[TourStep, ...]:
    """Return places to read in each project, one after the other."""
    return cast("tuple[TourStep, ...]", result_of(_asker(chosen), question))


def answered(chosen: ChosenProjects, question: Question, control: CallControl) -> Answer:
    """Return the answer of a model; the steps on the way are told. Raises StoppedError once the caller has left."""
    from codefathom.answer.answer_types import Answer

    asked_for = replace(question, on_step=_teller(control), for_agent=True)
    answer: Answer | None = None
    with closing(_closable(_asker(chosen).answer(asked_for))) as events:
        for event in events:
            check_stopped()
            answer = event if isinstance(event, Answer) else answer
    assert answer is not None  # the last event of every answer
    return answer


def _asker(chosen: ChosenProjects) -> Asker:
    """Return the asker of a call: its only project, or all that it names as one. Raises the error of the only one."""
    return _joined(chosen.askers, chosen) if chosen.is_named else chosen.askers[_only(chosen)]


def _joined(parts: Mapping[str, Part], chosen: ChosenProjects) -> Asker:
    from codefathom.askers.joined import JoinedProjects

    # No path of the disk is understood: a caller names files of these projects only.
    return JoinedProjects(parts, chosen.failed, here=None)


def _closable(events: Iterator[_T]) -> Generator[_T, None, None]:
    yield from events


def _teller(control: CallControl) -> OnStep:
    n_steps = 0

    def tell(step: AnswerStep) -> None:
        nonlocal n_steps
        n_steps += 1
        control.on_progress(Progress("ask", n_steps, 0, message=masked_text(step.text)))

    return tell


def _only(chosen: ChosenProjects) -> str:
    """Return the name of the only project. Raises its error if it could not be opened."""
    for error in chosen.failed.values():
        raise error
    return next(iter({**chosen.askers, **chosen.indexing}))


_WITH_PATHS = ("path", "target", "paths", "files")


def with_own_paths(arguments: Mapping[str, Any], chosen: ChosenProjects) -> Mapping[str, Any]:
    """Return arguments in which a whole path of the disk inside a project is written as an answer would write it."""
    projects: dict[str, Part] = {**chosen.askers, **chosen.indexing}
    roots = {name: asker.root for name, asker in projects.items()}

    def own(value: Any) -> Any:
        return _own_path(value, roots, chosen.is_named) if isinstance(value, str) else value

    def each_own(value: Any) -> Any:  # lists in a list are no paths, and may lie deeper than a function can call itself
        return [own(one) for one in value] if isinstance(value, list) else own(value)

    return {name: each_own(value) if name in _WITH_PATHS else value for name, value in arguments.items()}


def _own_path(path: str, roots: Mapping[str, str], is_named: bool) -> str:
    places = {name: place for name, root in roots.items() if (place := path_within(path, root)) is not None}
    if not places:
        return path
    name = max(places, key=lambda name: len(roots[name]))  # the innermost
    return f"{name}/" * is_named + places[name]


def _paths_of_each(paths: Sequence[str], names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the paths of each project that they keep a question to: those that begin with its name, and patterns."""
    own: dict[str, list[str]] = {name: [] for name in names}
    for path in paths:
        name, _, rest = path.removeprefix("./").partition("/")
        for of in [name] if name in own else own:
            own[of].append((rest or ".") if name in own else path)
    return {name: tuple(kept) for name, kept in own.items() if kept or not paths}


def _outline(of: ProjectMap) -> Outline:
    return Outline(
        map_text(of.files),
        of.completeness,
        of.missing,
        of.n_left_out,
        of.n_symbols_left_out,
        of.next_offset,
        of.verdict,
    )
