"""An editor that asks `fathom lsp` over stdin and stdout, and how long it waits for the answers.

    python -m evals.editor TREE [--page docs/editors.md]

The first index of TREE is made before. Of its files some are drawn by chance that define a function, and each request
is sent for the first function of each. The times of the server are those of its processor, to compare them on a machine
with other work: the first request of its kind, then the median and the largest of all further ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from codefathom import Engine
from evals.report import machine, table, write_section

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


_N_FILES = 20
_MOST_DRAWN = 400
_FUNCTIONS = (6, 12)  # kinds of symbols: a method, a function


class Wait(NamedTuple):
    """How long a request took: by the clock, and of the server's processor."""

    seconds: float
    processor_s: float
    n_results: int


def main(words: Sequence[str] | None = None) -> int:
    """Measure the waits in one tree, and print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--files", type=int, default=_N_FILES, help="files whose first function is asked about")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args(words)
    with Engine.open(str(options.tree)) as engine:
        engine.index()
        paths = [file.path for file in engine.files.listed()]
    editor = Editor(options.tree)
    waits: dict[str, list[Wait]] = defaultdict(list)
    for at, name in _functions(editor, paths, options.files):
        for request, ask in _requests(editor, at, name).items():
            waits[request].append(_timed(editor, ask))
            print(at.path, request, waits[request][-1], file=sys.stderr)
    editor.close()
    heads = ("request", "n", "first: clock", "processor", "median: clock", "processor", "largest: clock", "processor")
    rows = [(request, str(len(of)), *_figures(of)) for request, of in waits.items()]
    text = PAGE.format(n_files=len(paths), machine=machine(), table=table(heads, rows))
    print(text)
    if options.page:
        write_section(options.page, "python -m evals.editor", text)
    return 0


def _functions(editor: Editor, paths: Sequence[str], most: int) -> Iterator[tuple[At, str]]:
    """Yield where the first function of some files stands, and its name."""
    chance, n_found = random.Random(7), 0
    for path in chance.sample(sorted(paths), min(_MOST_DRAWN, len(paths))):
        if n_found == most:
            return
        symbols = editor.ask("textDocument/documentSymbol", textDocument=editor.document(path)) or ()
        for symbol in symbols:
            if symbol["kind"] in _FUNCTIONS:
                start = symbol["selectionRange"]["start"]
                n_found += 1
                yield At(path, start["line"] + 1, start["character"]), symbol["name"]
                break


def _requests(editor: Editor, at: At, name: str) -> Mapping[str, Callable[[], Any]]:
    def incoming() -> Any:
        items = editor.at("prepareCallHierarchy", at) or ()
        return [call for item in items[:1] for call in editor.ask("callHierarchy/incomingCalls", item=item) or ()]

    def lenses() -> Any:
        bare = editor.ask("textDocument/codeLens", textDocument=editor.document(at.path)) or ()
        return [editor.ask("codeLens/resolve", **lens) for lens in bare]

    return {
        "hover": lambda: editor.at("hover", at),
        "definition": lambda: editor.at("definition", at),
        "references": lambda: editor.at("references", at, context={"includeDeclaration": False}),
        "callers (call hierarchy)": incoming,
        "all lenses of a file, with their words": lenses,
        "symbols by a name": lambda: editor.ask("workspace/symbol", query=name),
        "symbols by words": lambda: editor.ask("workspace/symbol", query=f"where is {name.replace('_', ' ')} done"),
    }


def _timed(editor: Editor, ask: Callable[[], Any]) -> Wait:
    began, processor = time.perf_counter(), _processor_s(editor.process.pid)
    result = ask()
    seconds = time.perf_counter() - began
    return Wait(seconds, _processor_s(editor.process.pid) - processor, len(result or ()))


def _processor_s(pid: int) -> float:
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _figures(waits: Sequence[Wait]) -> Iterator[str]:
    later = waits[1:] or waits
    for clock, processor in (
        (waits[0].seconds, waits[0].processor_s),
        (statistics.median(wait.seconds for wait in later), statistics.median(wait.processor_s for wait in later)),
        (max(wait.seconds for wait in later), max(wait.processor_s for wait in later)),
    ):
        yield from (f"{1_000 * clock:,.0f}", f"{1_000 * processor:,.0f}")


PAGE = """\
## How long an editor waits

    python -m evals.editor TREE [--files 20] --page docs/editors.md

A tree of {n_files:,} files, on {machine}. Milliseconds; the processor's are those of the server, in steps of ten. Each
request is sent for the first function of files drawn by chance.

{table}
"""


if __name__ == "__main__":
    raise SystemExit(main())
