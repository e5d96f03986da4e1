"""Commits and the files that they changed → the tests that change together with some files, more than usual. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from codefathom.facts.paths import has_tests

_PRIOR_COMMITS = 2.0  # that speak for the usual share of a test, so that few commits tell little


def changed_together(commits: Iterable[Collection[str]], paths: Collection[str]) -> Mapping[str, float]:
    """Return by test file the share of commits of one of the files that changed the test, too, from 0 to 1.

    The share of all commits that changed the test is taken off: a test that changes with everything tells nothing.
    Commits that change tests alone do not count.
    """
    of_all: Counter[str] = Counter()
    of_file: dict[str, Counter[str]] = {path: Counter() for path in paths if not has_tests(path)}
    n_of_file: Counter[str] = Counter()
    n_all = 0
    for commit in commits:
        tests = [path for path in commit if has_tests(path)]
        if len(tests) == len(commit):
            continue
        n_all += 1
        of_all.update(tests)
        for path in of_file.keys() & set(commit):
            n_of_file[path] += 1
            of_file[path].update(tests)
    shares: dict[str, float] = {}
    for path, together in of_file.items():
        for test, n in together.items():
            share = (n - n_of_file[path] * of_all[test] / n_all) / (n_of_file[path] + _PRIOR_COMMITS)
            shares[test] = max(shares.get(test, 0.0), share)
    return shares
