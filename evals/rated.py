"""Questions that readers have rated good: are the places that the answer cited still found?

    python -m evals.rated ratings.json --root FOLDER [--project shop]

`ratings.json` is what the page saves under People, or `GET /ratings` returns (docs/web.md). FOLDER is a project with an
index. With several projects in the file, `--project` names the one that FOLDER holds. Questions about several projects
at once, and answers without a citation, are left out. Bad ratings are counted and listed with their comments only: what
the right places are, nobody knows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from codefathom import Engine
from evals.metrics import CUT, Found, Target, mean, score


class Rated(NamedTuple):
    """A question that somebody has rated, and the places that its answer cites."""

    verdict: str
    question: str
    comment: str
    targets: tuple[Target, ...]


def main(words: Sequence[str] | None = None) -> int:
    """Ask those with a good rating, print a line for each, then the means. Returns 2 where none can be asked."""
    options = _arguments().parse_args(words)
    rated = read(options.ratings, options.project)
    good = [item for item in rated if item.verdict == "good" and item.targets]
    for item in rated:
        if item.verdict == "bad":
            print(f"bad: {item.question}\t{item.comment}")
    if not good:
        print("no question with a good rating and a citation", file=sys.stderr)
        return 2
    with Engine.open(str(options.root)) as engine:
        scores = []
        for item in good:
            found = [
                Found(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line)
                for hit in engine.search(item.question).hits
            ]
            scores.append(score(found, item.targets))
            print(f"good: {item.question}\tNDCG@{CUT} {scores[-1].ndcg:.2f}, recall {scores[-1].recall:.2f}")
    ndcg, recall = mean([one.ndcg for one in scores]), mean([one.recall for one in scores])
    print(f"{len(good)} rated good: NDCG@{CUT} {ndcg:.4f}, recall@{CUT} {recall:.4f}")
    return 0


def read(path: Path, project: str = "") -> list[Rated]:
    """Return the ratings of one project; without its name, those of the only one in the file."""
    ratings = json.loads(path.read_text(encoding="utf-8"))["ratings"]
    return [_rated(item) for item in _of_project(ratings, project)]


def _of_project(ratings: Iterable[dict[str, Any]], project: str) -> list[dict[str, Any]]:
    lone = [item for item in ratings if len(item["projects"]) == 1]
    names = sorted({item["projects"][0] for item in lone})
    if not project and len(names) > 1:
        raise SystemExit(f"the ratings are about {len(names)} projects: name one with --project: {', '.join(names)}")
    return [item for item in lone if not project or item["projects"] == [project]]


def _rated(item: dict[str, Any]) -> Rated:
    targets = [Target(place["path"], place["start_line"], place["end_line"]) for place in item["citations"]]
    return Rated(item["verdict"], item["question"], item["comment"], tuple(targets))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.rated", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ratings", type=Path, help="file with the ratings")
    parser.add_argument("--root", type=Path, required=True, help="folder of the project, with its index")
    parser.add_argument("--project", default="", help="id of the project in the ratings")
    return parser


if __name__ == "__main__":
    sys.exit(main())
