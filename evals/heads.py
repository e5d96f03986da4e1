"""The name of a type alone: how often the head of that type comes first, not a constructor, member or namesake.

    python -m evals.heads --corpora CORPORA [--index FOLDER] [--misses]
    python -m evals.heads --mined ORDER  # the repositories of set K, see training/order_sources.json

Searched are names of types that are defined in one file only, as chunks and as symbols. The head is the place that
holds the line on which the type is declared; as a symbol it has to be the type itself. Figures are means over
repositories. In the row `with namesakes` stand the types that contain a constructor, or share their name with other
symbols.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from codefathom import Engine
from codefathom.types import Hit, Level, Symbol
from evals.metrics import mean_of_groups
from evals.mined import KEPT_APART, folders

LEVELS: tuple[Level, ...] = ("chunk", "symbol")
MOST_NAMES = 60  # of one repository, evenly over the alphabet
# Types that have members; other names of a type are none of their own.
_TYPES = frozenset(("class", "interface", "struct", "enum", "trait"))
_CONSTRUCTORS = frozenset(("__init__", "__construct", "initialize", "constructor", "init", "new", "this"))


class TypeName(NamedTuple):
    """The name of a type, and its definitions in its file."""

    name: str
    path: str
    heads: tuple[Symbol, ...]
    has_namesakes: bool  # other symbols have this name, or a constructor lies in the type


class Outcome(NamedTuple):
    """What came first for the name of a type."""

    repository: str
    type_name: TypeName
    is_head: dict[Level, bool]
    places: dict[Level, str]  # of the first hit: path, lines and symbol


def main() -> None:
    """Search the names of the types of all repositories, and print the share of heads in the first place."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    trees = parser.add_mutually_exclusive_group(required=True)
    trees.add_argument("--corpora", type=Path, help="folder of repositories")
    trees.add_argument("--mined", type=Path, help="folder of training/order_questions.py, of which set K is searched")
    parser.add_argument("--index", type=Path, help="folder where the indexes stay for the next run")
    parser.add_argument("--misses", action="store_true", help="also print what came first in the place of a head")
    options = parser.parse_args()
    roots = set_k(options.mined) if options.mined else sorted(filter(Path.is_dir, options.corpora.iterdir()))
    with TemporaryDirectory() as folder:
        os.environ["FATHOM_INDEX_DIR"] = str(options.index or folder)
        outcomes = [outcome for root in roots for outcome in measured(root)]
    for line in chain(_misses(outcomes) if options.misses else (), report(outcomes)):
        print(line)


def set_k(mined: Path) -> list[Path]:
    """Return the trees of the mined repositories that no decision may be based on."""
    return [folder / "tree" for _, folder in folders(mined, KEPT_APART)]


def measured(root: Path) -> Iterator[Outcome]:
    """Yield what comes first for the name of each type of a repository."""
    name = root.parent.name if root.name == "tree" else root.name
    with Engine.open(str(root)) as engine:
        engine.index()
        for type_name in sample(type_names(engine), MOST_NAMES):
            first = {level: engine.search(type_name.name, level=level, limit=1).hits for level in LEVELS}
            is_head = {level: bool(hits) and holds_head(hits[0], type_name, level) for level, hits in first.items()}
            yield Outcome(name, type_name, is_head, {level: _place(hits) for level, hits in first.items()})


def type_names(engine: Engine) -> list[TypeName]:
    """Return the names of types that are defined in one file only, in order."""
    definitions: dict[str, list[tuple[str, Symbol]]] = defaultdict(list)
    for document in engine.files.listed():
        for item in engine.files.outline(document.path):
            definitions[item.symbol.name].append((document.path, item.symbol))
    members = {symbol.qualified_name for items in definitions.values() for _, symbol in items}
    result = []
    for name, items in sorted(definitions.items()):
        heads = [(path, symbol) for path, symbol in items if symbol.kind in _TYPES]
        if name.isidentifier() and len({path for path, _ in heads}) == 1:
            symbols = tuple(symbol for _, symbol in heads)
            has_namesakes = len(items) > len(heads) or any(_has_constructor(symbol, members) for symbol in symbols)
            result.append(TypeName(name, heads[0][0], symbols, has_namesakes))
    return result


def _has_constructor(symbol: Symbol, members: Set[str]) -> bool:
    return any(f"{symbol.qualified_name}.{name}" in members for name in _CONSTRUCTORS)


def sample(names: Sequence[TypeName], most: int) -> list[TypeName]:
    """Return at most so many of some names, evenly from the first to the last."""
    step = max(1.0, len(names) / most)
    return [names[int(place * step)] for place in range(min(most, len(names)))]


def holds_head(hit: Hit, type_name: TypeName, level: Level) -> bool:
    """Say whether a hit is the head of a type."""
    if hit.chunk.path != type_name.path:
        return False
    if level == "symbol":
        return any((hit.chunk.start_line, hit.chunk.kind) == (head.start_line, head.kind) for head in type_name.heads)
    return any(hit.chunk.start_line <= head.name_line <= hit.chunk.end_line for head in type_name.heads)


def report(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| names | number | chunk | symbol |"
    yield "| --- | --: | --: | --: |"
    for label, rest in {
        "all types": outcomes,
        "with namesakes": [one for one in outcomes if one.type_name.has_namesakes],
    }.items():
        yield f"| {label} | {len(rest)} | " + " | ".join(f"{_share(rest, level):.3f}" for level in LEVELS) + " |"


def _share(outcomes: Sequence[Outcome], level: Level) -> float:
    return mean_of_groups(outcomes, lambda one: one.repository, lambda one: float(one.is_head[level]))


def _misses(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for one in outcomes:
        head = f"{one.type_name.name} ({one.type_name.path}:{one.type_name.heads[0].start_line})"
        for level in (level for level, is_head in one.is_head.items() if not is_head):
            yield f"{one.repository}, {level}: {head} after {one.places[level]}"


def _place(hits: Sequence[Hit]) -> str:
    if not hits:
        return "nothing"
    chunk = hits[0].chunk
    return f"{chunk.path}:{chunk.start_line}-{chunk.end_line} {chunk.kind} {chunk.symbol}"


if __name__ == "__main__":
    main()
