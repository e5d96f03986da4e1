"""How many small faults in a module its tests notice: `make mutants MODULE=answer.cite`.

mutmut makes the faults, all of a module in one text, of which one is chosen when a function is called. This module
collects the tests once and tries each fault in a fork, which takes a fraction of a second: a fault is noticed if a
test fails that calls the function. Caches are emptied before: what an earlier run has computed hides no fault.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import gc
import importlib.abc
import importlib.machinery
import os
import random
import re
import resource
import signal
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from mutmut.mutation import trampoline
from mutmut.mutation.file_mutation import MutatedFile, mutate_file_contents
from mutmut.utils.format_utils import mangled_name_from_mutant_name

ROOT = Path(__file__).parent.parent
SOURCES, TESTS = ROOT / "src" / "codefathom", ROOT / "tests" / "unit"
CLEAN = "mutants.none"  # the name of no fault
LEAST_CPU_S, TIMES_AS_LONG, MOST_S = 5, 4, 300
# mutmut leaves out what is decorated; without its cache a function is the same.
CACHES = r"(?m)^( *)@(?:functools\.)?(?:lru_cache\(.*\)|cache)(?=\s)"
SQL = r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|BETWEEN|ORDER BY|LIKE|LIMIT|VALUES|PRAGMA)\b|\b[a-z]\.[a-z_]+ "
NOTICED, LEFT, UNCALLED = "noticed", "left", "never called"


def main() -> None:
    """Print the score of modules, and each fault that no test notices."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("modules", nargs="+", metavar="MODULE", help="such as answer.cite")
    words.add_argument("--sample", type=int, default=0, help="faults of each module that are drawn; 0: all")
    words.add_argument("--tests", nargs="*", help="files of tests; without them those named like the module")
    options = words.parse_args()
    mutated = {name: _mutated(name) for name in (f"codefathom.{module}" for module in options.modules)}
    sys.meta_path.insert(0, _Finder(mutated))
    tests = options.tests or [str(path) for name in options.modules for path in _tests_of(name)]
    trial = _Trial(mutated, options.sample)
    os.environ["MUTANT_UNDER_TEST"] = "stats"
    os.environ["MUTMUT_DEPENDENCY_DEPTH"] = "-1"
    sys.exit(pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", *tests], plugins=[trial]))


def _tests_of(module: str) -> list[Path]:
    """Return the files of tests that have the name of a module, in the folder of its room or in one above."""
    *rooms, name = module.split(".")
    found = [path for n in range(len(rooms) + 1) for path in TESTS.joinpath(*rooms[:n]).glob(f"test_{name}*.py")]
    return sorted(found) or sorted(TESTS.joinpath(*rooms).glob("test_*.py"))


def _mutated(name: str) -> MutatedFile:
    path = ROOT / "src" / f"{name.replace('.', '/')}.py"
    return mutate_file_contents(str(path), re.sub(CACHES, r"\1# ", path.read_text(encoding="utf-8")))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the text with all faults in the place of a module."""

    def __init__(self, mutated: dict[str, MutatedFile]) -> None:
        self._mutated = mutated

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module that has faults."""
        if name not in self._mutated:
            return None
        origin = str(ROOT / "src" / f"{name.replace('.', '/')}.py")
        spec = importlib.machinery.ModuleSpec(name, self, origin=origin)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run the text."""
        exec(compile(self._mutated[module.__name__].code, str(module.__file__), "exec"), module.__dict__)


class _Fault(NamedTuple):
    module: str
    name: str  # of the function with the fault, in the text with all faults

    @property
    def function(self) -> str:
        """The name of the function without the number of the fault, with its module."""
        return f"{self.module}.{mangled_name_from_mutant_name(self.name)}"


class _Trial:
    """A plugin of pytest: runs all tests once, and then those of each fault."""

    def __init__(self, mutated: dict[str, MutatedFile], sample: int) -> None:
        self._mutated = mutated
        self._sample = sample
        self._calls: dict[str, set[str]] = defaultdict(set)  # functions by test
        self._seconds: dict[str, float] = {}
        self._has_failed = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each fault in the place of one run of the tests."""
        print(f"\n{len(session.items)} tests", flush=True)
        if self._run_clean(session.items) or session.testsfailed:
            raise pytest.UsageError("a test fails without a fault")
        os.environ["MUTANT_UNDER_TEST"] = CLEAN
        for module, text in self._mutated.items():
            names = [name for name in text.mutant_names if not _is_same_sql(text, _Fault(module, name))]
            drawn = random.Random(module).sample(names, min(self._sample or len(names), len(names)))
            faults = [_Fault(module, name) for name in sorted(drawn)]
            outcomes = [self._outcome(fault, session.items) for fault in faults]
            _report(module, text, faults, outcomes, len(names))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a failure."""
        self._has_failed |= report.failed
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def _run_clean(self, items: Sequence[pytest.Item]) -> bool:
        for place, item in enumerate(items):
            calls = self._calls[item.nodeid]
            vars(trampoline)["record_trampoline_hit"] = lambda name, caller=None, calls=calls: calls.add(name)
            _run(item, items[place + 1] if place + 1 < len(items) else None)
        return self._has_failed

    def _outcome(self, fault: _Fault, items: Sequence[pytest.Item]) -> str:
        # In their order: another one could fail for itself.
        own = [item for item in items if fault.function in self._calls[item.nodeid]]
        if not own:
            return UNCALLED
        most_s = sum(self._seconds[item.nodeid] for item in own)
        return NOTICED if _in_fork(lambda: self._fails(fault, own), most_s) else LEFT

    def _fails(self, fault: _Fault, items: Sequence[pytest.Item]) -> bool:
        os.environ["MUTANT_UNDER_TEST"] = f"{fault.module}.{fault.name}"
        items[0].config.pluginmanager.unregister(name="terminalreporter")
        for place, item in enumerate(items):
            _run(item, items[place + 1] if place + 1 < len(items) else None)
            if self._has_failed:
                return True
        return False


def _run(item: pytest.Item, following: pytest.Item | None) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _in_fork(fails: Callable[[], bool], usual_s: float) -> bool:
    """Return True if the tests fail in a process of their own, end it, or take many times as long."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    most_s = LEAST_CPU_S + int(TIMES_AS_LONG * usual_s)
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s + 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(MOST_S)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    code = 3
    try:
        for cache in [thing for thing in gc.get_objects() if isinstance(thing, functools._lru_cache_wrapper)]:
            cache.cache_clear()
        code = int(fails())
    finally:
        os._exit(code)


def _report(module: str, text: MutatedFile, faults: list[_Fault], outcomes: list[str], n_all: int) -> None:
    counts = Counter(outcomes)
    numbers = (counts[NOTICED], counts[LEFT], counts[UNCALLED])
    drawn = f"{len(faults)} of {n_all}" if len(faults) < n_all else str(n_all)
    score = f"{counts[NOTICED] / max(len(faults), 1):.0%}"
    print(f"\n| {module.removeprefix('codefathom.')} | {drawn} | {' | '.join(map(str, numbers))} | {score} |")
    for fault, outcome in zip(faults, outcomes, strict=True):
        if outcome != NOTICED:
            print(f"{outcome}: {fault.name}", *_difference(text, fault), sep="\n    ", flush=True)


def _is_same_sql(text: MutatedFile, fault: _Fault) -> bool:
    """Return True for a fault that only writes SQL in small or in large letters, which mean the same."""
    before, after = ("\n".join(line[1:] for line in _difference(text, fault, sign)) for sign in "-+")
    return before.lower() == after.lower() and re.search(SQL, f"{before}\n{after}") is not None


def _difference(text: MutatedFile, fault: _Fault, signs: str = "+-") -> Iterator[str]:
    """Yield the lines that a fault takes out and puts in."""
    before, after = (_lines(text, name) for name in (f"{fault.name.rpartition('_mutmut_')[0]}_mutmut_orig", fault.name))
    for line in difflib.unified_diff(before, after, n=0, lineterm=""):
        if line[0] in signs and line[:3] not in ("+++", "---") and "__mutmut_" not in line:
            yield line


def _lines(text: MutatedFile, name: str) -> list[str]:
    key = next(key for key in text.line_span_by_function_name if key == name or key.endswith(f".{name}"))
    span = text.line_span_by_function_name[key]
    return textwrap.dedent("\n".join(text.code.split("\n")[span.start - 1 : span.end])).split("\n")


if __name__ == "__main__":
    main()
