"""`fathom install` and `fathom uninstall`: settings and a skill for coding agents, shown before they are written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from codefathom.cli.display.output import complain
from codefathom.cli.face import Face
from codefathom.cli.options import InstallOptions
from codefathom.config.user_places import home_folder
from codefathom.errors import FathomError, UsageError
from codefathom.hosts import hooks
from codefathom.hosts.host_list import (
    HOSTS,
    SERVER,
    Host,
    HostPlaces,
    Surroundings,
    has_project_settings,
    project_places,
    user_places,
)
from codefathom.hosts.instructions import paragraph
from codefathom.hosts.plugin_files import PLUGIN_FOLDER, skill_text, sub_agent_text
from codefathom.hosts.setup_changes import FileChange, followed, is_there, removal_changes, setup_changes, write
from codefathom.shapes import to_json
from codefathom.source.secrets import mask
from codefathom.text.printable import is_text, show_line, show_name

_SUCCESS, _NO_RESULT, _ERROR, _UNCHANGED, _KEPT = 0, 1, 2, 3, 4
_MOST_CHARS = 400  # of a line of a difference
_Chosen = tuple[Host, HostPlaces]
_ChangesOf = Callable[[Host, HostPlaces], Sequence[FileChange]]
# Folders in which uv and pipx keep what they run once.
_PASSING = ("archive-v0", "builds-v0", "environments-v2", ".cache")


@dataclass(frozen=True, slots=True)
class _Plan:
    host: Host
    changes: Sequence[FileChange]

    @property
    def is_empty(self) -> bool:
        return not any(change.kind for change in self.changes)

    @property
    def is_set_up(self) -> bool:
        return all(change.after is not None or change.note for change in self.changes)


def install(options: InstallOptions, face: Face) -> int:
    """Set up a host, or all that are there. Return 1 if one of them was not, without an error."""
    hosts = _hosts(options, face)
    if options.print:
        return _print(hosts, options, face)
    if options.host and options.hook and not hosts[0][1].hooks:
        raise UsageError(
            f"fathom knows no hook for {hosts[0][0].title}",
            hint="leave --hook out; Claude Code, Codex, VS Code and Gemini CLI have one: fathom install claude --hook",
        )
    hosts = hosts if options.host else [(host, places) for host, places in hosts if is_there(places)]
    if not hosts:
        names = ", ".join(host.name for host in HOSTS)
        face.note(f"no coding agent was found; name the one that you use: {names}")
        return _NO_RESULT
    command = _command(in_project=options.project)

    def setup(host: Host, places: HostPlaces) -> Sequence[FileChange]:
        return setup_changes(host, places, command, instructs=options.instructions, hook=options.hook)

    codes = _run(hosts, setup, options, face)
    return _ERROR if _ERROR in codes else _NO_RESULT if _NO_RESULT in codes else _SUCCESS


def uninstall(options: InstallOptions, face: Face) -> int:
    """Take back what `install` has written. Return 1 if there is nothing, or nothing was written."""
    every = _hosts(options._replace(host=""), face)

    def removal(host: Host, places: HostPlaces) -> Sequence[FileChange]:
        return removal_changes(host, places, [other for other in every if other[0] is not host])

    codes = _run(_hosts(options, face), removal, options, face)
    if codes == {_UNCHANGED}:
        face.note("nothing that `fathom install` writes was found")
    return _ERROR if _ERROR in codes else _NO_RESULT if _SUCCESS not in codes else _SUCCESS


def _hosts(options: InstallOptions, face: Face) -> list[_Chosen]:
    chosen = [host for host in HOSTS if options.host in ("", host.name)]
    if not options.project:
        if face.common.source_dir:
            raise UsageError(
                "--source-dir names a project, but your own settings are meant",
                hint="add --project to write into the files of the project",
            )
        around = Surroundings(home_folder(), os.environ, sys.platform)
        return [(host, followed(user_places(host, around))) for host in chosen]
    root = face.project_root()
    if face.is_home(root):
        raise UsageError(
            f"{root} is a home folder or the root of the disk, not a project",
            hint="change to the folder of a project, or leave --project out to set up your own user",
        )
    if options.host and not has_project_settings(chosen[0]):
        raise UsageError(
            f"{chosen[0].title} has no settings for one project", hint="leave --project out to set up your own user"
        )
    return [(host, project_places(host, root)) for host in chosen if has_project_settings(host)]


def _command(*, in_project: bool) -> str:
    """Return the command that a host is to start.

    For a user it is a whole path: editors that are started from a desktop do not have the PATH of a shell. For a
    project it is the name alone, because its files go to other machines.
    """
    if in_project:
        return SERVER
    beside = os.path.join(os.path.dirname(sys.executable), SERVER + (".exe" if os.name == "nt" else ""))
    started = os.path.abspath(sys.argv[0])
    is_own = os.path.basename(started).lower().removesuffix(".exe") == SERVER
    # Links stay: ~/.local/bin/fathom remains where it is when pipx or uv makes its environment again.
    path = next((path for path in (started if is_own else "", beside) if path and os.path.isfile(path)), SERVER)
    if set(_PASSING) & set(path.split(os.sep)):
        raise UsageError(
            f"{path} is a temporary copy of fathom, which will be removed",
            hint="install fathom first, for example with `uv tool install codefathom`, then run `fathom install`",
        )
    return path if is_text(path) else SERVER


def _run(hosts: Iterable[_Chosen], changes_of: _ChangesOf, options: InstallOptions, face: Face) -> set[int]:
    """Show and write the changes of each host; return what became of them.

    A host whose files cannot be changed does not keep the others from it.
    """
    codes: set[int] = set()
    reports: list[dict[str, object]] = []
    shown: set[bytes] = set()  # the skill, which is the same for all
    for host, places in hosts:
        try:
            plan = _Plan(host, changes_of(host, places))
            if not face.common.json:
                face.write("".join(_shown(plan, shown, face)))
            code = _carry_out(plan, options, face)
        except FathomError as error:
            if options.host:
                raise
            complain(f"{host.title}: {error}", error.hint)
            codes.add(_ERROR)
            continue
        codes.add(code)
        reports += [{**_report(host, change), "written": code == _SUCCESS} for change in plan.changes]
    if face.common.json:
        face.write(to_json(reports))
    return codes


def _carry_out(plan: _Plan, options: InstallOptions, face: Face) -> int:
    """Ask, and write what changes. Return 1 if it was not written."""
    title = plan.host.title
    if plan.is_empty:
        return _KEPT if any(change.note for change in plan.changes) else _UNCHANGED
    if not options.yes and (face.common.json or not sys.stdin.isatty()):
        face.note(f"{title}: nothing was written, because there is no terminal to ask; --yes writes without a question")
        return _NO_RESULT
    if not options.yes and face.answer(f"write this for {title}? [y/N] ").strip().lower() not in {"y", "yes"}:
        face.note(f"{title}: nothing was written")
        return _NO_RESULT
    for change in plan.changes:
        if change.kind:
            write(change)
    face.note(f"{title}: written; restart it to see the change")
    return _SUCCESS


def _shown(plan: _Plan, shown: set[bytes], face: Face) -> Iterator[str]:
    """Yield the lines that tell a person what changes; a text that was shown before is not shown again."""
    if not plan.is_empty or plan.is_set_up:
        yield f"{face.style.strong(plan.host.title)}{': is already set up' if plan.is_empty else ''}\n"
    for change in plan.changes:
        if change.kind:
            is_repeated = change.after is None or change.after in shown
            note = ", with the text above" if change.after and is_repeated else ""
            yield f"  {change.kind}: {show_name(change.path)}{note}\n"
            yield from [] if is_repeated else _difference(change, face)
            shown.add(change.after or b"")
        elif change.note:
            yield f"  {show_name(change.path)}: {change.note}\n"


def _difference(change: FileChange, face: Face) -> Iterator[str]:
    """Yield the changed lines with one around them. Values of secrets, which such files hold, are masked."""
    before, after = (_lines(content, change.path) for content in (change.before, change.after))
    for line in list(unified_diff(before, after, n=1, lineterm=""))[2:]:
        text = f"    {_cut(show_line(line))}"
        yield f"{face.style.strong(text) if line.startswith('+') else face.style.faint(text)}\n"


def _lines(content: bytes | None, path: str) -> list[str]:
    text = mask((content or b"").decode(errors="replace"), path).text.replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def _cut(line: str) -> str:
    """Return a line, of a very long one the part around our entry."""
    if len(line) <= _MOST_CHARS:
        return line
    start = line.find(f'"{SERVER}"') - _MOST_CHARS // 2
    return f"{line[0]}…{line[start : start + _MOST_CHARS]}…" if start > 0 else f"{line[:_MOST_CHARS]}…"


def _report(host: Host, change: FileChange) -> dict[str, str]:
    return {"host": host.name, "path": change.path, "change": change.kind, "note": change.note}


def _print(hosts: Sequence[_Chosen], options: InstallOptions, face: Face) -> int:
    """Print the settings of each host, then the skill, for those who write them by hand."""
    command = _command(in_project=options.project)
    for host, places in hosts:
        face.write(f"{face.style.strong(host.title)}: in {show_name(places.settings.path)}\n\n")
        face.write(f"{host.created(host.entry(command))}\n")
    face.write(f"{face.style.strong('Skill')}: the same for all, in\n\n")
    face.write("".join(f"  {show_name(places.skill.path)}\n" for _, places in hosts if places.skill))
    face.write(f"\n{skill_text().decode()}\n")
    if sub_agents := [places.sub_agent for _, places in hosts if places.sub_agent]:
        face.write(f"{face.style.strong('Sub-agent')}: in\n\n")
        face.write("".join(f"  {show_name(target.path)}\n" for target in sub_agents))
        face.write(f"\n{sub_agent_text().decode()}\n")
    if readers := [places.instructions for _, places in hosts if places.instructions]:
        face.write(f"{face.style.strong('Instructions')}: with --instructions, in\n\n")
        face.write("".join(f"  {show_name(target.path)}\n" for target in dict.fromkeys(readers)))
        face.write(f"\n{paragraph()}\n\n")
    for host, target in ((host, places.hooks) for host, places in hosts if places.hooks):
        face.write(f"{face.style.strong('Hook')}: with --hook, in {show_name(target.path)}\n\n")
        face.write(f"{hooks.created(hooks.FORMS[host.name], command)}\n")
    title = face.style.strong("Agent Plugin")
    face.write(f"{title}: the skill in a folder that several agents load, {show_name(PLUGIN_FOLDER)}\n")
    return _SUCCESS
