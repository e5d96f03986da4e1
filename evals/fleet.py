"""Measures a fleet against one index of the same text, and against today's way of one project for each repository.

    python -m evals.fleet FOLDER... [--most-bytes N] [--shard-bytes N] [--versions N] [--changes N] [--simulate]
    python -m evals.fleet FOLDER... --most-bytes N --copies 3 --commands 5
    python -m evals.fleet FOLDER... --projects 20,100,400

Each folder in a FOLDER is a repository; they are copied. Forks are copies of some of them with a line added to every
tenth file. The 64 versions of a package are made in the same way, one from the other. `--commands` changes one
repository of a fleet with the usual size of shards, which may have several copies of each, and measures the processor
time of the commands of a user, each in a new process. `--projects` asks so many of the repositories as a fleet with
the usual size of shards and as a project each, without forks. `python -m evals.fleet_answers` compares answers.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from codefathom import Engine, Federation
from codefathom.fleet import fleet_run
from codefathom.fleet.fleet import Fleet
from evals import fleet_simulation

_QUESTIONS = (
    "how are requests retried with a backoff",
    "where is the configuration file read",
    "parse command line arguments",
    "render a template to html",
    "token refresh",
    "validate the password of a user",
    "send an email",
    "database migration",
    "how is a cache invalidated",
    "convert markdown to text",
    "open a socket and listen",
    "middleware",
    "write a log record to a file",
    "sort a list of versions",
    "signal handler for shutdown",
    "upload a file",
)
_FORK_EVERY, _CHANGED_EVERY = 4, 10
_USUAL_SHARD = fleet_run.MOST_BYTES
_LEAST_BYTES = 2_000  # of a repository that is a project


def main() -> None:
    """Measure, and print the figures as rows of a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most-bytes", type=int, default=20_000_000, help="of the copied repositories, without forks")
    parser.add_argument("--shard-bytes", type=int, default=5_000_000, help="of a shard; the usual size is 50 MB")
    parser.add_argument("--versions", type=int, default=64)
    parser.add_argument("--changes", type=int, default=0, help="measure only so many changes, each of one repository")
    parser.add_argument("--commands", type=int, default=0, help="measure only commands after so many changes")
    parser.add_argument("--copies", type=int, default=0, help="of each repository, besides itself, for --commands")
    parser.add_argument("--projects", default="", help="measure only so many projects, several numbers with commas")
    fleet_simulation.add_option(parser)
    options = parser.parse_args()
    fleet_run.MOST_BYTES = options.shard_bytes
    with tempfile.TemporaryDirectory(prefix="fathom-bench-fleet-") as scratch:
        os.environ |= {"FATHOM_STATE_DIR": f"{scratch}/state", "FATHOM_CACHE_DIR": f"{scratch}/cache"}
        work = Path(scratch)
        if options.simulate:
            for name, value in _simulated(options.folders, options.most_bytes, work):
                print(f"| {name} | {value} |", flush=True)
            return
        if options.commands:
            for name, value in _commands(options, work):
                print(f"| {name} | {value} |", flush=True)
            return
        if options.projects:
            fleet_run.MOST_BYTES = _USUAL_SHARD
            for name, value in _projects(options.folders, [int(word) for word in options.projects.split(",")], work):
                print(f"| {name} | {value} |", flush=True)
            return
        if options.changes:
            for name, value in _changes(options, work):
                print(f"| {name} | {value} |", flush=True)
            return
        for name, value in (*_compared(options.folders, options.most_bytes, work), *_versions(work, options)):
            print(f"| {name} | {value} |", flush=True)


def _simulated(folders: Sequence[Path], most_bytes: int, work: Path) -> Iterator[tuple[str, str]]:
    with Fleet.make("bench") as fleet:
        fleet.add([str(place) for place in _copies(folders, most_bytes, work / "all")])
        fleet.index()
        with Engine.open(fleet.root) as engine:
            yield from fleet_simulation.simulate(engine, _QUESTIONS)


def _changes(options: argparse.Namespace, work: Path) -> Iterator[tuple[str, str]]:
    places = _copies(options.folders, options.most_bytes, work / "all")
    with Fleet.make("bench") as fleet:
        fleet.add([str(place) for place in places])
        fleet.index()
        status = fleet.status()
        yield "repositories, lines, shards", f"{len(places)}, {status.n_lines:,}, {len(status.shards)}"
        for number in range(options.changes):
            place = places[number % len(places)]
            yield from _changed(fleet, place)
            (place / "newly_written.py").unlink()
            fleet.index()


def _projects(folders: Sequence[Path], sizes: Sequence[int], work: Path) -> Iterator[tuple[str, str]]:
    """Compare a fleet of so many repositories with a project for each of them, the fewest first."""
    packages = (place for place in _repositories(folders) if not place.name.endswith(".dist-info"))
    smallest = sorted((size, place) for place in packages if (size := _size(place)) >= _LEAST_BYTES)
    places: list[Path] = []
    for size in sorted(sizes):
        for _, place in smallest[len(places) : size]:
            places.append(work / "all" / f"{len(places)}-{place.name}")
            shutil.copytree(place, places[-1], symlinks=True, ignore=shutil.ignore_patterns(".git", ".fathom"))
            (places[-1] / "fathom.toml").touch()  # each is a project of its own, too
        with Fleet.make("bench") as fleet:
            fleet.add([str(place) for place in places])
            fleet.index()
            status = fleet.status()
            yield "repositories, lines, shards", f"{len(places)}, {status.n_lines:,}, {len(status.shards)}"
            with Engine.open(fleet.root) as shards:
                of_fleet = _times(shards.search)
        yield "a question, p50: fleet", f"{of_fleet:.1f} ms"
        yield from _one_each(places, of_fleet)


def _commands(options: argparse.Namespace, work: Path) -> Iterator[tuple[str, str]]:
    places = _copies(options.folders, options.most_bytes, work / "all", fork_every=0)
    for place in list(places):
        for number in range(1, options.copies + 1):
            places.append(place.with_name(f"{place.name}-copy{number}"))
            shutil.copytree(place, places[-1], symlinks=True)
    name, place = places[0].name, places[0]
    _processor_s("fleet", "add", "bench", *map(str, places))
    yield "fleet made, processor time", f"{_processor_s('fleet', 'index', 'bench'):.0f} s"
    with Fleet.open("bench") as fleet:
        status = fleet.status()
        yield "repositories, lines, shards", f"{len(places):,}, {status.n_lines:,}, {len(status.shards)}"
        slot = next(item.slot for item in status.repositories if item.name == name)
        yield "lines in the changed shard", f"{next(item.n_lines for item in status.shards if item.slot == slot):,}"
    times: dict[str, list[float]] = {}
    for number in range(options.commands):
        word = f"newly_written_by_the_benchmark_{number}"
        (place / f"newly_written_{number}.py").write_text(f"def {word}():\n    return 1\n")
        for said, command in (
            ("fathom fleet index bench NAME, a new file", ("fleet", "index", "bench", name)),
            ("the same where nothing has changed", ("fleet", "index", "bench", name)),
            ("fathom search -p bench WORD", ("search", "-p", "bench", word)),
            ("fathom fleet index bench, nothing has changed", ("fleet", "index", "bench")),
        ):
            times.setdefault(said, []).append(_processor_s(*command))
    for said, seconds in times.items():
        yield f"{said}: processor time, median of {len(seconds)}", f"{median(seconds):.2f} s"


def _processor_s(*command: str) -> float:
    """Return the processor time of a command of `fathom` and its children; it must end well."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "codefathom", "-q", *command], check=True, stdout=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _compared(folders: Sequence[Path], most_bytes: int, work: Path) -> Iterator[tuple[str, str]]:
    places = _copies(folders, most_bytes, work / "all")
    with Fleet.make("bench") as fleet:
        fleet.add([str(place) for place in places])
        seconds = _seconds(fleet.index)
        status = fleet.status()
        yield "repositories, forks among them", f"{len(status.repositories)}, {len(places) // (_FORK_EVERY + 1)}"
        yield "lines indexed, shards", f"{status.n_lines:,}, {len(status.shards)}"
        yield "text, distinct text", f"{status.n_bytes_text / 1e6:.1f} MB, {status.n_bytes_distinct / 1e6:.1f} MB"
        ratio = status.n_bytes / status.n_bytes_distinct
        yield "fleet on disk / distinct text", f"{status.n_bytes / 1e6:.1f} MB, {ratio:.2f} x"
        yield "fleet made in", f"{seconds:.0f} s"
        with Engine.open(str(work / "all"), is_root=True) as one, Engine.open(fleet.root) as shards:
            yield "one index made in", f"{_seconds(one.index):.0f} s"
            size = sum(path.stat().st_size for path in Path(one.index_dir).rglob("*") if path.is_file())
            yield "one index on disk", f"{size / 1e6:.1f} MB"
            of_one, of_fleet = _times(one.search), _times(shards.search)
            yield "a question, p50: one index", f"{of_one:.1f} ms"
            yield "a question, p50: fleet", f"{of_fleet:.1f} ms ({of_fleet / of_one:.2f} x)"
        yield from _one_each(places, of_fleet)
        yield from _changed(fleet, places[0])


def _one_each(places: Sequence[Path], of_fleet: float) -> Iterator[tuple[str, str]]:
    with Federation.open([str(place) for place in places]) as several:
        yield "projects, one each: made and asked first in", f"{_seconds(lambda: several.search('warm up')):.0f} s"
        size = sum(path.stat().st_size for place in places for path in place.glob(".fathom/**/*") if path.is_file())
        yield "projects, one each: on disk", f"{size / 1e6:.1f} MB"
        of_each = _times(several.search)
        yield "a question, p50: projects, one each", f"{of_each:.1f} ms ({of_each / of_fleet:.0f} x the fleet)"


def _changed(fleet: Fleet, place: Path) -> Iterator[tuple[str, str]]:
    (place / "newly_written.py").write_text("def newly_written_by_the_benchmark():\n    return 1\n")

    def until_found() -> None:
        fleet.index()
        with Engine.open(fleet.root) as engine:
            assert "newly_written" in engine.search("newly_written_by_the_benchmark").hits[0].chunk.text

    yield "one repository changed, until found by a new process' engine", f"{_seconds(until_found):.2f} s"


def _versions(work: Path, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Compare the room of many versions of one package with that of one."""
    package = min(_repositories(options.folders), key=lambda place: abs(_size(place) - 1_000_000))
    before, sizes = package, {}
    with Fleet.make("versions") as fleet:
        for number in range(1, options.versions + 1):
            version = work / "versions" / f"{package.name}-{number}"
            _fork(before, version, f"version {number}")
            before = version
            fleet.add([str(version)])
            if number == 1:
                fleet.index()
                sizes[1] = fleet.status().n_bytes
        fleet.index()
        fleet.index()
        status = fleet.status()
    several, one = status.n_bytes, sizes[1]
    yield f"{options.versions} versions of {package.name} against one", f"{several / one:.2f} x room"
    yield "their text, distinct text", f"{status.n_bytes_text / 1e6:.1f} MB, {status.n_bytes_distinct / 1e6:.1f} MB"


def _repositories(folders: Sequence[Path]) -> list[Path]:
    return [
        place for folder in folders for place in sorted(folder.iterdir()) if place.is_dir() and not place.is_symlink()
    ]


def _copies(folders: Sequence[Path], most_bytes: int, target: Path, fork_every: int = _FORK_EVERY) -> list[Path]:
    """Copy the smallest repositories, as many as fit, and fork every fourth of them, or none for 0."""
    copies: list[Path] = []
    left = most_bytes
    for number, place in enumerate(sorted(_repositories(folders), key=_size)):
        left -= _size(place)
        if left < 0:
            break
        copies.append(target / place.name)
        shutil.copytree(place, copies[-1], symlinks=True, ignore=shutil.ignore_patterns(".git", ".fathom"))
        if fork_every and number % fork_every == 0:
            copies.append(target / f"{place.name}-fork")
            _fork(place, copies[-1], "a fork")
    for copy in copies:
        (copy / "fathom.toml").touch()  # each is a project of its own, too
    return copies


def _fork(place: Path, target: Path, word: str) -> None:
    shutil.copytree(place, target, symlinks=True, ignore=shutil.ignore_patterns(".git", ".fathom"))
    files = sorted(path for path in target.rglob("*") if path.is_file() and not path.is_symlink())
    for path in files[::_CHANGED_EVERY]:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{word}\n")


def _size(place: Path) -> int:
    return sum(path.lstat().st_size for path in place.rglob("*") if ".git" not in path.parts and path.is_file())


def _times(search: object) -> float:
    """Return the median time of the questions in milliseconds, asked twice; the first round is not counted."""
    assert callable(search)
    for question in _QUESTIONS:
        search(question)
    return median(_seconds(lambda question=question: search(question)) for question in _QUESTIONS) * 1000


def _seconds(act: object) -> float:
    assert callable(act)
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
