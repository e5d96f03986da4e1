"""`fathom lsp`: answers for an editor on stdin and stdout, until it leaves."""

from __future__ import annotations

import os
import sys

from codefathom.cli.face import Face
from codefathom.cli.options import PlainOptions
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.system.extras import install_line


def run(options: PlainOptions, _: Face) -> int:
    """Serve the project of the editor's workspace; a folder of the command line is meant before that one."""
    try:
        from codefathom.lsp.language_server import serve
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the language server needs the package {error.name!r}", hint=f"install it: {install_line('lsp')}"
        ) from error

    def open_project(folder: str) -> Engine:
        common = options.common._replace(quiet=True, source_dir=options.common.source_dir or folder)
        return Face(common, sys.stdout, sys.stderr, os.environ).open()

    serve(open_project, sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    return 0
