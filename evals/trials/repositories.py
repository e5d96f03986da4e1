"""Hostile repositories: every form of `hostile_trees`, through every command that reads.

    python -m evals.trials.repositories [WORD ...]   only the forms whose names contain one of these words

After each command nothing of the repository has run, nothing was written outside the index and the user's own folders,
no address was asked, no control character came out, what was shown stands in the files, and the command has ended with
a plain word. Prints a line a form; exit status 1 when a promise was broken.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evals.trials.hostile_trees import FORMS, Form, chosen, plant_innocent, plant_victim

LIMIT_S = 900
QUESTION = "compute the total of orders"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("index",),
    ("search", "--json", QUESTION),
    ("search", QUESTION),
    ("search", "--mode", "regex", "compute_total"),
    ("symbols", "compute"),
    ("related", "@@compute_total"),
    ("context", "--max-files", "3", QUESTION),
    ("context", "--format", "xml", "--max-files", "3", QUESTION),
    ("ask", QUESTION),
    ("status", "--skipped"),
    ("doctor",),
    ("config", "show"),
    ("export", "--as", "jsonl"),
    ("index", "--full"),
)
SHORT = (COMMANDS[0], COMMANDS[1], COMMANDS[2], COMMANDS[6], COMMANDS[9])
_WATCHED = "import sys; sys.path.append(sys.argv.pop(1)); from evals.trials.watched import main; main()"
_CUT = re.compile(r"… \([\d,]+ more characters\)$")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Broken(NamedTuple):
    """A promise that a form has broken."""

    command: str
    what: str


def trial(
    plant: Form,
    folder: Path,
    commands: tuple[tuple[str, ...], ...] = COMMANDS,
    start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen,
) -> list[Broken]:
    """Plant a form in an empty folder and run the commands there; return the promises that were broken.

    `start` is called as `subprocess.Popen` is.
    """
    root, victim, home = folder / "project", folder / "victim", folder / "home"
    root.mkdir()
    home.mkdir()
    plant_innocent(root)
    plant_victim(victim)
    plant(root, victim)
    mark = folder / "ran"
    may_change = {str(home), str(root / ".fathom"), str(mark)}
    before = _state(folder, may_change)
    words = [list(command) for command in commands]
    try:
        results = _run(root, home, mark, words, start)
    except subprocess.TimeoutExpired:
        return [Broken("all", f"has not ended after {LIMIT_S} s")]
    broken = [Broken(" ".join(command), what) for command, result in results for what in _judge(root, command, result)]
    if len(results) < len(commands):
        broken.append(Broken(" ".join(commands[len(results)]), "the process ended in the middle"))
    after = _state(folder, may_change)
    broken += [Broken("all", f"{place} changed") for place in _differences(before, after)]
    if mark.exists():
        broken.append(Broken("all", f"code of the project ran: {sorted(set(mark.read_text().split()))}"))
    return broken


def _run(
    root: Path, home: Path, mark: Path, commands: list[list[str]], start: Callable[..., subprocess.Popen[bytes]]
) -> list[tuple[list[str], dict[str, Any]]]:
    here = str(Path(__file__).parents[2])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "XDG_"))}
    environment |= {"HOME": str(home), "FATHOM_TRIAL_MARK": str(mark), "TERM": "dumb"}
    environment |= {"OPENAI_API_KEY": "sk-trial"}
    program = [sys.executable, "-P", "-c", _WATCHED, here, str(root), str(root / ".fathom"), str(home)]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with start(program, cwd=root, env=environment, **streams) as process:
        try:
            out, _ = process.communicate(json.dumps(commands).encode(), LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return [(command, json.loads(line)) for command, line in zip(commands, out.splitlines(), strict=False)]


def _judge(root: Path, command: list[str], result: dict[str, Any]) -> Iterator[str]:
    yield from result["noted"]
    if result["code"] not in (0, 1, 2):
        yield f"exit status {result['code']}"
    for stream in ("out", "err"):
        if found := _CONTROL.search(result[stream]):
            yield f"{found[0]!r} on std{stream}"
        if "Traceback" in result[stream] or "unexpected " in result[stream]:
            yield f"an unexpected error: {result[stream].strip()[-200:]}"
    if command[:2] == ["search", "--json"] and result["code"] == 0:
        for hit in json.loads(result["out"])["hits"]:
            if what := _is_false(root, hit):
                yield what


def _is_shown(shown: str, line: str) -> bool:
    """Say whether a line is shown as it stands there, or its beginning with a mark."""
    beginning = _CUT.sub("", shown)
    return shown == line or (beginning != shown and line.startswith(beginning))


def _is_false(root: Path, hit: dict[str, Any]) -> str:
    """Say what a hit shows that does not stand in its file."""
    path, first, last = hit["path"], hit["start_line"], hit["end_line"]
    file = root / path
    if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
        return f"a hit in {path!r}, which is no file of the project"
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    shown = str(hit["content"]).rstrip("\n").split("\n")
    real = lines[hit["content_line"] - 1 : last]
    if first == last and real:  # it may be a part of a long line
        real[0] = real[0][hit["content_column"] - 1 :]
        shown[0] = real[0] if real[0].startswith(shown[0]) else shown[0]
    is_true = len(shown) <= len(real) and all(map(_is_shown, shown, real))
    if file.suffix == ".py" and "\ufffd" not in "".join(real) and not is_true:
        return f"lines of {path!r} that do not stand there"
    return ""


def _state(top: Path, without: set[str]) -> dict[str, object]:
    """Return what lies below a folder: kinds, rights, sizes, time stamps and numbers of names, by path."""
    found: dict[str, object] = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in without]
        if len(folder) > 3_500:
            folders.clear()  # no path leads there
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            if path in without or (name == "project" and folder == str(top)):  # its time is that of `.fathom`
                continue
            status = os.lstat(path)
            found[path] = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_nlink)
    return found


def _differences(before: dict[str, object], after: dict[str, object]) -> list[str]:
    return [
        path
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path) and not _is_mere_unlinking(before.get(path), after.get(path))
    ]


def _is_mere_unlinking(old: object, new: object) -> bool:
    """Whether only a second name inside the index folder went away."""
    return isinstance(old, tuple) and isinstance(new, tuple) and old[:3] == new[:3]


def remove(folder: Path) -> None:
    """Remove a folder, whatever lies in it: Python's own way gives up at a thousand levels."""
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False, stderr=subprocess.DEVNULL)
    subprocess.run(["rm", "-rf", str(folder)], check=False)


def main() -> int:
    """Run the trials."""
    forms = chosen(FORMS, sys.argv[1:])
    n_broken = 0
    for name, plant in forms.items():
        folder = Path(tempfile.mkdtemp(prefix="fathom-trial-"))
        began = time.monotonic()
        try:
            broken = trial(plant, folder)
        finally:
            remove(folder)
        n_broken += bool(broken)
        print(f"{'BROKEN' if broken else 'kept  '}  {name}  ({time.monotonic() - began:.0f} s)", flush=True)
        for item in broken[:8]:
            print(f"          {item.command}: {item.what[:300]!r}", flush=True)
    print(
        f"{len(forms)} forms × {len(COMMANDS)} commands: {len(forms) - n_broken} kept every promise, {n_broken} did not"
    )
    return 1 if n_broken else 0


if __name__ == "__main__":
    sys.exit(main())
