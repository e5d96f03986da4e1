"""Edges of `fathom related` that were checked by hand: how many are right, by certainty and language.

    python -m evals.edges --corpora CORPORA
    python -m evals.edges --corpora CORPORA --sample 1 > edges.tsv

Each line of `evals/edges.tsv` is a use of a name and the definition that `related` said it means, with the verdict of
somebody who read both: "right" or "wrong". The lines were drawn by `--sample SEED` (without verdicts): in each
repository symbols in an order of chance, of each at most one edge of each certainty. CORPORA holds the repositories at
the commits that the file names; no text of them is in it.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from codefathom import Engine
from codefathom.errors import UsageError
from codefathom.facts.reasons import SEVERAL_SYMBOLS, notes_inside
from codefathom.types import CALLABLE_KINDS, TYPE_KINDS, Related
from evals.benchmark import HERE, bench_folder, repositories

TABLE = HERE / "edges.tsv"
_USES = ("called by", "references")
# What a seed draws in each of some repositories. With the second, ways were judged that had been found with the first.
_OF_EACH = {1: {"exact": 9, "by-name": 9}, 2: {"exact": 2, "by-name": 7}}
_REPOSITORIES = {
    1: ("starlette", "trpc", "gin", "gson", "axum", "dapper"),
    2: ("click", "redux", "exposed", "vapor", "laravel-framework"),
}
_MOST_EDGES = 5_000


@dataclass(frozen=True, slots=True)
class CheckedEdge:
    """A use of a name, the definition that it was said to mean, and whether that is right."""

    repository: str
    commit: str
    language: str
    certainty: str  # when it was drawn
    n_definitions: int
    symbol: str  # the definition
    path: str  # of the use
    line: int
    name: str
    verdict: str  # "right" or "wrong"


def main() -> None:
    """Compare the table with the present answers, or print a new sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--sample", type=int, choices=sorted(_OF_EACH), metavar="SEED")
    options = parser.parse_args()
    if options.sample is None:
        table = read_table(TABLE)
        print("\n".join(report(table, list(certainties(table, options.corpora)))))
    else:
        write_table(sample(options.corpora, options.sample))


# ---- the table


def read_table(file: Path) -> list[CheckedEdge]:
    """Read the checked edges. Raises ValueError for a verdict that is none."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    for row in rows:
        if row["verdict"] not in ("right", "wrong"):
            raise ValueError(f"{row['path']}:{row['line']} has the verdict {row['verdict']!r}; use right or wrong")
    return [_edge(row) for row in rows]


def _edge(row: Mapping[str, str]) -> CheckedEdge:
    drawn = (row["repository"], row["commit"], row["language"], row["certainty"], int(row["n_definitions"]))
    return CheckedEdge(*drawn, row["symbol"], row["path"], int(row["line"]), row["name"], row["verdict"])


def write_table(edges: Iterable[CheckedEdge]) -> None:
    """Print edges as a table."""
    names = [field.name for field in fields(CheckedEdge)]
    writer = csv.DictWriter(sys.stdout, names, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(edge) for edge in edges)


# ---- the comparison


def certainties(table: Sequence[CheckedEdge], corpora: Path) -> Iterator[str]:
    """Yield the present certainty of each edge, "" for one that is no more; in the order of the table."""
    for repository in dict.fromkeys(edge.repository for edge in table):
        with indexed(corpora / repository) as engine:
            answers: dict[str, Mapping[tuple[str, int, str], Related]] = {}
            for edge in table:
                if edge.repository == repository:
                    if edge.symbol not in answers:
                        answers[edge.symbol] = _uses(engine, edge.symbol)
                    use = answers[edge.symbol].get((edge.path, edge.line, edge.name))
                    yield use.certainty if use is not None else ""


def report(table: Sequence[CheckedEdge], present: Sequence[str]) -> list[str]:
    """Return a table of right edges among all by language and certainty, and those that are no more."""
    counts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for edge, certainty in zip(table, present, strict=True):
        for language in (edge.language, "all"):
            counts[language][certainty, edge.verdict] += 1
    lines = ["| language | exact | by name | no more: right | no more: wrong |", "| --- | --: | --: | --: | --: |"]
    for language in (*sorted(set(counts) - {"all"}), "all"):
        own = counts[language]
        cells = [f"{own[kind, 'right']} of {own[kind, 'right'] + own[kind, 'wrong']}" for kind in ("exact", "by-name")]
        lines.append(f"| {language} | {' | '.join(cells)} | {own['', 'right']} | {own['', 'wrong']} |")
    return lines


# ---- the sample


def sample(corpora: Path, seed: int) -> Iterator[CheckedEdge]:
    """Yield edges without verdicts, drawn by chance; the same seed draws the same from the same answers."""
    chosen = {item.name: item for item in repositories(bench_folder()) if item.name in _REPOSITORIES[seed]}
    for name in _REPOSITORIES[seed]:
        with indexed(corpora / name) as engine:
            drawn = [*_drawn(engine, random.Random(f"{seed} {name}"), _OF_EACH[seed])]
        for symbol, use in sorted(drawn, key=lambda pair: (pair[1].certainty != "exact", pair[1].path, pair[1].line)):
            commit, language = chosen[name].revision, chosen[name].language
            place = (symbol, use.path, use.line, use.name)
            yield CheckedEdge(name, commit, language, use.certainty, use.n_definitions, *place, "")


def _drawn(engine: Engine, chance: random.Random, most: Mapping[str, int]) -> Iterator[tuple[str, Related]]:
    names = Counter(
        item.symbol.qualified_name
        for item in engine.symbols(limit=100_000)
        if item.symbol.kind in CALLABLE_KINDS | TYPE_KINDS
    )
    # A name of two definitions would not tell which of them is meant.
    order = sorted(name for name, n in names.items() if n == 1)
    chance.shuffle(order)
    n_drawn: Counter[str] = Counter()
    for symbol in order:
        uses = list(_uses(engine, symbol).values())
        for certainty in most:
            own = [use for use in uses if use.certainty == certainty]
            if own and n_drawn[certainty] < most[certainty]:
                n_drawn[certainty] += 1
                yield symbol, chance.choice(own)
        if n_drawn.total() == sum(most.values()):
            break


def _uses(engine: Engine, symbol: str) -> Mapping[tuple[str, int, str], Related]:
    """Return the uses of a symbol by place; none for one that is no more there, or has a namesake."""
    try:
        result = engine.related(f"@@{symbol}", limit=_MOST_EDGES)
    except UsageError:
        return {}
    is_several = SEVERAL_SYMBOLS in {note.kind for note in notes_inside(result.limitations)}
    edges = () if is_several else result.edges
    return {(item.path, item.line, item.name): item for item in edges if item.kind in _USES}


@contextmanager
def indexed(root: Path) -> Iterator[Engine]:
    """Give an engine of a repository, with an index that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("INDEX_DIR", "CACHE_DIR", "STATE_DIR"):
            os.environ[f"FATHOM_{name}"] = str(Path(folder) / name)
        with Engine.open(str(root), is_root=True) as engine:
            engine.index()
            yield engine


if __name__ == "__main__":
    main()
