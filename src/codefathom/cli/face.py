"""The common part of all commands: the streams, the style, notes on stderr, and opening the project."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from codefathom.cli.display.output import Output, shown_message
from codefathom.cli.display.progress import ProgressLine
from codefathom.cli.options import Common
from codefathom.config.configuration import find_root, load_settings
from codefathom.config.settings import Settings
from codefathom.config.user_places import user_file
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.facts.reasons import Told
from codefathom.text.printable import show_name, show_text

if TYPE_CHECKING:
    from codefathom.answer.answer_types import AnswerStep
    from codefathom.askers.joined import JoinedProjects
    from codefathom.types import Progress


class Choice(Protocol):
    """Options that say which projects a command is about."""

    @property
    def project(self) -> tuple[str, ...]:
        """The values of --project."""
        ...

    @property
    def all(self) -> bool:
        """True with --all."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The values of --in."""
        ...


class Face:
    """One run of the program: its streams and the style of its output."""

    def __init__(
        self, common: Common, out: TextIO, err: TextIO, environ: Mapping[str, str], *, folder: str = ""
    ) -> None:
        """`folder` is the one that a command is run in; "" is the working directory of this process."""
        self.common = common
        self._here = folder
        self._out = Output(out, environ)
        self._err = Output(err, environ, is_needed=False)
        self.style = self._out.style
        self._environ = environ
        self._reported: set[str] = set()
        self._progress = ProgressLine(self._err)
        self.of_paths: Mapping[str, object] = {}  # what JSON says beside an answer of --in: the folders of its projects

    def write(self, text: str, *, keeps_ends: bool = False) -> None:
        """Write data; a program, but no terminal, may get the line ends of another system in it."""
        self._err.clear()
        self._out.write(text, keeps_ends=keeps_ends)

    def flush(self) -> None:
        """Let a reader see now what was written; for commands that go on for long."""
        self._out.flush()

    def note(self, text: str, below: str = "") -> None:
        """Write one line to stderr, unless quiet; a table may follow `below` it."""
        if text and not self.common.quiet:
            self._err.write(f"fathom: {shown_message(text)}\n{show_text(below)}")
            self._err.flush()

    def _note_once(self, text: str) -> None:
        """Write a note now, and not again when the result contains it."""
        self.note(text)
        self._reported.add(text)

    def notes(self, texts: Iterable[Told | None]) -> None:
        """Write several notes, without those already reported."""
        for text in map(str, filter(None, texts)):
            if text not in self._reported:
                self.note(text)

    def step(self, step: AnswerStep) -> None:
        """Show the present work of an answer: on a terminal all of it, elsewhere only its cost and a silent model."""
        if self.common.quiet:
            return
        if self._err.is_terminal and step.phase != "plan":
            self._err.pass_by(step.text)
        elif step.phase == "plan" or (step.phase == "waiting" and step.phase not in self._reported):
            self.note(step.text)
            self._reported.add(step.phase)

    def progress(self, text: str) -> None:
        """Show on a terminal how far the work is."""
        if self._err.is_terminal and not self.common.quiet:
            self._err.pass_by(text)

    def override(self, key: str, value: object) -> None:
        """Set a setting for this run."""
        self.common = self.common._replace(overrides={**self.common.overrides, key: value})

    def leave_revision(self) -> str:
        """Go on with the folder instead of a revision of it, and return the name of the revision, if one was chosen."""
        name = self.common.rev
        self.common = self.common._replace(rev="")
        return name

    def ask(self, question: str) -> None:
        """Put a question before the reader, quiet or not."""
        self._err.write(question)
        self._err.flush()

    def answer(self, question: str) -> str:
        """Return the line that a person types after a question. A closed terminal is like an interruption."""
        self.ask(question)
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        return line

    def settings(self) -> Settings:
        """The settings of the project that the command is about."""
        return self.settings_of(self.project_root())

    def settings_of(self, root: str) -> Settings:
        """The settings of a project, with those of the command line."""
        return load_settings(
            root,
            overrides=self.common.overrides,
            said_as=self.common.said_as,
            environ=self._environ,
            user_file=user_file(self._environ),
        )

    def project_root(self) -> str:
        """Return the root of the project that the command is about."""
        return find_root(self._folder())

    def is_home(self, root: str) -> bool:
        """Return True for a home folder and the root of the disk, unless --source-dir names it."""
        homes = {os.path.realpath(os.path.expanduser("~")), os.path.abspath(os.sep)}
        return not self.common.source_dir and root in homes

    def open(self, *, tells_extent: bool = False) -> Engine:
        """Open the project that the command is about; a run of the indexer shows its progress.

        With `tells_extent`, its number of files is told before the work.
        """
        self._progress.tells_extent = tells_extent
        show = None if self.common.quiet else self._progress
        self._refuse_home()
        settings = self.settings()
        self.notes(settings.refused.values())
        self.note(self._adoption())
        engine = Engine.open(
            self._folder(), settings=settings, on_progress=show, on_wait=self._note_once, revision=self.common.rev
        )
        if engine.place.revision is not None and not engine.is_fleet and not self.common.rev:
            self.note("this repository has no working tree, so its HEAD is read; --rev chooses another revision")
        return engine

    def open_chosen(self, options: Choice) -> Engine | JoinedProjects:
        """Open what --project, --all or --in choose, else the project that the command is about."""
        if not (options.project or options.all or options.paths):
            return self.open()
        projects = self.open_several(options)
        if options.paths:
            self.of_paths = {"roots": dict(projects.roots)}
            self.notes(f"{name}/ is {root}" for name, root in projects.roots.items())
        return projects

    def open_several(self, options: Choice) -> JoinedProjects:
        """Open the projects of --project or --all, or the paths of --in."""
        if options.paths:
            return self._open_paths(options)
        from codefathom.askers.open_projects import Federation

        if self.common.rev:
            raise UsageError(
                "--rev cannot be used with --project and --all",
                hint="give the revision a name with `fathom projects add DIR --rev REV`, and use that name",
            )
        return Federation.open(
            options.project, is_all=options.all, settings_of=self.settings_of, on_wait=self._note_once
        )

    def _open_paths(self, options: Choice) -> JoinedProjects:
        from codefathom.askers.open_paths import PathSearch

        others = {
            "--project": options.project,
            "--all": options.all,
            "--rev": self.common.rev,
            "--source-dir": self.common.source_dir,
        }
        for name, value in others.items():
            if value:
                raise UsageError(f"--in cannot be used with {name}", hint="use --in alone: it says what is searched")
        return PathSearch.open(options.paths, settings_of=self.settings_of, on_wait=self._note_once)

    @property
    def on_progress(self) -> Callable[[Progress], None]:
        """Show a step of a long run, unless quiet."""
        return (lambda _: None) if self.common.quiet else self._progress

    def note_indexing(self) -> None:
        """Write a summary of the indexing that this command had to do first."""
        self.note(self._progress.summary())
        self._progress.forget()

    def _refuse_home(self) -> None:
        """Raise UsageError for a home folder: a question in the wrong folder must not index all files of a person."""
        root = self.project_root()
        if self.is_home(root):
            raise UsageError(
                f"{root} is a home folder or the root of the disk, not a project",
                hint=f"change to the folder of a project, or use --source-dir {root} if this is intended",
            )

    def _adoption(self) -> str:
        """Return a note where only an index in a folder above makes this folder a part of another project."""
        folder = os.path.realpath(self._folder())
        root = find_root(folder)
        if root == folder or any(os.path.exists(os.path.join(root, mark)) for mark in (".git", "fathom.toml")):
            return ""
        above = show_name(os.path.join(root, ".fathom"))
        return f"this folder belongs to the project of {above}; an empty fathom.toml here makes it a project of its own"

    def _folder(self) -> str:
        folder = os.path.join(self._here, self.common.source_dir) or "."
        if not os.path.isdir(folder):
            raise UsageError(f"no such folder: {folder!r}", hint="give the folder of a project with --source-dir")
        return folder
