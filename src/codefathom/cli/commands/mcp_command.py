"""`fathom mcp`: tools for a coding agent, on stdin and stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from codefathom.cli.face import Face
from codefathom.cli.options import PlainOptions
from codefathom.mcp.stdio_loop import StdioLoop
from codefathom.mcp.tool_calls import ToolCalls

_LONGEST_LINE = 1_000_000  # bytes


def run(_: PlainOptions, face: Face) -> int:
    """Answer requests until stdin ends."""

    def write(text: str) -> None:
        face.write(text)
        face.flush()

    calls = ToolCalls(face.open)
    StdioLoop(calls.call, write).run(_lines())
    calls.close()
    return 0


def _lines() -> Iterator[bytes]:
    """Yield the lines of stdin; of one that is too long a piece that is no JSON, so that it is refused."""
    while line := sys.stdin.buffer.readline(_LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < _LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = sys.stdin.buffer.readline(_LONGEST_LINE)
        yield b"too long"
