"""`fathom mcp`: tools for a coding agent, on stdin and stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from codefathom.cli.display.output import Output
from codefathom.mcp.stdio_loop import StdioLoop

if TYPE_CHECKING:
    from codefathom.cli.options import Common
    from codefathom.mcp.tool_calls import ToolCalls

_LONGEST_LINE = 1_000_000  # bytes


def run(common: Common | None = None) -> int:
    """Answer requests until stdin ends. The engine is imported by the first call of a tool.

    Without options, their usual values are made then, too: to import all options takes longer than the first answers.
    """
    out = Output(sys.stdout, os.environ)

    def write(text: str) -> None:
        out.write(text)
        out.flush()

    tools = _LaterTools(common)
    StdioLoop(tools.call, write).run(_lines())
    tools.close()
    return 0


class _LaterTools:
    """The tools, imported by their first call."""

    def __init__(self, common: Common | None) -> None:
        self._common = common
        self._lock = Lock()
        self._calls: ToolCalls | None = None

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            if self._calls is None:
                self._calls = self._imported()
            calls = self._calls
        return calls.call(name, arguments)

    def close(self) -> None:
        if self._calls is not None:
            self._calls.close()

    def _imported(self) -> ToolCalls:
        from codefathom.cli.arguments import parse
        from codefathom.cli.face import Face
        from codefathom.mcp.tool_calls import ToolCalls

        common = self._common or parse(["mcp"]).options.common
        return ToolCalls(Face(common, sys.stdout, sys.stderr, os.environ).open)


def _lines() -> Iterator[bytes]:
    """Yield the lines of stdin; of one that is too long a piece that is no JSON, so that it is refused."""
    while line := sys.stdin.buffer.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = sys.stdin.buffer.readline(_LONGEST_LINE)
        yield b"too long"
