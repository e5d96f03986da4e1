"""`fathom projects`: the names that a user has given projects."""

from __future__ import annotations

from codefathom.askers.project_list import NamedProject, ProjectList
from codefathom.cli.face import Face
from codefathom.cli.options import ProjectsOptions
from codefathom.errors import UsageError
from codefathom.shapes import to_json
from codefathom.text.printable import show_text


def run(options: ProjectsOptions, face: Face) -> int:
    """Do one action with the list of projects."""
    projects, target = ProjectList(), options.target
    if face.common.rev and options.action != "add":
        raise UsageError("--rev is for `fathom projects add`", hint="remove the name, then add it with another --rev")
    if options.action == "list":
        listed = projects.listed()
        face.write(to_json([item._asdict() for item in listed]) if face.common.json else _table(listed))
        return 0
    if options.action == "add":
        project = projects.add(target or ".", options.name, options.group, face.common.rev)
        said = f"{project.name} is {project.place}"
    elif not target or (options.action == "rename" and not options.name):
        raise UsageError(
            f"`fathom projects {options.action}` needs the name of a project" + (" and --name" if target else ""),
            hint="`fathom projects` lists them",
        )
    elif options.action == "remove":
        project = projects.remove(target)
        said = f"{project.name} is no longer in the list; its files and its index stay"
    else:
        project = projects.rename(target, options.name)
        said = f"{target} is now called {project.name}"
    face.write(to_json(project._asdict()) if face.common.json else f"{show_text(said)}\n")
    return 0


def _table(projects: tuple[NamedProject, ...]) -> str:
    if not projects:
        return "no project has a name yet; `fathom projects add DIR` gives it one\n"
    width = max(len(item.name) for item in projects)
    lines = (f"{item.name:{width}}  {item.place}{_of(item.groups)}" for item in projects)
    return show_text("\n".join([*lines, ""]))


def _of(groups: tuple[str, ...]) -> str:
    return f"  ({', '.join(groups)})" if groups else ""
