"""Our edges beside those of compilers: for each definition the files that use it, as a SCIP index has them.

    python -m evals.compiler_edges --indexes FOLDER [--page docs/benchmarks-agents.md]

FOLDER holds repositories, and beside each its index, made by a command such as these:

    cd FOLDER/redux; npx @sourcegraph/scip-typescript index --infer-tsconfig --output ../redux.scip
    cd FOLDER/click; npx @sourcegraph/scip-python index --project-name click --project-version 0 --output ../click.scip

Counted are pairs of a definition and another file that uses or imports it, among the files that the index describes. A
pair of ours is right if the compiler has it, wrong if the compiler says that each of these lines means something else,
and else not judged: where a value has no type, a compiler says nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from codefathom import Engine
from codefathom.search.graph.resolved_graph import ResolvedGraph
from codefathom.stores.catalog.records import CompilerUses
from codefathom.types import Certainty
from evals.edges import indexed
from evals.report import table, write_section

_MIN_NAME_CHARS = 3  # as `related` has it
UsesIn: TypeAlias = Callable[[str], Sequence[CompilerUses]]
Place: TypeAlias = tuple[str, str]  # path and qualified name of a definition
Pair: TypeAlias = tuple[Place, str]  # with the path of a file that uses it
Pairs: TypeAlias = dict[Pair, list[tuple[str, int]]]  # with the names and lines there


class Measured(NamedTuple):
    """The pairs of one repository."""

    repository: str
    tool: str
    n_files: int
    truth: frozenset[Pair]  # pairs that the compiler has
    exact: frozenset[Pair]  # ours, by scope or import
    seen: frozenset[Pair]  # ours, also by name
    wrong: frozenset[Pair]  # exact ones of ours that the compiler contradicts

    def row(self) -> tuple[str, ...]:
        """Return the figures of a line of the table."""
        members = frozenset(pair for pair in self.truth if "." in pair[0][1])
        counts = (self.n_files, len({place for place, _ in self.truth}), len(self.truth))
        right = self.exact & self.truth
        shares = (
            _share(right - members, self.truth - members),
            _share(right & members, members),
            _share(right, right | self.wrong),
            _share(self.seen & self.truth, self.truth),
        )
        n_open = len(self.exact - self.truth - self.wrong)
        return (self.repository, self.tool, *map(str, counts), *(f"{one:.3f}" for one in shares), str(n_open))


def _share(part: frozenset[Pair], whole: frozenset[Pair]) -> float:
    return len(part) / max(len(whole), 1)


HEAD = (
    *("repository", "compiler", "files", "names", "pairs"),
    *("exact: recall, exported", "exact: recall, members", "exact: precision", "all: recall", "open"),
)


def main() -> int:
    """Measure the repositories of a folder, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--indexes", type=Path, required=True, help="folder with repositories and their indexes")
    parser.add_argument("--examples", type=int, default=0, help="pairs of each kind to print for each repository")
    parser.add_argument("--page", default="", help="page to write into")
    options = parser.parse_args()
    measured = []
    for path in sorted(options.indexes.glob("*.scip")):
        if path.with_suffix("").is_dir():
            with indexed(path.with_suffix("")) as engine:
                measured.append(compared(engine, path, options.examples))
    text = table(HEAD, [item.row() for item in measured])
    print(text)
    if options.page:
        write_section(Path(options.page), "make bench-graph", text)
    return 0


def compared(engine: Engine, scip: Path, n_examples: int = 0) -> Measured:
    """Import an index, and compare what it says with what the parser sees."""
    report = engine.import_scip([str(scip)])
    catalog = engine.opened.catalog
    files = catalog.compiler_paths()
    written = _of_compiler(catalog.compiler_uses_in, files)
    truth = {pair: lines for pair, lines in written.items() if pair[1] != pair[0][0]}
    ours = ResolvedGraph(catalog)
    exact, seen = _ours(ours, truth, files, ("exact",)), _ours(ours, truth, files, ("exact", "by-name"))
    told = _told(catalog.compiler_uses_in, files)
    wrong = frozenset(pair for pair in set(exact) - set(truth) if all((pair[1], *use) in told for use in exact[pair]))
    for title, pairs in (("missing", set(truth) - set(seen)), ("wrong", wrong)):
        for pair in sorted(pairs)[:n_examples]:
            print(title, *pair, (truth.get(pair) or exact.get(pair) or [])[:3], file=sys.stderr)
    tools = ", ".join(report.tools)
    return Measured(scip.stem, tools, len(files), frozenset(truth), frozenset(exact), frozenset(seen), wrong)


def _of_compiler(uses_in: UsesIn, files: frozenset[str]) -> Pairs:
    """Return each use of a definition in the files that a compiler has read."""
    pairs: Pairs = defaultdict(list)
    for path in sorted(files):
        for item in uses_in(path):
            for use in item.uses:
                if item.target_path and len(use.target.rpartition(".")[2]) >= _MIN_NAME_CHARS:
                    pairs[(item.target_path, use.target), path].append((use.name, use.line))
    return pairs


def _ours(graph: ResolvedGraph, truth: Pairs, files: frozenset[str], known: tuple[Certainty, ...]) -> Pairs:
    """Return our uses and imports of the names that the compiler has met, in the files that it has read."""
    pairs: Pairs = defaultdict(list)
    for name in sorted({qualified.rpartition(".")[2] for (_, qualified), _ in truth}):
        for use, targets in (*graph.resolved_uses(name), *graph.imports_named(name)):
            if targets.certainty in known and use.path in files and not targets.unfollowed:
                for place in targets.definitions.names:
                    if place[0] in files and place[0] != use.path:
                        pairs[place, use.path].append((use.reference.name, use.reference.line))
    return pairs


def _told(uses_in: UsesIn, files: frozenset[str]) -> set[tuple[str, str, int]]:
    """Return the path, name and line of each use of which a compiler says what it means, be it of elsewhere."""
    groups = (item for path in files for item in uses_in(path))
    return {(item.path, use.name, use.line) for item in groups for use in item.uses if use.kind != "import"}


if __name__ == "__main__":
    sys.exit(main())
