"""Traps under each name of an index folder, each met by commands: what `tests/e2e/test_hostile_folder.py` runs.

In a process of its own, since what waits for a pipe could not be ended in that of the tests.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

from tests.removing import remove_folder
from tests.traps import TRAPS, Elsewhere, plant

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import DamagedError
from codefathom.project.browsing import IndexSummary, index_summary
from codefathom.project.location import locate, word_of
from codefathom.server.jobs.job_child import messages
from codefathom.server.jobs.job_messages import Order, Report

# Every name that we use in the folder; N is the folder that the lexical view lies in, V that of the vectors.
NAMES = (
    *("write.lock", ".gitignore", "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.db-journal"),
    *("catalog.db.damaged", "catalog.db.broken", "lexical", "lexical/state", "lexical/state.new", "lexical/N"),
    *("lexical/2", "lexical/N/meta.json", "lexical/N/.managed.json", "lexical/N/.tantivy-writer.lock"),
    *("lexical/N/.tantivy-meta.lock", "lexical/N/terms.1", "lexical/N/terms.2", "lexical/N/terms.2.new"),
    *("V", "V/vectors.bin", "V/vectors.bin.new"),
    *("V/changes.bin", "V/signs.bin", "V/signs.bin.new", "tree.stamps", "tree.stamps.new", "tree.later"),
    *("V/checked", "V/checked.new", "lexical/checked", "lexical/checked.new"),
    *(f"graph.{name}{ending}" for name in ("imports", "links", "map", "stems") for ending in ("", ".new")),
)


def index(project: Path) -> None:
    assert main(["index", "-C", str(project)]) in {0, 2}


def search(project: Path) -> None:
    assert main(["search", "-C", str(project), "feed the kangaroo"]) in {0, 1, 2}


def status(project: Path) -> None:
    assert main(["status", "-C", str(project)]) in {0, 1, 2}


def doctor(project: Path) -> None:
    assert main(["doctor", "-C", str(project)]) in {0, 1, 2}


def import_(project: Path) -> None:
    lines = project.parent / "lines.json"
    lines.write_text(json.dumps({"relative_path": "new.py", "content": [{"source_code": "new = 1\n"}]}))
    assert main(["import", "-C", str(project), "--as", "jsonl", str(lines)]) in {0, 2}


def watch(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        assert list(engine.watch(lambda: True))


def glanced(project: Path) -> IndexSummary | None:
    place = locate(str(project))
    return index_summary(place.index_folder, word_of(place))


def serve(project: Path) -> None:
    with suppress(DamagedError):  # as the server's list of projects, which shows it
        glanced(project)
    assert isinstance(list(messages(Order(str(project))))[-1], Report)


COMMANDS: dict[str, Callable[[Path], None]] = {
    "index": index,
    "search": search,
    "status": status,
    "doctor": doctor,
    "import": import_,
    "watch": watch,
    "serve": serve,
}


def made(folder: Path) -> Path:
    """Make a project with an index, which something has changed since."""
    project = folder / "whole"
    project.mkdir()
    (project / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
    (project / "fathom.toml").touch()
    with Engine.open(str(project)) as engine:
        engine.index()
    (project / "pond.py").write_text("def feed_duck():\n    return 'bread'\n")
    return project


def place_of(name: str, project: Path) -> Path:
    folder = project / ".fathom"
    view = next(path.name for path in (folder / "lexical").iterdir() if path.name.isdecimal())
    vectors = next(path.name for path in folder.iterdir() if path.name.startswith("vectors-"))
    parts = [{"N": view, "V": vectors}.get(part, part) for part in name.split("/")]
    return folder.joinpath(*parts)


def check(name: str, n_commands: int, scratch: Path) -> Iterator[str]:
    """Try every trap at a name with so many of the commands, others for each trap; yield what came to harm."""
    whole = made(scratch)
    commands = cycle(COMMANDS.items())
    for number, (kind, trap) in enumerate(TRAPS.items()):
        for what, command in islice(commands, n_commands):
            place = scratch / f"{number}-{what}"
            project, elsewhere = place / "project", Elsewhere(place / "elsewhere")
            shutil.copytree(whole, project)
            if number % 2:  # else it is known to this user by no more than its folder
                index(project)
            plant(place_of(name, project), trap, elsewhere)
            command(project)
            if not elsewhere.is_untouched():
                yield f"{what} changed something elsewhere by a {kind} as {name}"
            elsewhere.look_again()
            index(project)
            if main(["search", "-C", str(project), "feed the duck"]) or not elsewhere.is_untouched():
                yield f"after {what} with a {kind} as {name} the index was not made again"
            remove_folder(place)


def print_harm() -> None:
    """Check the name, with so many commands, in the folder that the command line names."""
    name, n_commands, scratch = sys.argv[1:]
    for harm in check(name, int(n_commands), Path(scratch)):
        print("HARM", harm)
