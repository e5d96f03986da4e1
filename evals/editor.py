"""An editor that asks `fathom lsp` over stdin and stdout, for measurements."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

_FATHOM = (sys.executable, "-c", "from codefathom.cli import main; main()", "lsp")


class At(NamedTuple):
    """Where a name stands in a project: the line from 1, the column from 0 in units of UTF-16."""

    path: str
    line: int
    column: int


class Editor:
    """One project in an editor. Nothing is open in it: each file is as it was saved."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))
        self.process = subprocess.Popen(_FATHOM, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._n = 0
        root = self._folder.as_uri()
        folders = [{"uri": root, "name": folder.name}]
        self.ask("initialize", processId=None, rootUri=root, capabilities={}, workspaceFolders=folders)
        self._send({"method": "initialized", "params": {}})

    def ask(self, method: str, **params: object) -> Any:
        """Return the result of a request. Raises ValueError for an error, and EOFError where the server has ended."""
        self._n += 1
        self._send({"id": self._n, "method": method, "params": params})
        while True:
            message = self._message()
            if message.get("id") == self._n and "method" not in message:
                if "error" in message:
                    raise ValueError(f"{method}: {message['error']}")
                return message.get("result")

    def at(self, what: str, place: At, **params: object) -> Any:
        """Return the answer about the name at a place."""
        position = {"line": place.line - 1, "character": place.column}
        return self.ask(f"textDocument/{what}", textDocument=self.document(place.path), position=position, **params)

    def document(self, path: str) -> Mapping[str, str]:
        """Return a file of the project as a request names it."""
        return {"uri": (self._folder / path).as_uri()}

    def places(self, locations: Any) -> list[At]:
        """Return the places of an answer."""
        prefix = self._folder.as_uri() + "/"
        starts = [(unquote(item["uri"].removeprefix(prefix)), item["range"]["start"]) for item in locations or ()]
        return [At(path, start["line"] + 1, start["character"]) for path, start in starts]

    def close(self) -> None:
        """End the server as an editor does."""
        self.ask("shutdown")
        self._send({"method": "exit"})
        self.process.communicate()

    def _send(self, message: Mapping[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = _open(self.process.stdin)
        stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        stream.flush()

    def _message(self) -> Any:
        stream, length = _open(self.process.stdout), 0
        while (line := stream.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise EOFError("fathom lsp has ended")
        return json.loads(stream.read(length))


def _open(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the server has no such stream")
    return stream
