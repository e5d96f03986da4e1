"""One question to several repositories of the development benchmark at once: how well the lists of hits are merged.

Each question goes to its own repository and to others, chosen with a fixed seed. Hits are merged as the product
does, by score and by rank, and scored with NDCG@10 against the places of the question's own repository.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from codefathom import Engine
from codefathom.search.federation import ProjectHit, merge
from codefathom.types import SearchResult
from evals.benchmark import CHINESE, Corpus, Question, bench_folder, development, lay
from evals.metrics import Found, Target, score
from evals.report import number, table
from evals.run import REPOSITORY

N_HITS = 15
SIZES = (1, 2, 5, 21)

Results = Mapping[str, SearchResult]


def main(words: Sequence[str] | None = None) -> int:
    """Print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", action="append", default=[], help="only these repositories")
    names = arguments.parse_args(words).corpus
    corpora = development(bench_folder(), Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora"), names)
    with TemporaryDirectory(prefix="fathom-several-") as folder:
        asked_of_all = list(_results(corpora, Path(folder)))
    rows = [
        [f"{size}", f"{wording}", *(number(_quality(asked_of_all, size, wording, way), ".4f") for way in WAYS.values())]
        for size in SIZES
        if size <= len(corpora)
        for wording in ("English", "Chinese")
    ]
    print(table(("repositories", "questions", *WAYS), rows))
    return 0


def _results(corpora: Sequence[Corpus], folder: Path) -> list[tuple[Corpus, Question, Results]]:
    """Ask every repository every question."""
    engines = {}
    for corpus in corpora:
        engines[corpus.name] = Engine.open(str(lay(corpus, folder)))
        engines[corpus.name].index()
    prefixes = {corpus.name: f"{corpus.inner}/" if corpus.inner else "" for corpus in corpora}

    def of(name: str, question: Question) -> SearchResult:
        result = engines[name].search(question.text, limit=N_HITS)
        hits = (replace(hit, chunk=replace(hit.chunk, path=prefixes[name] + hit.chunk.path)) for hit in result.hits)
        return replace(result, hits=tuple(hits))

    return [
        (corpus, question, {name: of(name, question) for name in engines})
        for corpus in corpora
        for question in corpus.questions
    ]


def _by_rank(results: Results) -> tuple[ProjectHit, ...]:
    return _by_score({name: replace(result, scale=name) for name, result in results.items()})


def _by_score(results: Results) -> tuple[ProjectHit, ...]:
    return merge(results, N_HITS).hits


WAYS: Mapping[str, Callable[[Results], tuple[ProjectHit, ...]]] = {
    "by score": _by_score,
    "by rank": _by_rank,
}


def _quality(
    answers: Sequence[tuple[Corpus, Question, Results]],
    size: int,
    wording: str,
    way: Callable[[Results], tuple[ProjectHit, ...]],
) -> float:
    """Return the mean NDCG@10 of questions to `size` repositories, one of which has the answer."""
    chance = random.Random(0)
    values = []
    for corpus, question, results in answers:
        others = chance.sample([name for name in results if name != corpus.name], size - 1)
        if (question.category == CHINESE) == (wording == "Chinese"):
            hits = way({name: results[name] for name in sorted([corpus.name, *others])})
            places = [Found(f"{name}:{hit.chunk.path}", hit.chunk.start_line, hit.chunk.end_line) for name, hit in hits]
            targets = [Target(f"{corpus.name}:{item.path}", *item[1:]) for item in question.targets]
            values.append(score(places, targets).ndcg)
    return fmean(values) if values else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
