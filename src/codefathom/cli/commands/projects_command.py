"""`fathom projects`, and commands that ask several projects at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from codefathom.cli.display.render import paths_text, related_text, search_text, symbols_text
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import where
from codefathom.cli.options import ProjectsOptions, RelatedOptions, SearchOptions, SymbolsOptions
from codefathom.errors import FathomError, UsageError
from codefathom.search.federation import in_project
from codefathom.search.ranking.confidence import MAX_WEAK, weak_note
from codefathom.several.project_list import NamedProject, ProjectList
from codefathom.shapes import federated_shape, plain_shape, symbols_shape, to_json
from codefathom.text.printable import show_text
from codefathom.types import Hit, SearchResult


def run(options: ProjectsOptions, face: Face) -> int:
    """Do one action with the list of projects."""
    projects, target = ProjectList(), options.target
    if options.action == "list":
        listed = projects.listed()
        face.write(to_json([item._asdict() for item in listed]) if face.common.json else _table(listed))
        return 0
    if options.action == "add":
        project = projects.add(target or ".", options.name, options.group)
        said = f"{project.name} is {project.root}"
    elif not target or (options.action == "rename" and not options.name):
        raise UsageError(
            f"`fathom projects {options.action}` needs the name of a project" + (" and --name" if target else ""),
            hint="`fathom projects` lists them",
        )
    elif options.action == "remove":
        project = projects.remove(target)
        said = f"{project.name} has no name any more; its files and its index stay"
    else:
        project = projects.rename(target, options.name)
        said = f"{target} is called {project.name} now"
    face.write(to_json(project._asdict()) if face.common.json else f"{show_text(said)}\n")
    return 0


def search_several(options: SearchOptions, face: Face, explain: Callable[[Hit], Iterable[str]]) -> int:
    """Print the best places of several projects, each path with its project before it. Return 1 without hits."""
    with face.open_several(options.project, is_all=options.all) as projects:
        result = projects.search(
            options.query, where=where(options, ""), min_score=options.min_score, files=options.file
        )
    is_weak = all(one.weak for one in result.results.values())
    best = max(result.results.values(), key=lambda one: one.confidence)
    face.notes([*doubts_of_several(result.results, result.failed), *([weak_note(best.confidence)] if is_weak else [])])
    if face.common.json:
        failed, whole = reasons(result.failed), face.common.verbose
        face.write(to_json(federated_shape(options.query, result.hits, result.results, failed, whole=whole)))
    else:
        hits = tuple(in_project(item) for item in result.hits)
        shown = replace(best, hits=hits[:MAX_WEAK] if is_weak and not options.anyway else hits)
        face.write(
            paths_text(shown.hits)
            if options.format == "path"
            else search_text(shown, face.style, whole=face.common.verbose, explain=explain)
        )
    if not result.hits:
        face.note(f"nothing found for {options.query!r}")
    return 0 if result.hits else 1


def symbols_of_several(options: SymbolsOptions, face: Face) -> int:
    """Print definitions by name, each path with its project before it. Return 1 without any."""
    with face.open_several(options.project, is_all=options.all) as projects:
        result = projects.symbols(options.query, path=options.path, kind=options.kind, limit=options.limit)
    listed = [replace(item, path=f"{name}/{item.path}") for name, item in result.symbols]
    face.notes(_failures(result.failed))
    if face.common.json:
        shape = symbols_shape(options.query, listed, len(listed))
        face.write(to_json({**shape, "failed": reasons(result.failed)}))
    else:
        face.write(symbols_text(listed, face.style))
    if not listed:
        face.note(f"no symbol matches {options.query!r}; `fathom search` also searches the text")
    return 0 if listed else 1


def related_in_several(options: RelatedOptions, face: Face) -> int:
    """Print what a file or symbol is connected with in each project that has it. Return 1 without any."""
    with face.open_several(options.project, is_all=options.all) as projects:
        result = projects.related(options.target, depth=options.depth, limit=options.limit)
    # A name that is in one project only is no failure of the others.
    failed = {name: error for name, error in result.failed.items() if not isinstance(error, UsageError)}
    face.notes(_failures(failed))
    if face.common.json:
        shapes = {name: plain_shape(one) for name, one in result.results.items()}
        face.write(to_json({"target": options.target, "projects": shapes, "failed": reasons(failed)}))
    for name, one in result.results.items():
        if not face.common.json:
            edges = tuple(replace(edge, path=f"{name}/{edge.path}") for edge in one.edges)
            face.write(related_text(replace(one, edges=edges), face.style))
        face.note(f"{name}: {one.completeness.rstrip('.')}")
    return 0 if any(one.edges for one in result.results.values()) else 1


def _failures(failed: Mapping[str, FathomError]) -> list[str]:
    return [f"{name}: {reason}" for name, reason in reasons(failed).items()]


def doubts_of_several(results: Mapping[str, SearchResult], failed: Mapping[str, FathomError]) -> list[str]:
    """Return a note for each project that failed, and for all that limits the results of the others."""
    return [
        *_failures(failed),
        *(f"{name}: {note}" for name, one in results.items() for note in _doubts(one)),
    ]


def _doubts(result: SearchResult) -> list[str]:
    stale = ["files have changed since the index was made; run `fathom index` there to update it"]
    return [*result.degraded, *(stale if result.stale else [])]


def reasons(failed: Mapping[str, FathomError]) -> dict[str, str]:
    """Return the error of each project with its remedy."""
    return {name: f"{error}; {error.hint}" if error.hint else str(error) for name, error in failed.items()}


def _table(projects: tuple[NamedProject, ...]) -> str:
    if not projects:
        return "no project has a name yet; `fathom projects add DIR` gives it one\n"
    width = max(len(item.name) for item in projects)
    lines = (f"{item.name:{width}}  {item.root}{_of(item.groups)}" for item in projects)
    return show_text("\n".join([*lines, ""]))


def _of(groups: tuple[str, ...]) -> str:
    return f"  ({', '.join(groups)})" if groups else ""
