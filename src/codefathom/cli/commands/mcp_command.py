"""`fathom mcp`: tools for coding agents, on stdin and stdout.

A host waits for the list of tools, so nothing is imported before it that it does not need: the words of the command
line are read by the first call, unless there may be something wrong with them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from threading import Lock

from codefathom.cli.display.output import Output
from codefathom.config.user_places import user_file
from codefathom.mcp.shared_session import LONGEST_LINE
from codefathom.mcp.stdio_loop import StdioLoop
from codefathom.mcp.tool_list import tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from codefathom.askers.project_list import NamedProject
    from codefathom.cli.face import Face
    from codefathom.cli.options import McpOptions
    from codefathom.mcp.call_control import CallControl
    from codefathom.mcp.followed_projects import FollowedProjects
    from codefathom.mcp.session_projects import SessionProjects
    from codefathom.mcp.tool_list import ToolSpec

# Begin the names of the variables that change the list of tools: a language model, and the form of answers.
_VARIABLES = ("FATHOM_LLM", "FATHOM_MCP")
_WORDS = (b"llm", b"structured")  # one stands in each settings file that does


def run(options: McpOptions) -> int:
    """Answer requests until stdin ends."""
    return answer(AgentSession(lambda: options, may_set=True), stdin_lines())


def answer(session: AgentSession, lines: Iterable[bytes]) -> int:
    """Answer requests. The engine is imported by the first call of a tool."""
    out = Output(sys.stdout, os.environ)

    def write(text: str) -> None:
        out.write(text)
        out.flush()

    StdioLoop(session.call, lambda: session.tools, write).run(lines)
    session.close()
    return 0


class AgentSession:
    """The tools of a session, imported by their first call."""

    def __init__(
        self,
        options: Callable[[], McpOptions],
        *,
        may_set: bool = False,
        folder: str = "",
        err: TextIO | None = None,
        followed: FollowedProjects | None = None,
    ) -> None:
        """Another process than that of its host may hold a session: then it has a folder, and projects with others."""
        self._read_options = options
        self._folder = folder
        self._err = err
        self._followed = followed
        self._may_set = may_set  # the options can
        self._lock = Lock()
        self._projects: SessionProjects | None = None

    def call(self, name: str, arguments: Mapping[str, Any], control: CallControl) -> Mapping[str, Any]:
        """Return the result of a tool."""
        from codefathom.mcp.tool_calls import ToolCalls

        with self._lock:
            if self._projects is None:
                self._projects = self._imported()
            projects = self._projects
        return ToolCalls(projects).call(name, arguments, control=control)

    def close(self) -> None:
        """End what is done behind the session."""
        if self._projects is not None:
            self._projects.close()

    @cached_property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools that are offered; settings are read only where they may change the list."""
        if not self._may_be_set():
            return tools(has_model=False)
        from codefathom.errors import FathomError

        try:
            settings = self._face.settings()
        except FathomError:  # told by the first call
            return tools(has_model=False)
        return tools(has_model=bool(settings.llm.of("answer")), is_structured=settings.mcp.structured == "always")

    def _may_be_set(self) -> bool:
        if self._may_set or any(name.startswith(_VARIABLES) for name in os.environ):
            return True
        try:
            with open(user_file(os.environ), "rb") as file:
                content = file.read()
        except OSError:
            return False
        return any(word in content for word in _WORDS)

    @cached_property
    def _options(self) -> McpOptions:
        return self._read_options()

    @cached_property
    def _face(self) -> Face:
        from codefathom.cli.face import Face

        return Face(self._options.common, sys.stdout, self._err or sys.stderr, os.environ, folder=self._folder)

    def _imported(self) -> SessionProjects:
        from codefathom.engine import Engine
        from codefathom.mcp.session_projects import SessionProjects, SessionStart
        from codefathom.system.real_paths import refuse_moved

        face, options = self._face, self._options

        def open_project(project: NamedProject) -> Engine:
            refuse_moved(project.root)
            return Engine.open(project.root, settings=face.settings_of(project.root), revision=project.revision)

        return SessionProjects(SessionStart(face.open, open_project, options.project, options.all, self._followed))


def stdin_lines() -> Iterator[bytes]:
    """Yield the lines of stdin; of one that is too long a piece that is no JSON, so that it is refused."""
    while line := sys.stdin.buffer.readline(LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = sys.stdin.buffer.readline(LONGEST_LINE)
        yield b"too long"
