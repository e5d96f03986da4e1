"""The command `fathom`. Data goes to stdout, everything else to stderr; exit codes are those of grep."""

import gc
import os
import sys
from collections.abc import Sequence

from codefathom.system.interruption import INTERRUPTED, INTERRUPTION
from codefathom.system.isolation import leave_relative_places_out, leave_working_directory_out

TYPE_CHECKING = False  # the library typing takes a fifth of the time until the first answer of `fathom mcp`
if TYPE_CHECKING:
    from typing import TextIO

_ERROR = 2
# Python looks for circles of objects after 700 new ones. In a process that answers and ends it finds none worth that:
# in 58,000 files it took an eighth of a search. Other commands live long, or hold much.
_LIVE_LONG = frozenset(("ask", "chat", "index", "lsp", "mcp", "serve"))
_MANY_OBJECTS = 200_000  # at most some 40 MB
_SOME_OBJECTS = 10_000  # an index run makes very many objects, and hardly a circle, but may go on for hours
_BROKEN_PIPE = 141  # what a shell reports for grep when the reader is gone


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 found, 1 nothing found, 2 error, 130 interrupted."""
    INTERRUPTION.begin()
    try:
        if argv is None:
            if _LIVE_LONG.isdisjoint(sys.argv) or _is_of_few(sys.argv[1:]):
                gc.set_threshold(_MANY_OBJECTS)
            elif "index" in sys.argv:
                gc.set_threshold(_SOME_OBJECTS)
            leave_working_directory_out()
            leave_relative_places_out()
        return _code(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        from codefathom.cli.display.output import complain

        INTERRUPTION.tell(complain)
        return INTERRUPTED
    finally:
        if argv is not None:  # else the process ends, which a second Ctrl-C must not make noisy
            INTERRUPTION.end()
        else:
            gc.freeze()  # else Python looks for circles in all of it at its end


def _is_of_few(words: Sequence[str]) -> bool:
    """Return True for `fathom fleet index NAME REPOSITORY`, which reads few files."""
    named = [word for word in words if not word.startswith("-")]
    return named[:2] == ["fleet", "index"] and len(named) > 3


def _code(words: list[str]) -> int:
    """Return the exit code of a command. Raises KeyboardInterrupt where it was interrupted, wherever that struck."""
    if words == ["hook"]:  # an agent waits for it after each of its commands
        from codefathom.cli.commands.hook_command import run

        return run()
    _open_streams()
    try:
        code = _run(words)
        _flush()
    except BrokenPipeError:
        code = _BROKEN_PIPE
        _settle()
    except Exception as error:
        _raise_interrupted()
        _complain(error, words)
        _settle()
        return _ERROR
    _raise_interrupted()
    return code


def _flush() -> None:
    """Write what is left of stdout. Raises SourceError."""
    from codefathom.cli.display.output import Output

    Output(sys.stdout, {}).flush()


def _complain(error: Exception, words: Sequence[str]) -> None:
    from codefathom.cli.display.output import complain
    from codefathom.errors import FathomError

    complain(*_explained(error), below=_trace([] if isinstance(error, FathomError) else words))


def _raise_interrupted() -> None:
    if INTERRUPTION.has_come():
        raise KeyboardInterrupt


def _run(words: Sequence[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not when a program has put its own stream there
            stream.reconfigure(errors="backslashreplace")
    if words[:1] == ["mcp"]:  # before the options are imported: a host waits for the list of tools
        from codefathom.cli.commands.plain_mcp import is_plain, run_plain

        if is_plain(words):
            return run_plain(words)
    from codefathom.cli.arguments import parse

    parsed = parse(words)
    if parsed.wants_help:
        from codefathom.cli.display.output import Output
        from codefathom.cli.display.terminal import columns
        from codefathom.cli.help import WIDTH, help_text

        width = min(WIDTH, columns(sys.stdout)) if sys.stdout.isatty() else WIDTH
        Output(sys.stdout, os.environ).write(help_text(parsed.command, width))
        return 0
    from codefathom.cli.commands.short_commands import RUN
    from codefathom.cli.face import Face
    from codefathom.system.stopping import stopping

    with stopping(INTERRUPTION.has_come):
        return RUN[parsed.command](parsed.options, Face(parsed.options.common, sys.stdout, sys.stderr, os.environ))


def _open_streams() -> None:
    """Open the null device in the place of a closed stream, as git does.

    Otherwise a database would get the file descriptor of stdout, and printed text would be written into it.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115  open as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _settle() -> None:
    """Drop text that cannot be written: Python flushes stdout again at its end, which would fail again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _drop_output(stream)


def _drop_output(stream: "TextIO") -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, stream.fileno())
    except (OSError, ValueError):  # a stream of a program, without a descriptor
        return
    finally:
        os.close(nothing)


def _explained(error: Exception) -> tuple[str, str]:
    """Return the message of an error, and a hint how to solve it."""
    from codefathom.errors import FathomError

    if isinstance(error, FathomError):
        return str(error), error.hint
    if isinstance(error, RecursionError):
        return "a query, a filter or a file is nested too deeply", "remove some of its brackets"
    if isinstance(error, MemoryError):
        return "there is not enough memory", "close other programs, or ask for fewer results"
    if isinstance(error, OSError):  # of the system, at a place that has no better words for it
        place = f" at {error.filename!r}" if error.filename else ""
        message = f"the operating system reported an error{place}: {error.strerror or error}"
        return message, "check that the disk is not full, and that the file or folder can be read and written"
    # The last resort: nobody should have to read a traceback.
    return f"unexpected {type(error).__name__}: {error}", "run again with FATHOM_DEBUG=1 to see the traceback"


def _trace(words: Sequence[str]) -> str:
    if not (os.environ.get("FATHOM_DEBUG") or {"-v", "--verbose"} & set(words)):
        return ""
    from traceback import format_exc

    return format_exc()
