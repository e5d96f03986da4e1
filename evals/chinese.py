"""The same questions in Chinese and in English: how far does the Chinese score stay behind?

    python -m evals.chinese --trees QUESTIONS --index INDEX [--part tuned] [--part apart] [--lost 20]
    python -m evals.chinese --development --index INDEX

`chinese.jsonl` holds our own questions about repositories of set K (training/order_sources.json); QUESTIONS is the
folder with their trees that `training.order_questions` makes. Every second repository, in the order of their names, is
kept `apart`: no word of the glossary and no rule was chosen on its questions. With `--development` the Chinese wordings
of the development benchmark are asked (BENCH_DIR, BENCH_CORPORA), each beside its English question.

INDEX keeps the indexes between runs. The figures are means over repositories, as in the benchmark.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codefathom import Engine
from evals.benchmark import CHINESE, HERE, Corpus, bench_folder, development
from evals.metrics import CUT, Found, Scores, Target, mean_of_groups, score

QUESTIONS = HERE / "chinese.jsonl"
PARTS = ("tuned", "apart")
_LATIN = re.compile("[A-Za-z]")


class Pair(NamedTuple):
    """A question in both languages, with the files that answer it."""

    repository: str
    part: str
    chinese: str
    english: str
    targets: tuple[Target, ...]

    @property
    def has_latin(self) -> bool:
        """Whether the Chinese question holds a Latin letter, as in a name of the code."""
        return bool(_LATIN.search(self.chinese))


class Scored(NamedTuple):
    """A pair with the scores of both questions."""

    pair: Pair
    chinese: Scores
    english: Scores


def main(words: Sequence[str] | None = None) -> int:
    """Ask, print a table for each part and the questions that lose most."""
    given = _arguments().parse_args(words)
    os.environ["FATHOM_INDEX_DIR"] = str(given.index.absolute())
    os.environ["FATHOM_CONFIG"] = str(given.index.absolute() / "no-settings.toml")
    scored = list(_on_development() if given.development else _on_ours(given.trees, given.part or PARTS))
    for part in dict.fromkeys(one.pair.part for one in scored):
        print(table(part, [one for one in scored if one.pair.part == part]))
    lost = sorted(scored, key=lambda one: one.chinese.ndcg - one.english.ndcg)[: given.lost]
    for one in lost:
        print(f"{one.chinese.ndcg:.2f} {one.english.ndcg:.2f} {one.pair.repository}: {one.pair.chinese}")
    return 0


def pairs() -> list[Pair]:
    """Return our own questions."""
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [
        Pair(row["repository"], row["part"], row["chinese"], row["english"], tuple(map(Target, row["files"])))
        for row in rows
    ]


def development_pairs(corpus: Corpus) -> Iterator[Pair]:
    """Yield the Chinese wordings of a development repository; each has the very targets of its English question."""
    english = {id(one.targets): one.text for one in corpus.questions if one.category != CHINESE}
    for one in corpus.questions:
        if one.category == CHINESE:
            yield Pair(corpus.name, "development", one.text, english[id(one.targets)], one.targets)


def table(part: str, scored: Sequence[Scored]) -> str:
    """Return the figures of a part as rows of Markdown: all questions, and those without Latin letters."""
    head = (
        f"| {part} | questions | Chinese NDCG@10 | first | English NDCG@10 | first | ratio |\n| --- "
        + "| --: " * 6
        + "|"
    )
    rows = [("all", scored), ("without Latin letters", [one for one in scored if not one.pair.has_latin])]
    return "\n".join([head, *(_row(name, own) for name, own in rows)])


def _row(name: str, scored: Sequence[Scored]) -> str:
    def mean(values: Iterable[tuple[str, float]]) -> float:
        return mean_of_groups(values, lambda row: row[0], lambda row: row[1])

    chinese = mean((one.pair.repository, one.chinese.ndcg) for one in scored)
    english = mean((one.pair.repository, one.english.ndcg) for one in scored)
    first = mean((one.pair.repository, one.chinese.first) for one in scored)
    first_english = mean((one.pair.repository, one.english.first) for one in scored)
    ratio = chinese / english if english else 0.0
    return (
        f"| {name} | {len(scored)} | {chinese:.3f} | {first:.3f} | {english:.3f} | {first_english:.3f} | {ratio:.1%} |"
    )


def _on_ours(trees: Path, parts: Sequence[str]) -> Iterator[Scored]:
    asked = [pair for pair in pairs() if pair.part in parts]
    for repository in dict.fromkeys(pair.repository for pair in asked):
        tree = trees / repository.replace("/", "+") / "tree"
        yield from ask(tree, [pair for pair in asked if pair.repository == repository])


def _on_development() -> Iterator[Scored]:
    for corpus in development(bench_folder(), Path(os.environ["BENCH_CORPORA"])):
        yield from ask(corpus.source / corpus.inner, list(development_pairs(corpus)))


def ask(tree: Path, asked: Sequence[Pair]) -> Iterator[Scored]:
    """Index a tree, or take in what changed, and yield the scores of each question in both languages."""
    with Engine.open(str(tree)) as engine:
        if Path(engine.root) != tree.resolve():
            raise RuntimeError(f"{tree} lies inside the project {engine.root}")
        engine.index()
        for pair in asked:
            yield Scored(pair, *(_score(engine, text, pair.targets) for text in (pair.chinese, pair.english)))


def _score(engine: Engine, question: str, targets: Sequence[Target]) -> Scores:
    hits = engine.search(question, limit=CUT).hits
    return score([Found(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits], targets)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals.chinese", description=(__doc__ or "").partition("\n")[0])
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--trees", type=Path, help="folder of the trees, as training.order_questions makes it")
    asked.add_argument("--development", action="store_true", help="ask the development benchmark instead")
    parser.add_argument("--index", type=Path, required=True, help="folder of the indexes, kept between runs")
    parser.add_argument("--part", action="append", choices=PARTS, help="this part of our questions; both by default")
    parser.add_argument("--lost", type=int, default=0, help="print so many questions, those that lose most first")
    return parser


if __name__ == "__main__":
    sys.exit(main())
