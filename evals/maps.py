"""Maps of projects: how much of what an issue needed later stands in a map of a number of tokens.

    python -m evals.maps --repositories CLONES [--aider PYTHON]

CLONES and BENCH_DIR are those of `evals.localize`. Compared are, at the same number of tokens, the map of the project,
its map for the text of the issue, and outlines in the order of folders: with all symbols, and with paths alone; with
PYTHON, of an environment that has `aider-chat`, also Aider's two maps. Counted are the files that the fix changed, and
the definitions in which it changed lines.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

import codefathom
from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.search.graph.project_map import ProjectMap
from evals.localize import Issue, all_issues, as_reported
from evals.metrics import mean

BUDGETS = (1_000, 2_000, 8_000)


class Shown(NamedTuple):
    """What stands in a map."""

    paths: frozenset[str]
    definitions: frozenset[tuple[str, int]] | None  # (path, line); None where they are not counted


Kind: TypeAlias = Callable[[Engine, Issue, int], Shown]


def main() -> None:
    """Make the maps of every issue and print the shares of its files and definitions in each, in percent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--aider", help="Python of an environment with aider-chat")
    options = parser.parse_args()
    with aider(options.aider) as peers:
        rows = shares(all_issues(), options.repositories, {**_KINDS, **peers})
    for (name, budget), (files, definitions) in rows.items():
        print(f"{name:28} {budget:6} tokens: files {files:5.1f}  definitions {definitions:5.1f}")


def shares(
    issues: Sequence[Issue], repositories: Path, kinds: Mapping[str, Kind]
) -> dict[tuple[str, int], tuple[float, float]]:
    """Return for each kind of map and budget the mean shares of an issue's files and definitions that stand in it."""
    files: dict[tuple[str, int], list[float]] = defaultdict(list)
    definitions: dict[tuple[str, int], list[float]] = defaultdict(list)
    for issue, engine in as_reported(issues, repositories):
        needed = _definitions(engine, issue)
        for budget in BUDGETS:
            for name, show in kinds.items():
                shown = show(engine, issue, budget)
                files[name, budget].append(100 * len(issue.files & shown.paths) / len(issue.files))
                if needed and shown.definitions is not None:
                    definitions[name, budget].append(100 * len(needed & shown.definitions) / len(needed))
    return {key: (mean(values), mean(definitions.get(key, [0.0]))) for key, values in files.items()}


def _definitions(engine: Engine, issue: Issue) -> set[tuple[str, int]]:
    """Return the innermost definitions in which a fix changed lines."""
    places = set()
    for path, line in issue.changed:
        around = [
            item.symbol for item in engine.files.outline(path) if item.symbol.start_line <= line <= item.symbol.end_line
        ]
        if around:
            places.add((path, max(around, key=lambda symbol: symbol.start_line).name_line))
    return places


# ---- kinds of maps


def _map(engine: Engine, _: Issue, budget: int) -> Shown:
    return _shown(engine.map(max_tokens=budget))


def _map_for_issue(engine: Engine, issue: Issue, budget: int) -> Shown:
    return _shown(engine.map(issue.text, max_tokens=budget))


def _shown(project: ProjectMap) -> Shown:
    lines = frozenset((file.path, symbol.line) for file in project.files for symbol in file.symbols)
    return Shown(frozenset(file.path for file in project.files), lines)


def _outline(engine: Engine, _: Issue, budget: int) -> Shown:
    paths = list(_that_fit(((path, _symbols(engine, path)) for path in _paths(engine)), budget))
    lines = frozenset((path, item.symbol.name_line) for path in paths for item in engine.files.outline(path))
    return Shown(frozenset(paths), lines)


def _names(engine: Engine, _: Issue, budget: int) -> Shown:
    return Shown(frozenset(_that_fit(((path, f"{path}\n") for path in _paths(engine)), budget)), frozenset())


def _paths(engine: Engine) -> list[str]:
    return [file.path for file in engine.files.listed("")]


def _symbols(engine: Engine, path: str) -> str:
    outline = engine.files.outline(path)
    return "".join((f"{path}\n", *(f"  {item.symbol.name_line}: {item.symbol.signature}\n" for item in outline)))


def _that_fit(texts: Iterable[tuple[str, str]], budget: int) -> Iterator[str]:
    """Yield the paths of the first texts that have room."""
    n_tokens = 0
    for path, text in texts:
        n_tokens += estimate(text)
        if n_tokens > budget:
            return
        yield path


_KINDS: dict[str, Kind] = {
    "map": _map,
    "map for the issue": _map_for_issue,
    "outline in order of folders": _outline,
    "paths in order of folders": _names,
}


@contextmanager
def aider(python: str | None) -> Iterator[dict[str, Kind]]:
    """Give Aider's maps, without and with the text of the issue; none without its Python."""
    if not python:
        yield {}
        return
    script = Path(__file__).parent / "adapters" / "aider_map.py"
    environ = {**os.environ, "PYTHONPATH": str(Path(codefathom.__file__).parent.parent)}
    with subprocess.Popen(
        [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as process:

        def shown(engine: Engine, text: str, budget: int) -> Shown:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"root": engine.root, "text": text, "max_tokens": budget}) + "\n")
            process.stdin.flush()
            return Shown(frozenset(json.loads(process.stdout.readline())["paths"]), None)

        yield {
            "Aider's map": lambda engine, _, budget: shown(engine, "", budget),
            "Aider's map for the issue": lambda engine, issue, budget: shown(engine, issue.text, budget),
        }


if __name__ == "__main__":
    main()
