"""The heading of a document as a question: how often its document comes first, before all the code.

    python -m evals.headings --corpora CORPORA [--index FOLDER] [--misses]

Code answers most questions, so documents count less; this says whether they are still found by someone who asks for
one. Asked are headings of 4 to 10 words that stand in one document only, at most 15 of a repository, and none of
histories of changes. Figures are means over repositories.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from codefathom import Engine
from evals.metrics import Found, Scores, Target, mean_of_groups, score

MOST_HEADINGS = 15  # of one repository
_FEWEST_WORDS, _MOST_WORDS = 4, 10
_DOCUMENTS = (".md", ".mdx", ".rst")
_PLAIN = re.compile(r"[A-Za-z0-9' ,.?-]+")  # without what a question marks filters with
_HISTORIES = ("change", "history", "news", "release")  # their headings are versions


class Outcome(NamedTuple):
    """What was found for a heading."""

    repository: str
    heading: str
    path: str
    scores: Scores
    first: str  # path of the first hit


def main() -> None:
    """Ask the headings of all repositories, and print how well their documents were found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True, help="folder of repositories")
    parser.add_argument("--index", type=Path, help="folder where the indexes stay for the next run")
    parser.add_argument("--misses", action="store_true", help="also print what came first in the place of a document")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        os.environ["FATHOM_INDEX_DIR"] = str(options.index or folder)
        roots = sorted(filter(Path.is_dir, options.corpora.iterdir()))
        outcomes = [outcome for root in roots for outcome in measured(root)]
    for one in outcomes if options.misses else ():
        if not one.scores.first:
            print(f"{one.repository}: {one.heading} ({one.path}) after {one.first}")
    for line in report(outcomes):
        print(line)


def measured(root: Path) -> Iterator[Outcome]:
    """Yield what is found for the headings of a repository."""
    with Engine.open(str(root)) as engine:
        engine.index()
        for heading, path in sample(headings(engine), MOST_HEADINGS):
            hits = engine.search(heading).hits
            found = [Found(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits]
            first = found[0].path if found else "nothing"
            yield Outcome(root.name, heading, path, score(found, [Target(path)]), first)


def headings(engine: Engine) -> list[tuple[str, str]]:
    """Return the headings that stand in one document only, each with its path, in order."""
    paths: dict[str, list[str]] = defaultdict(list)
    for document in engine.files.listed():
        name = document.path.rpartition("/")[2].lower()
        if name.endswith(_DOCUMENTS) and not name.startswith(_HISTORIES):
            for item in engine.files.outline(document.path):
                heading = item.symbol.name.strip()
                if _PLAIN.fullmatch(heading) and _FEWEST_WORDS <= len(heading.split()) <= _MOST_WORDS:
                    paths[heading].append(document.path)
    return [(heading, path) for heading, (path, *others) in sorted(paths.items()) if not others]


def sample(found: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return at most so many headings, the same in each run."""
    return random.Random(1).sample(found, min(most, len(found)))


def report(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of the table."""
    ndcg = mean_of_groups(outcomes, lambda one: one.repository, lambda one: one.scores.ndcg)
    first = mean_of_groups(outcomes, lambda one: one.repository, lambda one: one.scores.first)
    yield "| headings | NDCG@10 | first |"
    yield "| --: | --: | --: |"
    yield f"| {len(outcomes)} | {ndcg:.3f} | {first:.3f} |"


if __name__ == "__main__":
    main()
