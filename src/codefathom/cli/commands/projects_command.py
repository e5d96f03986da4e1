"""`fathom projects`, and `fathom search` in several projects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from codefathom.cli.display.render import paths_text, search_text
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import where
from codefathom.cli.options import ProjectsOptions, SearchOptions
from codefathom.errors import FathomError, UsageError
from codefathom.search.federation import in_project
from codefathom.search.ranking.confidence import MAX_WEAK, weak_note
from codefathom.several.federated import FederatedSearch, Federation
from codefathom.several.project_list import NamedProject, ProjectList
from codefathom.shapes import federated_shape, to_json
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
    names = options.project
    with Federation.open(names, is_all=options.all, settings_of=face.settings_of, on_wait=face.note) as projects:
        result = projects.search(options.query, where=where(options, ""), min_score=options.min_score)
    is_weak = all(one.weak for one in result.results.values())
    best = max(result.results.values(), key=lambda one: one.confidence)
    face.notes([*_notes(result), *([weak_note(best.confidence)] if is_weak else [])])
    if face.common.json:
        failed, whole = _reasons(result.failed), face.common.verbose
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


def _notes(result: FederatedSearch) -> list[str]:
    failed = [f"{name}: {reason}" for name, reason in _reasons(result.failed).items()]
    return [*failed, *(f"{name}: {note}" for name, one in result.results.items() for note in _doubts(one))]


def _doubts(result: SearchResult) -> list[str]:
    stale = ["files have changed since the index was made; run `fathom index` there to update it"]
    return [*result.degraded, *(stale if result.stale else [])]


def _reasons(failed: Mapping[str, FathomError]) -> dict[str, str]:
    return {name: f"{error}; {error.hint}" if error.hint else str(error) for name, error in failed.items()}


def _table(projects: tuple[NamedProject, ...]) -> str:
    if not projects:
        return "no project has a name yet; `fathom projects add DIR` gives it one\n"
    width = max(len(item.name) for item in projects)
    lines = (f"{item.name:{width}}  {item.root}{_of(item.groups)}" for item in projects)
    return show_text("\n".join([*lines, ""]))


def _of(groups: tuple[str, ...]) -> str:
    return f"  ({', '.join(groups)})" if groups else ""
