"""What all commands share: the streams, the style, notes on stderr, and opening the project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TextIO

from codefathom.cli.options import Common
from codefathom.cli.progress import ProgressLine
from codefathom.cli.render import Style, safe
from codefathom.cli.terminal import is_colourful, is_terminal
from codefathom.configuration import find_root, load_settings, user_file
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.settings import Settings


class Face:
    """One run of the program: where it writes and how."""

    def __init__(self, common: Common, out: TextIO, err: TextIO, environ: Mapping[str, str]) -> None:
        self.common = common
        self.style = Style(is_colourful(out, environ))
        self._out = out
        self._err = err
        self._environ = environ
        self._progress = ProgressLine(err, terminal=is_terminal(err, environ))

    def write(self, text: str) -> None:
        """Write data."""
        self._progress.clear()
        self._out.write(text)

    def flush(self) -> None:
        """Let a reader see now what was written; for commands that go on for long."""
        self._out.flush()

    def note(self, text: str) -> None:
        """Say something beside the data, unless quiet."""
        if text and not self.common.quiet:
            self._progress.clear()
            self._err.write(f"fathom: {safe(text)}\n")

    def notes(self, texts: Iterable[str]) -> None:
        """Say several things."""
        for text in texts:
            self.note(text)

    def ask(self, question: str) -> None:
        """Put a question before the reader, quiet or not."""
        self._progress.clear()
        self._err.write(question)
        self._err.flush()

    def settings(self) -> Settings:
        """The settings of the project that the command is about."""
        return load_settings(
            find_root(self._folder()),
            overrides=self.common.overrides,
            environ=self._environ,
            user_file=user_file(self._environ),
        )

    def open(self) -> Engine:
        """Open the project that the command is about; a run of the indexer shows its progress."""
        show = None if self.common.quiet else self._progress
        self._refuse_home()
        return Engine.open(self._folder(), settings=self.settings(), on_progress=show, on_wait=self.note)

    def note_indexing(self) -> None:
        """Say once that this command had to index first."""
        self.note(self._progress.summary())
        self._progress.forget()

    def _refuse_home(self) -> None:
        """A question asked in the wrong folder must not index everything a person has."""
        root = find_root(self._folder())
        if not self.common.source_dir and root in {os.path.realpath(os.path.expanduser("~")), os.path.abspath(os.sep)}:
            raise UsageError(f"{root} is no project", hint=f"go to a project, or mean it: --source-dir {root}")

    def _folder(self) -> str:
        folder = self.common.source_dir or "."
        if not os.path.isdir(folder):
            raise UsageError(f"no such folder: {folder!r}", hint="give the folder of a project with --source-dir")
        return folder
