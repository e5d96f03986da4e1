"""Damage to an index, a random change at a time: `python -m evals.damage --changes 1000 --seed 1`.

A small project is indexed and asked in every way. Then one file of its index, or of the user's cache, is changed. What
the same questions give now is compared with the answers from before, and once more after the next `fathom index`. Half
of the changes are made to an index that a killed run has left behind, half to one that is at rest.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, cast

from codefathom import Engine
from codefathom.errors import FathomError
from codefathom.index.prepare import _cache
from codefathom.project.location import index_place, locate, word_of
from codefathom.stores.registry import Registry
from codefathom.types import Hit, IndexReport, Level, Mode, SearchResult
from evals.damaging import SHARES, Change, damage
from evals.report import table

# What is said of the answers before the next run, from harmless to a lie.
SAME, NAMED, ERROR, OTHER, WRONG, CRASH = "same", "named", "error", "other order", "WRONG", "CRASH"
ORDER = (SAME, ERROR, NAMED, OTHER, WRONG, CRASH)
COLUMNS = ("files of", "changes", *ORDER, "after index: same", "after index: DIFFERENT")
_SILENT = {WRONG, CRASH}
_AT_REST, _KILLED = "at rest", "killed"
_PATIENCE_S = 10.0
_N_FILES = 36
_AT_ONCE = 8  # questions to one engine; then another is opened, as by the next command
_WORDS = [a + b for a in ("ba", "cor", "del", "fim", "gul", "han") for b in ("ta", "nix", "rom", "sel", "pud", "wek")]


@dataclass(frozen=True, slots=True)
class Trial:
    """One change, and what came of it."""

    number: int
    state: str  # of the index
    change: Change
    before: str  # one of ORDER
    after: str  # "" when all is as it was, else what is not
    told: str  # the first finding


def main(words: Sequence[str] | None = None) -> int:
    """Make the changes and print a table; 1 when an answer was silently wrong, or an index stayed so."""
    parser = argparse.ArgumentParser(prog="python -m evals.damage", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", type=int, default=-1, help="make this change only, and say all that is found")
    arguments = parser.parse_args(words)
    numbers = range(arguments.changes) if arguments.only < 0 else [arguments.only]
    trials = []
    for trial in run(numbers, arguments.seed, arguments.processes):
        trials.append(trial)
        if trial.before in _SILENT or trial.after or arguments.only >= 0:
            told = f"{trial.change}: {trial.before}; {trial.told}; {trial.after}"
            print(f"{trial.number} {trial.state}: {told}", flush=True)
    print(table(COLUMNS, rows(trials)))
    return int(any(trial.before in _SILENT or trial.after for trial in trials))


def run(numbers: Iterable[int], seed: int, n_processes: int = 1) -> Iterator[Trial]:
    """Make the changes with these numbers, each in a fresh copy of the same index."""
    numbers = list(numbers)
    parts = [numbers[start::n_processes] for start in range(n_processes)]
    # In a process of its own, so that one that breaks down is a finding too.
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        for trials in pool.map(_part, parts, [seed] * n_processes):
            yield from trials


def rows(trials: Sequence[Trial]) -> Iterator[Sequence[str]]:
    """Yield the table line by line: the kinds of files, then all."""
    for name in (*SHARES, "all"):
        own = [trial for trial in trials if name in (trial.change.kind, "all")]
        counts = Counter(trial.before for trial in own)
        n_same = sum(not trial.after for trial in own)
        yield name, str(len(own)), *(str(counts[key]) for key in ORDER), str(n_same), str(len(own) - n_same)


def _part(numbers: Sequence[int], seed: int) -> list[Trial]:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        del os.environ[name]
    with TemporaryDirectory(prefix="fathom-damage-") as folder:
        laboratory = Laboratory(Path(folder))
        return [laboratory.trial(number, seed) for number in numbers]


def _copied(source: str, target: str) -> None:
    with suppress(FileNotFoundError):  # a thread of tantivy has renamed a file that it was writing
        shutil.copy2(source, target)


class Laboratory:
    """A project with its index in two states, and the true answers."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self._kept = folder / "kept"
        self._data = folder / "data"  # index and cache, changed and restored again and again
        os.environ.update(
            HOME=str(folder / "home"),
            XDG_CONFIG_HOME=str(folder / "home"),
            FATHOM_INDEX_DIR=str(self._data / "index"),
            FATHOM_CACHE_DIR=str(self._data / "cache"),
            FATHOM_STATE_DIR=str(folder / "state"),
        )
        self._prepare()

    def trial(self, number: int, seed: int) -> Trial:
        """Change one file and see what happens."""
        chance = Random(f"{seed} {number}")
        state = chance.choice((_AT_REST, _KILLED))
        self._restore(state)
        change = damage(self._data, self._kept / "older", chance)
        policy = "auto" if state == _KILLED else chance.choice(("auto", "never"))
        try:
            before, told = self._compare(self._ask(policy))
        except Exception as error:
            before, told = CRASH, f"{type(error).__name__}: {error}"
        try:
            self._index(full=change.kind == "cache")
            after = self._difference()
        except Exception as error:
            after = f"{type(error).__name__}: {error}"
        return Trial(number, state, change, before, after, told)

    # ---- the project and its index

    def _prepare(self) -> None:
        chance = Random(7)
        for number in range(_N_FILES):
            _write(self.root, number, 0, chance)
        (self.root / "fathom.toml").write_text("[index]\nworkers = 0\n")
        _make_old(self.root)
        self._index()
        self._keep("older")
        for number in range(0, _N_FILES, 5):
            _write(self.root, number, 1, chance)
        (self.root / "pack1" / "m1.py").unlink()
        self._index()
        for number in range(3, _N_FILES, 9):
            _write(self.root, number, 2, chance)
        _make_old(self.root)
        with Engine.open(str(self.root)) as engine:
            for event in engine.index_events():
                if getattr(event, "phase", "") == "write":  # written, and nothing of it settled yet
                    self._keep(_KILLED)
        # Files that were stamped while they were indexed are looked at once more: here, and not in each trial.
        self._index()
        self._keep(_AT_REST)
        self._files = {
            path.relative_to(self.root).as_posix(): path.read_text() for path in sorted(self.root.rglob("*.py"))
        }
        self._word = word_of(locate(str(self.root)))
        assert self._word
        self._true = self._ask("auto")
        self._dump = self._content()

    def _index(self, *, full: bool = False) -> IndexReport:
        with Engine.open(str(self.root)) as engine:
            return engine.index(full=full)

    def _keep(self, name: str) -> None:
        shutil.copytree(self._data, self._kept / name, copy_function=_copied)

    def _restore(self, name: str) -> None:
        """Put a state back. It stays known by its word: else each trial would begin with a check against the tree."""
        _cache.cache_clear()  # which would go on with the file that was there before
        kept = self._kept / name
        self._wait_until_nothing_is_mapped()
        while not self._is_emptied_of_others(kept):
            time.sleep(0.05)  # a thread of tantivy goes on for a moment after its writer was dropped
        shutil.copytree(kept, self._data, dirs_exist_ok=True)
        place = locate(str(self.root))
        Registry(place.state_dir).add(index_place(place), self._word)

    def _wait_until_nothing_is_mapped(self) -> None:
        """A thread of tantivy that merges would be killed by the system when its file is cut in place."""
        maps = Path("/proc/self/maps")
        until = time.monotonic() + _PATIENCE_S
        while maps.exists() and str(self._data) in maps.read_text() and time.monotonic() < until:
            gc.collect()
            time.sleep(0.05)

    def _is_emptied_of_others(self, kept: Path) -> bool:
        try:
            for path in sorted(self._data.rglob("*"), reverse=True):
                before = kept / path.relative_to(self._data)
                if path.is_file() and not before.is_file():
                    path.unlink()
                elif path.is_dir() and not before.is_dir():
                    path.rmdir()
        except OSError:
            return False
        return True

    # ---- questions

    def _ask(self, policy: str) -> dict[str, Any]:
        """Return the answer to each question: a value, or the error that came."""
        os.environ["FATHOM_SEARCH__REFRESH"] = policy
        answers: dict[str, Any] = {}
        try:
            names = list(QUESTIONS)
            for start in range(0, len(names), _AT_ONCE):
                with Engine.open(str(self.root)) as engine:
                    for name in names[start : start + _AT_ONCE]:
                        try:
                            answers[name] = QUESTIONS[name](engine)
                        except FathomError as error:
                            answers[name] = error
        finally:
            del os.environ["FATHOM_SEARCH__REFRESH"]
        return answers

    def _compare(self, answers: Mapping[str, Any]) -> tuple[str, str]:
        """Return the worst that can be said of the answers, and of which one."""
        worst, told = SAME, ""
        for name, answer in answers.items():
            verdict = self._verdict(name, answer)
            if ORDER.index(verdict) > ORDER.index(worst):
                worst, told = verdict, f"{name}: {answer}"[:400]
        return worst, told

    def _verdict(self, name: str, answer: Any) -> str:
        true = self._true[name]
        if isinstance(answer, FathomError):
            if isinstance(true, FathomError) and str(true) == str(answer):
                return SAME
            return ERROR if answer.hint else CRASH
        if _plain(answer) == _plain(true):
            return SAME
        if _degraded(answer) != _degraded(true):
            return NAMED
        return OTHER if all(self._is_true(name, item) for item in _facts(answer)) else WRONG

    def _is_true(self, name: str, fact: Any) -> bool:
        """Whether lines that are shown stand in the file; other facts must be among the true ones."""
        if isinstance(fact, tuple) and fact and fact[0] == "lines":
            _, path, start_line, end_line, text = fact
            lines = self._files.get(path, "").split("\n")
            shown = "\n".join(lines[start_line - 1 : end_line])
            return bool(text) and text.rstrip("\n") == shown.rstrip("\n")
        if isinstance(fact, tuple) and fact and fact[0] == "line":
            return not fact[2].strip(".… ") or fact[2] in self._files.get(fact[1], "").split("\n")
        return fact in set(_facts(self._true[name]))

    def _difference(self) -> str:
        answers = self._ask("auto")
        for name, answer in answers.items():
            true = self._true[name]
            if _plain(answer) != _plain(true) or _degraded(answer) != _degraded(true):
                return f"{name}: {answer!r}"[:400]
        if self._content() != self._dump:
            return "the catalogue holds something else"
        with Engine.open(str(self.root)) as engine:
            bad = [check for check in engine.doctor() if not check.ok]
        return str(bad[0]) if bad else ""

    def _content(self) -> object:
        """Return all that the catalogue and the views hold but keys, time stamps of runs, and the order of rows."""
        with Engine.open(str(self.root)) as engine:
            opened = engine.opened
            rows = [opened.catalog._read(statement) for statement in _CONTENT]
            return rows, opened.views.lexical.n_chunks, len(cast(Any, opened.views.vectors))


_OF_DOCUMENT = "r JOIN documents d ON d.id = r.document_id ORDER BY 1, 2, 3, 4, 5"
_CONTENT = (
    "SELECT path, start_line, end_line, r.id, kind, symbol, names, packed, checksum, text_hash "
    f"FROM chunks {_OF_DOCUMENT}",
    f"SELECT path, start_line, end_line, r.name, kind, qualified_name, name_line, place FROM symbols {_OF_DOCUMENT}",
    f"SELECT path, packed, length(packed), '', '' FROM outlines {_OF_DOCUMENT}",
    f"SELECT path, names, checksum, packed, length(packed) FROM refs {_OF_DOCUMENT}",
    "SELECT path, dir, name, ext, language, fingerprint, size, mtime_ns, module, sub_module, n_lines, parser, chunker, "
    "problems FROM documents ORDER BY path",
    "SELECT name, text_hash, vector FROM embeddings JOIN models m ON m.id = model "
    "WHERE text_hash IN (SELECT text_hash FROM chunks) ORDER BY 1, 2",
    "SELECT path, reason FROM failures ORDER BY 1, 2",
    "SELECT path, reason FROM skipped ORDER BY 1, 2",
    "SELECT path, reason, size, mtime_ns FROM rejected ORDER BY path",
)
_NOT_COMPARED = {"generation", "n_bytes", "indexed_at"}  # of a Status: they differ from run to run


def _search(query: str, mode: Mode = "hybrid", level: Level = "chunk", limit: int = 10) -> Any:
    return lambda engine: engine.search(query, mode=mode, level=level, limit=limit)


_LEVELS: tuple[Level, ...] = ("chunk", "symbol", "file")
_ASKED = ("handler_7", "compute the total of orders", "batanix and corpud", "retry the fimrom")
QUESTIONS: Mapping[str, Any] = {
    **{f"search {level} {query}": _search(query, level=level) for level in _LEVELS for query in _ASKED},
    **{f"search {mode}": _search("retry delpud hansel", mode) for mode in cast(Any, ("lexical", "vector"))},
    "search symbol": _search("Model12", "symbol"),
    "search regex": _search("return bata.*corp", "regex", limit=40),
    "search graph": _search("who calls shared_5", "graph", limit=40),
    "search filter": _search("retry path:pack2/** kind:function", limit=40),
    "search auto": lambda engine: engine.search("who uses shared_9"),
    "symbols": lambda engine: engine.symbols(limit=10_000),
    "symbols by name": lambda engine: engine.symbols("handler"),
    "related file": lambda engine: engine.related("pack0/m5.py"),
    "related symbol": lambda engine: engine.related("@@shared_5"),
    "context": lambda engine: engine.context("compute the total of orders 12", max_tokens=3_000),
    "ask": lambda engine: engine.ask("how is the total of orders computed by handler_3"),
    "export jsonl": lambda engine: tuple(engine.export("jsonl")),
    "export json": lambda engine: tuple(engine.export("index-json")),
    "files": lambda engine: engine.files.listed(),
    "file lines": lambda engine: engine.files.lines("pack2/m7.py", 3, 30),
    "outline": lambda engine: engine.files.outline("pack3/m8.py"),
    "status": lambda engine: engine.status(),
}


def _plain(answer: Any) -> Any:
    """Return what must be equal: scores are rounded, and what differs from run to run is left out."""
    if isinstance(answer, SearchResult):
        hits = [(astuple(hit.chunk), round(hit.score, 5), hit.line, hit.name, hit.reason) for hit in answer.hits]
        return hits, answer.mode, round(answer.confidence, 5), answer.stale
    if type(answer).__name__ == "Status":
        return {key: value for key, value in asdict(answer).items() if key not in _NOT_COMPARED}
    if type(answer).__name__ == "Answer":
        return [(s.path, s.start_line, s.end_line, s.text, round(s.score, 5)) for s in answer.sources], answer.text
    return str(answer) if isinstance(answer, FathomError) else answer


def _degraded(answer: Any) -> Any:
    return getattr(answer, "degraded", ())


def _facts(answer: Any) -> list[Any]:
    """Return what an answer says is there, one by one."""
    facts = _FACTS.get(type(answer).__name__)
    if facts is not None:
        return list(facts(answer))
    return list(answer) if type(answer) is tuple else [answer]


def _of_context(answer: Any) -> Iterator[Any]:
    return (("line", file.path, line) for file in answer.files for line in file.text.split("\n"))


_FACTS: Mapping[str, Callable[[Any], Iterable[Any]]] = {
    "SearchResult": lambda answer: (fact for hit in answer.hits for fact in _facts_of(hit)),
    "Answer": lambda answer: (("lines", s.path, s.start_line, s.end_line, s.text) for s in answer.sources),
    "RelatedResult": lambda answer: answer.edges,
    "Context": _of_context,
    "Status": lambda answer: (*answer.skipped, *answer.failures),  # how much there is may be less
    "FileLines": lambda answer: (("lines", answer.file.path, answer.start_line, answer.end_line, answer.text),),
}


def _facts_of(hit: Hit) -> Iterator[Any]:
    chunk = hit.chunk
    yield "lines", chunk.path, chunk.start_line, chunk.end_line, chunk.text
    yield chunk.start_line <= hit.line <= chunk.end_line


# ---- files


def _write(root: Path, number: int, variant: int, chance: Random) -> None:
    words = Random(f"{number} {variant}")
    parts = [
        f"import pack{(number + 1) % 5}.m{(number + 1) % _N_FILES}\nfrom pack0 import m0\n\n\n",
        f"class Model{number}:\n    def handler_{number}(self, orders):\n"
        f'        """Compute the total of orders {number} {variant}."""\n'
        f"        return sum(orders) + shared_{(number + 4) % _N_FILES}({variant})\n\n\n",
        f"def shared_{number}(value):\n    return value * {number}\n\n\n",
    ]
    parts += [
        f"def load_{number}_{k}(path):\n    # retry {' '.join(words.choices(_WORDS, k=9))}\n"
        f"    return {words.choice(_WORDS)}(path) + {words.choice(_WORDS)}\n\n\n"
        for k in range(12)
    ]
    if variant:  # lines move
        parts.insert(0, "# moved\n" * words.randrange(1, 9))
    path = root / f"pack{number % 5}" / f"m{number}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(parts))


def _make_old(root: Path) -> None:
    """Stamp files as if they had been written a while ago, so that no run looks at them twice."""
    now = time.time() - 3_600
    for path in root.rglob("*"):
        os.utime(path, (now, now))


if __name__ == "__main__":
    sys.exit(main())
