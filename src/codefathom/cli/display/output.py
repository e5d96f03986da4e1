"""The only output of the program: all its text goes through here, so that no text can control the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from codefathom.cli.display.terminal import columns, is_colourful, is_terminal
from codefathom.errors import SourceError
from codefathom.text.printable import show_line, show_text

TYPE_CHECKING = False  # see `cli`: nothing is imported here that a first answer can do without
if TYPE_CHECKING:
    from typing import TextIO

_STRONG, _FAINT, _ALARM, _END = "\x1b[1;36m", "\x1b[2m", "\x1b[1;31m", "\x1b[0m"
_OURS = r"(\x1b\[(?:1;36|2|1;31|0)m)"  # not compiled here: a host of `fathom mcp` would wait for it
_CLEAR_LINE = "\r\x1b[K"


class Style:
    """Marks text for a terminal, or leaves it alone."""

    __slots__ = ("colour",)

    def __init__(self, colour: bool = False) -> None:
        self.colour = colour

    def strong(self, text: str) -> str:
        """Mark the subject of a result."""
        return f"{_STRONG}{text}{_END}" if self.colour else text

    def faint(self, text: str) -> str:
        """Mark an explanation."""
        return f"{_FAINT}{text}{_END}" if self.colour else text

    def alarm(self, text: str) -> str:
        """Mark an error."""
        return f"{_ALARM}{text}{_END}" if self.colour else text


class Output:
    """One stream. What is written there has its own colours at most, whatever it was made of."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str], *, is_needed: bool = True) -> None:
        """Take a stream. Where its text is not needed, as that of notes is not, it may fail to be written."""
        self._is_needed = is_needed
        self.is_terminal = is_terminal(stream, environ)
        self.style = Style(is_colourful(stream, environ))
        self._stream = stream
        self._has_passing = False

    def write(self, text: str, *, keeps_ends: bool = False) -> None:
        """Write lines of text, after taking away a line that was only for the moment. Raises SourceError.

        Carriage returns before line ends are kept on demand, but never on a terminal.
        """
        self.clear()
        if keeps_ends and not self.is_terminal:
            self._send("\r\n".join(map(self._shown, text.split("\r\n"))))
        else:
            self._send(self._shown(text))

    def flush(self) -> None:
        """Let a reader see now what was written."""
        self._send("", flush=True)

    def pass_by(self, line: str) -> None:
        """Show a line in the place of the last such line, on a terminal only, where it can be taken away again."""
        # A line that wraps could not be.
        self._send(_CLEAR_LINE + show_line(line)[: columns(self._stream) - 1], flush=True)
        self._has_passing = True

    def clear(self) -> None:
        """Take away the line that was only for the moment."""
        if self._has_passing:
            self._has_passing = False
            self._send(_CLEAR_LINE, flush=True)

    def _shown(self, text: str) -> str:
        if not self.style.colour or "\x1b" not in text:
            return show_text(text)
        return "".join(part if n % 2 else show_text(part) for n, part in enumerate(re.split(_OURS, text)))

    def _send(self, text: str, *, flush: bool = False) -> None:
        try:
            self._stream.write(text)
            if flush:
                self._stream.flush()
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a program has closed it
            if not self._is_needed:
                return
            reason = error.strerror if isinstance(error, OSError) else error
            raise SourceError(
                f"cannot write the output: {reason}", hint="free some space on the disk, or write to another place"
            ) from error


_MOST_CHARS = 2_000  # of a message: what somebody has written, or a server has said, may be any length


def shown_message(text: str) -> str:
    """Return a message in one line that a reader can take in."""
    line = show_line(text)
    return line if len(line) <= _MOST_CHARS else f"{line[: _MOST_CHARS // 2]} … {line[-_MOST_CHARS // 2 :]}"


def complain(message: str, hint: str = "", below: str = "") -> None:
    """Write an error and its hint to stderr, in one line each, after the lines of `below`."""
    lines = [f"fathom: {shown_message(message)}", *([f"  hint: {shown_message(hint)}"] if hint else [])]
    try:
        sys.stderr.write(show_text(below) + "".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
    except (OSError, ValueError):  # closed, or nobody reads: there is no other place to say it
        return
