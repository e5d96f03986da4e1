"""The command `fathom`. Data goes to stdout, everything else to stderr; exit codes are those of grep."""

import os
import sys
from collections.abc import Sequence

from codefathom.errors import FathomError

_ERROR = 2
_INTERRUPTED = 130
_BROKEN_PIPE = 141  # what a shell reports for grep when the reader is gone


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 found, 1 nothing found, 2 error, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        complain("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more at exit, which would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except FathomError as error:
        _trace([])
        complain(str(error), error.hint)
        return _ERROR
    except Exception as error:  # the last resort: nobody should have to read a traceback
        _trace(words)
        complain(f"unexpected {type(error).__name__}: {error}", "run again with FATHOM_DEBUG=1 to see where")
        return _ERROR
    return code


def _run(words: Sequence[str]) -> int:
    from codefathom.cli.arguments import parse

    parsed = parse(words)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not when a program has put its own stream there
            stream.reconfigure(errors="backslashreplace")
    if parsed.wants_help:
        from codefathom.cli.help import WIDTH, command_help, overview
        from codefathom.cli.terminal import columns

        width = min(WIDTH, columns(sys.stdout)) if sys.stdout.isatty() else WIDTH
        sys.stdout.write(command_help(parsed.command, width) if parsed.command else overview(width))
        return 0
    from codefathom.cli.commands import RUN
    from codefathom.cli.face import Face

    return RUN[parsed.command](parsed.options, Face(parsed.options.common, sys.stdout, sys.stderr, os.environ))


def _trace(words: Sequence[str]) -> None:
    if os.environ.get("FATHOM_DEBUG") or {"-v", "--verbose"} & set(words):
        from traceback import print_exc

        print_exc()


def complain(message: str, hint: str = "") -> None:
    """Say on stderr what went wrong and what to do about it."""
    from codefathom.cli.render import safe

    sys.stderr.write(safe(f"fathom: {message}\n" + (f"  hint: {hint}\n" if hint else "")))
