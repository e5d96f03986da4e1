"""Our edges beside those of compilers: for each definition the files that use it, as a SCIP index has them.

    python -m evals.compiler_edges --indexes FOLDER [--page docs/benchmarks-agents.md]

FOLDER holds repositories, and beside each its index, made by a command such as these:

    cd FOLDER/redux; npx @sourcegraph/scip-typescript index --infer-tsconfig --output ../redux.scip
    cd FOLDER/click; npx @sourcegraph/scip-python index --project-name click --project-version 0 --output ../click.scip

Counted are the files beside its own that use or import a definition, as the compiler says it. For each definition
`related` is asked as a user asks, without the SCIP index. A file that it lists as exact is right if the compiler has
it, wrong if the compiler says that each of its lines means something else, and else not judged: where a value has no
type, a compiler says nothing. A file that is not exact can be listed by the name, or by an import that nobody could
follow; or it is counted among those in which the name stands. Of many names some are drawn by chance.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from codefathom import Engine
from codefathom.errors import UsageError
from codefathom.facts.reasons import n_standing_elsewhere
from codefathom.stores.catalog.records import CompilerUses
from codefathom.types import Related, RelatedResult
from evals.edges import indexed
from evals.report import table, write_section

_MIN_NAME_CHARS = 3  # as `related` has it
_MOST_EDGES = 100_000
_USES = ("called by", "references", "imported by")
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
    named: frozenset[Pair]  # ours, also by name
    listed: frozenset[Pair]  # ours, also by imports that could not be followed
    counted: frozenset[Place]  # definitions of which the answer counts files in which the name stands
    wrong: frozenset[Pair]  # exact ones of ours that the compiler contradicts

    def row(self) -> tuple[str, ...]:
        """Return the figures of a line of the table."""
        members = frozenset(pair for pair in self.truth if "." in pair[0][1])
        exported = self.truth - members
        counts = (self.n_files, len({place for place, _ in exported}), len(exported))
        right = self.exact & self.truth
        shares = (
            _share(right & exported, exported),
            _share(right - members, (right | self.wrong) - members),
            _share(self.named & exported, exported),
            _share(self._told(exported), exported),
            _share(self.listed & members, members),
        )
        n_open = len(self.exact - self.truth - self.wrong)
        return (self.repository, self.tool, *map(str, counts), *(f"{one:.3f}" for one in shares), str(n_open))

    def _told(self, pairs: frozenset[Pair]) -> frozenset[Pair]:
        return frozenset(pair for pair in pairs if pair in self.listed or pair[0] in self.counted)


def _share(part: frozenset[Pair], whole: frozenset[Pair]) -> float:
    return len(part) / max(len(whole), 1)


HEAD = (
    *("repository", "compiler", "files", "exported names", "pairs", "exact: recall", "exact: precision"),
    *("listed: recall", "listed or counted: recall", "members, listed: recall", "open"),
)


def main() -> int:
    """Measure the repositories of a folder, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--indexes", type=Path, required=True, help="folder with repositories and their indexes")
    parser.add_argument("--only", default="", help="names of repositories, with commas between them")
    parser.add_argument(
        "--names", type=int, default=60, help="exported names of a repository; a quarter as many members"
    )
    parser.add_argument("--examples", type=int, default=0, help="pairs of each kind to print for each repository")
    parser.add_argument("--page", default="", help="page to write into")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    measured = []
    for path in sorted(options.indexes.glob("*.scip")):
        if path.with_suffix("").is_dir() and (not only or path.stem in only):
            with indexed(path.with_suffix("")) as engine:
                measured.append(compared(engine, path, options.names, options.examples))
            print(*measured[-1].row(), file=sys.stderr)
    text = table(HEAD, [item.row() for item in measured])
    print(text)
    if options.page:
        write_section(Path(options.page), "make bench-graph", text)
    return 0


def compared(engine: Engine, scip: Path, n_names: int, n_examples: int = 0) -> Measured:
    """Import an index, and compare what it says with what `related` lists without it."""
    report = engine.import_scip([str(scip)])
    catalog = engine.opened.catalog
    files = catalog.compiler_paths()
    written = _of_compiler(catalog.compiler_uses_in, files)
    beside = {pair: lines for pair, lines in written.items() if pair[1] != pair[0][0]}
    places = _drawn({place for place, _ in beside}, n_names)
    truth = {pair: lines for pair, lines in beside.items() if pair[0] in places}
    told = _told(catalog.compiler_uses_in, files)
    engine.remove_scip()
    answers = {place: answer for place in sorted(places) if (answer := _answer(engine, place)) is not None}
    ours = [(place, edge) for place, answer in answers.items() for edge in _uses(answer, place[0], files)]
    exact = _pairs(ours, lambda edge: edge.certainty == "exact" and not edge.unfollowed)
    named = _pairs(ours, lambda edge: not edge.unfollowed)
    listed = _pairs(ours, lambda edge: True)
    wrong = frozenset(pair for pair in set(exact) - set(beside) if all((pair[1], *use) in told for use in exact[pair]))
    groups = (("missing", set(truth) - set(listed)), ("not exact", set(truth) & set(listed) - set(exact)))
    for title, pairs in (*groups, ("wrong", wrong)):
        for pair in sorted(pairs)[:n_examples]:
            print(title, *pair, (truth.get(pair) or exact.get(pair) or [])[:3], file=sys.stderr)
    counted = frozenset(place for place, answer in answers.items() if n_standing_elsewhere(answer.notes))
    sets = (frozenset(truth), frozenset(exact), frozenset(named), frozenset(listed), counted, wrong)
    return Measured(scip.stem, ", ".join(report.tools), len(files), *sets)


def _drawn(places: set[Place], n_names: int) -> set[Place]:
    """Return some definitions, always the same ones of the same."""
    chance = random.Random(1)
    members = sorted(place for place in places if "." in place[1])
    exported = sorted(places.difference(members))
    n_exported, n_members = min(len(exported), n_names), min(len(members), n_names // 4)
    return {*chance.sample(exported, n_exported), *chance.sample(members, n_members)}


def _of_compiler(uses_in: UsesIn, files: frozenset[str]) -> Pairs:
    """Return each use of a definition in the files that a compiler has read."""
    pairs: Pairs = defaultdict(list)
    for path in sorted(files):
        for item in uses_in(path):
            for use in item.uses:
                if item.target_path and len(use.target.rpartition(".")[2]) >= _MIN_NAME_CHARS:
                    pairs[(item.target_path, use.target), path].append((use.name, use.line))
    return pairs


def _answer(engine: Engine, place: Place) -> RelatedResult | None:
    """Return what `related` says of a definition; None for one that we do not have."""
    path, name = place
    lines = [item.name_line for item in engine.opened.catalog.symbols_of(path) if item.qualified_name == name]
    try:
        return engine.related(f"@{path}:{lines[0]}", limit=_MOST_EDGES, direction="callers") if lines else None
    except UsageError:
        return None


def _uses(answer: RelatedResult, path: str, files: frozenset[str]) -> list[Related]:
    """Return the uses in the other files that the compiler has read."""
    return [edge for edge in answer.edges if edge.kind in _USES and edge.path != path and edge.path in files]


def _pairs(edges: Sequence[tuple[Place, Related]], is_wanted: Callable[[Related], bool]) -> Pairs:
    pairs: Pairs = defaultdict(list)
    for place, edge in edges:
        if is_wanted(edge):
            pairs[place, edge.path].append((edge.name, edge.line))
    return pairs


def _told(uses_in: UsesIn, files: frozenset[str]) -> set[tuple[str, str, int]]:
    """Return the path, name and line of each use of which a compiler says what it means, be it of elsewhere."""
    groups = (item for path in files for item in uses_in(path))
    return {(item.path, use.name, use.line) for item in groups for use in item.uses if use.kind != "import"}


if __name__ == "__main__":
    sys.exit(main())
