"""What `fathom lsp` answers an editor, beside what a compiler says: definitions and references of drawn names.

    python -m evals.lsp_truth --indexes FOLDER [--page docs/editors.md]

FOLDER holds repositories, and beside each its SCIP index, as `evals/compiler_edges.py` says; the server does not know
these indexes. Of a repository some names are drawn by chance that stand outside of classes and functions and that
another file uses. The definition is asked for at three uses of each at most, all in other files, and is right where
the first place is one at which the compiler has it. The references are asked for at the definition. A place is right
where the compiler has the same symbol, wrong where it has another one, and else open: a compiler says nothing of values
without a type, and may give what tests import the name of a copy of the project that it has not read.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from codefathom.index.scip_import import package_of
from codefathom.source.scip import UTF16, ScipFile
from evals.edges import indexed
from evals.editor import At, Editor
from evals.report import table, write_section

_TOP_LEVEL = re.compile(r"(?:^|[/`])(\w{3,})(?:#|\.|\(\w*\)\.)$")  # the end of a symbol: no member, no parameter
_MOST_ASKED = 3  # uses of a name
HEAD = (
    *("repository", "names", "definition: asked", "right", "wrong", "none"),
    *("references: of the compiler", "recall", "precision", "open"),
)


class Truth(NamedTuple):
    """What a compiler says of a repository."""

    definitions: Mapping[str, Sequence[At]]  # by symbol
    uses: Mapping[str, Sequence[At]]
    symbols: Mapping[At, frozenset[str]]  # what stands at a place, as far as it is known what that is


@dataclass
class Counts:
    """The answers about the names of a repository."""

    repository: str
    n_names: int = 0
    definitions: dict[str, list[tuple[str, At]]] = field(default_factory=lambda: defaultdict(list))
    references: dict[str, list[tuple[str, At]]] = field(default_factory=lambda: defaultdict(list))

    def row(self) -> tuple[str, ...]:
        """Return the figures of a line of the table."""
        right, wrong, none = (len(self.definitions[kind]) for kind in ("right", "wrong", "none"))
        found, missed, false, is_open = (len(self.references[kind]) for kind in ("right", "missing", "wrong", "open"))
        of_definitions = (right + wrong + none, right, wrong, none)
        shares = (f"{found / max(found + missed, 1):.3f}", f"{found / max(found + false, 1):.3f}")
        return (self.repository, *map(str, (self.n_names, *of_definitions, found + missed)), *shares, str(is_open))


def main() -> int:
    """Measure the repositories of a folder, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--indexes", type=Path, required=True, help="folder with repositories and their indexes")
    parser.add_argument("--only", default="", help="names of repositories, with commas between them")
    parser.add_argument("--names", type=int, default=60, help="names of a repository")
    parser.add_argument("--examples", type=int, default=0, help="places of each kind to print for each repository")
    parser.add_argument("--page", default="", help="page to write into")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    rows = []
    for path in sorted(options.indexes.glob("*.scip")):
        root = path.with_suffix("")
        if root.is_dir() and (not only or path.stem in only):
            with indexed(root) as engine:
                truth = read(path, root, engine.opened.catalog.entries())
                counts = compared(root, truth, options.names)
            rows.append(counts.row())
            print(*counts.row(), file=sys.stderr)
            for line in examples(counts, options.examples):
                print(line, file=sys.stderr)
    text = table(HEAD, rows)
    print(text)
    if options.page:
        write_section(Path(options.page), "python -m evals.lsp_truth", text)
    return 0


def compared(root: Path, truth: Truth, n_names: int) -> Counts:
    """Ask a server about some names of a repository, and compare its answers with a compiler's."""
    symbols = drawn(truth, n_names)
    counts = Counts(root.name, len(symbols))
    editor = Editor(root)
    for symbol in symbols:
        _definitions(editor, truth, symbol, counts)
        _references(editor, truth, symbol, counts)
    editor.close()
    return counts


def read(scip: Path, root: Path, paths: Container[str]) -> Truth:
    """Return what an index says of some files of a repository, where the words there are those that it means."""
    definitions: dict[str, list[At]] = defaultdict(list)
    uses: dict[str, list[At]] = defaultdict(list)
    symbols: dict[At, set[str]] = defaultdict(set)
    defined: set[str] = set()
    file = ScipFile(str(scip))
    for document in file.documents():
        if document.path not in paths:
            continue
        lines = (root / document.path).read_text("utf-8", "replace").split("\n")
        for item in document.occurrences:
            name, line = _TOP_LEVEL.search(item.symbol), lines[item.line - 1]
            at = At(document.path, item.line, item.start)
            if item.end > item.start:  # a file stands at its beginning
                symbols[at].add(item.symbol)
            if document.columns not in (0, UTF16) and not line.isascii():
                continue
            if name and line[item.start : item.end].partition(" as ")[0] == name[1]:
                (definitions if item.is_definition else uses)[item.symbol].append(at)
            defined.update([item.symbol] if item.is_definition else ())
    file.close()
    packages = {package_of(symbol) for symbol in defined}
    told = {
        at: {one for one in items if one in defined or package_of(one) not in packages} for at, items in symbols.items()
    }
    return Truth(definitions, uses, {at: frozenset(items) for at, items in told.items() if items})


def drawn(truth: Truth, n_names: int) -> list[str]:
    """Return some symbols that another file uses, always the same ones of the same."""
    choices = [
        symbol
        for symbol, places in sorted(truth.definitions.items())
        if {at.path for at in truth.uses.get(symbol, ())} - {at.path for at in places}
    ]
    return sorted(random.Random(1).sample(choices, min(n_names, len(choices))))


def _definitions(editor: Editor, truth: Truth, symbol: str, counts: Counts) -> None:
    places = truth.definitions[symbol]
    others = [at for at in truth.uses[symbol] if at.path not in {place.path for place in places}]
    for at in random.Random(1).sample(others, min(_MOST_ASKED, len(others))):
        answer = editor.places(editor.at("definition", at))
        kind = "none" if not answer else "right" if answer[0] in places else "wrong"
        counts.definitions[kind].append((symbol, at))


def _references(editor: Editor, truth: Truth, symbol: str, counts: Counts) -> None:
    place = truth.definitions[symbol][0]
    # With declarations: scip-python calls the further overloads of a function uses, and scip-typescript definitions.
    context = {"includeDeclaration": True}
    definitions = set(truth.definitions[symbol])
    answer = set(editor.places(editor.at("references", place, context=context))) - definitions
    same = truth.symbols[place]  # a class and its constructor are two symbols at one place
    uses = {at for one in same for at in truth.uses.get(one, ())} - definitions
    for at in sorted(answer | uses):
        counts.references[_kind(at, answer, uses, truth)].append((symbol, at))


def _kind(at: At, answer: set[At], uses: set[At], truth: Truth) -> str:
    if at in uses:
        return "right" if at in answer else "missing"
    return "wrong" if at in truth.symbols else "open"


def examples(counts: Counts, n: int) -> Iterable[str]:
    """Yield some places of each kind that is not right."""
    for what, kinds in (("definition", counts.definitions), ("references", counts.references)):
        for kind, places in kinds.items():
            if kind != "right":
                yield from (f"{what} {kind}: {at.path}:{at.line}:{at.column} {symbol}" for symbol, at in places[:n])


if __name__ == "__main__":
    sys.exit(main())
