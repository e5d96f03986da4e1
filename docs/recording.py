"""Makes docs/recording.svg: commands that are really run, in a terminal, in a copy of tests/repos/shop.

    python -m docs.recording

The lines appear one after the other where the reader has nothing against movement, in the reader's light or dark theme.
Times and scores are those of this run; all else is the same each time.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).parent.parent
FILE = Path(__file__).parent / "recording.svg"
COLUMNS, ROWS = 116, 60
# What is typed, and how many lines of the answer are shown.
COMMANDS = (
    ("fathom search -n 1 'where is a failed payment tried again'", 10),
    ("fathom related @@discount", 4),
    ("fathom search 'how are images resized'", 2),
    ("fathom map --max-tokens 70 --dir shop", 6),
)
_SHOWN_AFTER_S, _BETWEEN_COMMANDS_S, _BETWEEN_LINES_S = 0.7, 1.6, 0.05
_LINE, _CHAR, _MARGIN, _HEAD = 19, 8.4, 18, 34  # pixels
_SGR = re.compile(r"\x1b\[([\d;]*)m")
_KINDS = {"1;36": "strong", "2": "faint", "1;31": "alarm", "0": "", "": ""}
_STYLE = """\
  .back { fill: #ffffff; stroke: #d0d7de } .dot { fill: #d0d7de }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328;
         white-space: pre }
  .prompt { fill: #1a7f37 } .typed { font-weight: bold } .strong { fill: #0a6681; font-weight: bold }
  .faint { fill: #57606a } .alarm { fill: #b3261e }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #30363d } .dot { fill: #30363d } text { fill: #e6edf3 }
    .prompt { fill: #56d364 } .strong { fill: #6cc5e0 } .faint { fill: #9aa4af } .alarm { fill: #ff9b93 }
  }
  @media (prefers-reduced-motion: no-preference) {
    @keyframes appear { from { opacity: 0 } to { opacity: 1 } }
    .line { animation: appear 1ms linear both }
  }
"""


class Span(NamedTuple):
    """Characters of one kind."""

    text: str
    kind: str = ""


Line = Sequence[Span]


class Timed(NamedTuple):
    """A line, and when it appears."""

    line: Line
    seconds: float


def main() -> int:
    """Write the picture."""
    with TemporaryDirectory() as folder:
        project = shop(Path(folder))
        FILE.write_text(picture(list(session(project))), encoding="utf-8")
    return 0


def shop(folder: Path) -> Path:
    """Return a copy of the shop without an index, beside an empty home folder."""
    project = folder / "shop"
    shutil.copytree(ROOT / "tests" / "repos" / "shop", project, ignore=shutil.ignore_patterns(".fathom"))
    (project / ".git").mkdir(exist_ok=True)
    return project


def session(project: Path) -> Iterator[Timed]:
    """Run the commands, and yield the lines of the terminal."""
    seconds = 0.3
    for command, most in COMMANDS:
        yield Timed([Span("$ ", "prompt"), Span(command, "typed")], seconds)
        seconds += _SHOWN_AFTER_S
        lines = terminal_lines(run(command, project))
        for line in lines[:most]:
            yield Timed(line, seconds)
            seconds += _BETWEEN_LINES_S
        if len(lines) > most:
            yield Timed([Span("…", "faint")], seconds)
        yield Timed([], seconds)
        seconds += _BETWEEN_COMMANDS_S


def run(command: str, project: Path) -> str:
    """Return what a command writes to a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    home = project.parent
    environ = {"HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8", "FATHOM_CACHE_DIR": str(home / "cache")}
    environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=project, env=environ, stdin=slave, stdout=slave, stderr=slave, close_fds=True
    )
    os.close(slave)
    output = b""
    try:
        while chunk := os.read(master, 65_536):
            output += chunk
    except OSError:  # Linux says so when the command has ended
        pass
    os.close(master)
    process.wait()
    return output.decode()


def terminal_lines(output: str) -> list[Line]:
    """Return the lines that are left on the terminal; long ones wrap, as there."""
    lines: list[Line] = []
    for raw in output.replace("\r\n", "\n").rstrip("\n").split("\n"):
        text = re.split(r"\r(?:\x1b\[K)?", raw)[-1]  # what was shown for a moment is gone
        lines += _wrapped(list(_spans(text.expandtabs(4))))
    return lines


def _spans(text: str) -> Iterator[Span]:
    parts = _SGR.split(text)
    kind = ""
    for number, part in enumerate(parts):
        if number % 2:
            kind = _KINDS[part]
        elif part:
            yield Span(part, kind)


def _wrapped(spans: Sequence[Span]) -> Iterator[Line]:
    line: list[Span] = []
    n_chars = 0
    for char, kind in ((char, span.kind) for span in spans for char in span.text):
        if n_chars == COLUMNS:
            yield line
            line, n_chars = [], 0
        if line and line[-1].kind == kind:
            line[-1] = Span(line[-1].text + char, kind)
        else:
            line.append(Span(char, kind))
        n_chars += 1
    yield line


def picture(lines: Sequence[Timed]) -> str:
    """Return the SVG."""
    while lines and not lines[-1].line:
        lines = lines[:-1]
    width, height = round(COLUMNS * _CHAR + 2 * _MARGIN), _HEAD + len(lines) * _LINE + _MARGIN
    shown = (_shown(timed, number) for number, timed in enumerate(lines) if timed.line)
    dots = (f'<circle class="dot" cx="{_MARGIN + 4 + 18 * n}" cy="18" r="5"/>' for n in range(3))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            "<title>A terminal with fathom: a search, connections, a question without an answer, and a map</title>",
            f"<style>\n{_STYLE}</style>",
            f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *dots,
            *shown,
            "</svg>",
            "",
        ]
    )


def _shown(timed: Timed, number: int) -> str:
    place = f'x="{_MARGIN}" y="{_HEAD + number * _LINE + 14}"'
    spans = "".join(map(_tspan, timed.line))
    return f'<text class="line" {place} style="animation-delay: {timed.seconds:.2f}s">{spans}</text>'


def _tspan(span: Span) -> str:
    kind = f' class="{span.kind}"' if span.kind else ""
    return f"<tspan{kind}>{escape(span.text)}</tspan>"


if __name__ == "__main__":
    sys.exit(main())
