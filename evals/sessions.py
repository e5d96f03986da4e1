"""Sessions of `fathom mcp` as hosts start them: the time until the list of tools, and the memory of many of them.

python -m evals.sessions PROJECT [SESSIONS]: needs Linux; the project is indexed first.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

QUESTIONS = (
    "where are settings read",
    "how are errors shown to the user",
    "parse the arguments",
    "write to the database",
)
FATHOM = (sys.executable, "-c", "from codefathom.cli import main; main()", "mcp")
BARE = (sys.executable, "-c", "pass")
_ROUNDS = 21
_PROC = Path("/proc")


class Session:
    """A running session."""

    def __init__(self, project: str, *words: str) -> None:
        streams: Mapping[str, Any] = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        self.process = subprocess.Popen([*FATHOM, *words], cwd=project, **streams)

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Return the result of a request."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        result: dict[str, Any] = json.loads(stdout.readline())["result"]
        return result

    def kilobytes(self) -> tuple[int, int]:
        """Return USS, what this process alone holds, and PSS, with its share of what several hold."""
        lines = (_PROC / str(self.process.pid) / "smaps_rollup").read_text().splitlines()[1:]
        sizes = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
        return sizes["Private_Clean"] + sizes["Private_Dirty"], sizes["Pss"]

    def close(self) -> None:
        """End the session."""
        self.process.communicate()


def listing_ratios(project: str, *words: str) -> list[float]:
    """Return how many bare starts of the interpreter it takes until the list of tools is there, in turns."""
    ratios = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        subprocess.run(BARE, check=True)
        bare_s = time.perf_counter() - began
        began = time.perf_counter()
        session = Session(project, *words)
        session.ask("initialize")
        session.ask("tools/list")
        ratios.append((time.perf_counter() - began) / bare_s)
        session.close()
    return ratios


def many(project: str, n_sessions: int) -> list[tuple[int, int]]:
    """Return the memory of each of many sessions that have all answered some questions."""
    sessions = [Session(project) for _ in range(n_sessions)]
    try:
        for session in sessions:
            for question in QUESTIONS:
                result = session.ask("tools/call", name="search", arguments={"query": question})
                assert "indexing" not in result["structuredContent"]
        return [session.kilobytes() for session in sessions]
    finally:
        for session in sessions:
            session.close()


def main(words: Sequence[str]) -> None:
    """Print a table."""
    project, n_sessions = words[0], int(words[1]) if words[1:] else 20
    subprocess.run([*FATHOM[:-1], "index", "-q"], cwd=project, check=True)
    print("until tools/list, in bare starts of the interpreter (median, lowest, highest):")
    for name, options in (("fathom mcp", ()), ("fathom mcp -C DIR", ("-C", project))):
        ratios = listing_ratios(project, *options)
        print(f"  {name}: {median(ratios):.2f} {min(ratios):.2f} {max(ratios):.2f}")
    sizes = many(project, n_sessions)
    for name, column in (("USS", 0), ("PSS", 1)):
        values = [size[column] / 1024 for size in sizes]
        print(f"{n_sessions} sessions, {name} in MB: median {median(values):.1f}, highest {max(values):.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
