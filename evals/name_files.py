"""Files in which a name stands as code, beside those that `related` lists or counts.

    python -m evals.name_files --corpora FOLDER [FOLDER …] [--only NAME,…] [--page docs/benchmarks-agents.md]

Of each repository some names are drawn by chance that it defines exactly once. The files in which such a name stands as
code are found by the syntax trees of all files: words outside of comments and texts. Each of them but the file of the
definition must be listed by `fathom related @@NAME`, or be among the files that the answer counts.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Node, Parser

from codefathom import Engine
from codefathom.facts.languages import CODE
from codefathom.facts.reasons import n_standing_elsewhere
from codefathom.parse.machine_code import GrammarError, load_language
from codefathom.types import CALLABLE_KINDS, TYPE_KINDS, FoundSymbol
from evals.edges import indexed
from evals.report import table, write_section

HEAD = ("language", "repositories", "names", "files with the name", "listed", "listed or counted", "listed, exact")
_MOST_NAMES = 60  # of one language in one repository
_MOST_EDGES = 100_000
_MIN_NAME_CHARS = 4
_WORD = re.compile(rb"[^\W\d]\w*")
_NO_CODE = re.compile(r"comment|string|char|heredoc|regex|template_literal|nowdoc|text")
_CODE_INSIDE = re.compile(r"interpolat|substitution|embedded|expression|expansion|variable_name")


class Counts(NamedTuple):
    """The files with names of one language in one repository."""

    repository: str
    n_names: int
    n_files: int
    n_listed: int
    n_told: int
    n_exact: int


def main() -> int:
    """Measure the repositories of some folders, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, nargs="+", required=True, help="folders with repositories")
    parser.add_argument("--only", default="", help="names of repositories, with commas between them")
    parser.add_argument("--examples", type=int, default=0, help="files to print for each repository that are not told")
    parser.add_argument("--page", default="", help="page to write into")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    counts: dict[str, list[Counts]] = defaultdict(list)
    for root in sorted(path for folder in options.corpora for path in folder.iterdir() if path.is_dir()):
        if not only or root.name in only:
            with indexed(root) as engine:
                for language, own in _counted(engine, root.name, options.examples):
                    counts[language].append(own)
                    print(language, own, file=sys.stderr, flush=True)
    text = table(HEAD, [_row(language, own) for language, own in sorted(counts.items())])
    print(text)
    if options.page:
        write_section(Path(options.page), "make bench-graph (names)", text)
    return 0


def _row(language: str, counts: Sequence[Counts]) -> tuple[str, ...]:
    n_files = max(sum(one.n_files for one in counts), 1)
    sums = (sum(one.n_listed for one in counts), sum(one.n_told for one in counts), sum(one.n_exact for one in counts))
    shares = [one / n_files for one in sums]
    numbers = (len(counts), sum(one.n_names for one in counts), n_files)
    return (language, *map(str, numbers), *(f"{share:.3f}" for share in shares))


def _counted(engine: Engine, repository: str, n_examples: int) -> Iterator[tuple[str, Counts]]:
    names = _names(engine, repository)
    places = _places(engine, {name for own in names.values() for name in own})
    for language, symbols in sorted(names.items()):
        n_files = n_listed = n_told = n_exact = 0
        for name, symbol in symbols.items():
            files = places[name] - {symbol.path}
            answer = engine.related(f"@{symbol.path}:{symbol.symbol.name_line}", limit=_MOST_EDGES, direction="callers")
            listed = {edge.path for edge in answer.edges}
            n_more = n_standing_elsewhere(answer.notes)
            missing = files - listed
            n_files, n_listed = n_files + len(files), n_listed + len(files & listed)
            n_told += len(files) if n_more >= len(missing) else len(files & listed)
            n_exact += len(files & {edge.path for edge in answer.edges if edge.certainty == "exact"})
            for path in sorted(missing)[:n_examples]:
                print("not listed", "counted" if n_more else "not told", language, name, path, file=sys.stderr)
        if n_files:
            yield language, Counts(repository, len(symbols), n_files, n_listed, n_told, n_exact)


def _names(engine: Engine, repository: str) -> Mapping[str, Mapping[str, FoundSymbol]]:
    """Return by language some names that are defined once, always the same ones, each with its definition."""
    symbols = [item for item in engine.symbols(limit=1_000_000) if item.language in CODE]
    n_of = Counter(item.symbol.name for item in symbols)
    single: dict[str, dict[str, FoundSymbol]] = defaultdict(dict)
    for item in sorted(symbols, key=lambda item: (item.path, item.symbol.start_line)):
        name = item.symbol.name
        is_word = len(name) >= _MIN_NAME_CHARS and _WORD.fullmatch(name.encode())
        if is_word and n_of[name] == 1 and item.symbol.kind in CALLABLE_KINDS | TYPE_KINDS | {"constant"}:
            single[item.language][name] = item
    chance = random.Random(repository)
    return {
        language: {name: own[name] for name in chance.sample(sorted(own), min(len(own), _MOST_NAMES))}
        for language, own in single.items()
    }


def _places(engine: Engine, names: set[str]) -> Mapping[str, set[str]]:
    """Return the files in which each name stands as code."""
    catalog = engine.opened.catalog
    places: dict[str, set[str]] = defaultdict(set)
    for path, language in catalog.languages().items():
        if language in CODE:
            data = catalog.text(path).encode()
            found = names.intersection(word.decode("utf-8", "replace") for word in _WORD.findall(data))
            for name in found and found & _words(data, language):
                places[name].add(path)
    return places


def _words(data: bytes, language: str) -> set[str]:
    """Return the words of a text that stand outside of comments and texts; none without a grammar."""
    try:
        tree = Parser(load_language(language)).parse(data)
    except (GrammarError, LookupError, ValueError, OSError):
        return set()
    words: set[str] = set()
    stack: list[tuple[Node, bool]] = [(tree.root_node, True)]
    while stack:
        node, is_code = stack.pop()
        if node.is_named:
            is_code = bool(_CODE_INSIDE.search(node.type)) or (is_code and not _NO_CODE.search(node.type))
        if node.child_count:
            stack += [(child, is_code) for child in node.children]
        elif is_code:
            found = _WORD.findall(data[node.start_byte : node.end_byte])
            words.update(word.decode("utf-8", "replace") for word in found)
    return words


if __name__ == "__main__":
    sys.exit(main())
