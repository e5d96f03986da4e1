"""Learn the weights of the ranking from annotated questions, and show what each signal is worth.

    python -m training.ranking --bench BENCH --corpora CORPORA
    python -m training.ranking --bench BENCH --corpora CORPORA --check  # cross-validated figures of the signals only

Writes search/ranking/weights.py and docs/ranking.md.

The score of a file is a soft maximum over its candidates; the loss is the cross-entropy of the files that answer among
all files found. It is convex but for that maximum, so that the start does not matter. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from evals.benchmark import CHINESE, Corpus, Question, development
from evals.metrics import Found, mean_of_groups, meets, score
from numpy.typing import NDArray
from scipy.optimize import minimize

from codefathom import Engine
from codefathom.search.question.planner import overruled
from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import understand
from codefathom.search.ranking.rank import by_place, saturated, score_of
from codefathom.search.ranking.signals import NAMES, SIGNALS, Candidate, signals
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, gather

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "src/codefathom/search/ranking/weights.py"
PAGE = ROOT / "docs/ranking.md"
BY_HAND_PART = "<!-- From here on written by hand. -->"  # of the page, which stays
PENALTY = 20.0  # of the squared weights, signals scaled to unit variance
SHARPNESS = 4.0  # of the soft maximum over a file's candidates
SHOWN = 10
# No annotated question holds a stack trace, or is a long text; `evals.localize` asks those. Few repositories have older
# copies (`legacy`); it weighs as much as `test`, of which it was a part. `lexical` orders the chunks
# of a file; files are ordered by the best of theirs (`file_lexical`), beside which it is learned as 0 and costs 0.002.
BY_HAND = {"frame": 8.0, "file_several": 5.0, "lexical": 0.1, "legacy": -1.8}

Floats = NDArray[np.float64]


class Asked(NamedTuple):
    """One question with its candidates."""

    corpus: str
    language: str
    category: str
    question: Question
    candidates: Sequence[Candidate]  # in the order of their places
    signals: Floats  # candidates × signals
    files: NDArray[np.int64]  # number of each candidate's file
    answers: NDArray[np.bool_]  # whether a file holds an answer


def main() -> None:
    """Learn, judge by leaving out one repository at a time, write."""
    given = options(__doc__)
    asked = [one for corpus in development(given.bench, given.corpora) for one in ask(corpus)]
    learned = [one for one in asked if one.category != CHINESE]
    columns = [place for place, name in enumerate(NAMES) if name not in BY_HAND]
    whole = cross_validated(asked, columns)
    print("all signals:", figures(asked, whole))
    if given.check:
        return
    learned_by_name = dict(zip((NAMES[column] for column in columns), fit(learned, columns), strict=True))
    weights = {name: round(float((learned_by_name | BY_HAND)[name]), 3) for name in NAMES}
    WEIGHTS.write_text(as_module(weights), "utf-8")
    ablation = {
        NAMES[left_out]: figures(asked, cross_validated(asked, [c for c in columns if c != left_out]))
        for left_out in columns
    }
    _, mark, by_hand = PAGE.read_text("utf-8").partition(BY_HAND_PART)
    PAGE.write_text(f"{as_page(weights, figures(asked, whole), ablation)}\n{mark}{by_hand}".rstrip() + "\n", "utf-8")


def ask(corpus: Corpus) -> Iterator[Asked]:
    """Yield what the product gathers for each question about a repository."""
    with TemporaryDirectory() as folder:
        os.environ["FATHOM_INDEX_DIR"] = folder
        with Engine.open(corpus.source / corpus.inner) as engine:
            engine.index()
            sources = engine.opened.sources
            for question in corpus.questions:
                request = SearchRequest(parse_query(question.text))
                query = understand(request.query, sources.catalog, sources.lexical)
                pool = gather(Lookup(request, overruled("hybrid", request.query), query), sources)
                candidates = sorted(pool.candidates, key=by_place)
                if candidates:
                    yield _asked(corpus, question, candidates, np.array(signals(query, candidates, pool.scores)))


def _asked(corpus: Corpus, question: Question, candidates: Sequence[Candidate], rows: Floats) -> Asked:
    paths = sorted({one.chunk.path for one in candidates})
    files = np.array([paths.index(one.chunk.path) for one in candidates])
    answers = np.zeros(len(paths), dtype=bool)
    for place, file in zip(map(_place, candidates), files, strict=True):
        answers[file] |= any(meets(place, target) for target in question.targets)
    return Asked(corpus.name, corpus.language, question.category, question, candidates, rows, files, answers)


def _place(one: Candidate) -> Found:
    return Found(one.chunk.path, one.chunk.start_line, one.chunk.end_line)


# ---- learning


def fit(asked: Sequence[Asked], columns: Sequence[int]) -> Floats:
    """Return the weights that put the files with answers first."""
    useful = [one for one in asked if one.answers.any()]
    rows = np.concatenate([one.signals[:, columns] for one in useful])
    spread = rows.std(0) + 1e-9
    scaled = (rows - rows.mean(0)) / spread
    n_files = np.cumsum([0, *(len(one.answers) for one in useful)])
    files = np.concatenate([one.files + start for one, start in zip(useful, n_files[:-1], strict=True)])
    question_of = np.repeat(np.arange(len(useful)), np.diff(n_files))
    target = np.concatenate([one.answers / one.answers.sum() for one in useful])
    loss = _loss(scaled, files, question_of, target)
    found = minimize(loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return np.asarray(found.x / spread)


def _loss(
    rows: Floats, files: NDArray[np.int64], question_of: NDArray[np.int64], target: Floats
) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function from weights to the loss and its gradient."""
    n_files, n_questions = len(question_of), int(question_of.max()) + 1

    def value(weights: Floats) -> tuple[float, Floats]:
        scores = rows @ weights
        of_file, share = _soft_maximum(scores, files, n_files)
        top = np.full(n_questions, -np.inf)
        np.maximum.at(top, question_of, of_file)
        raised = np.exp(of_file - top[question_of])
        total = np.bincount(question_of, raised, n_questions)
        log_share = of_file - top[question_of] - np.log(total)[question_of]
        gradient = raised / total[question_of] - target
        loss = -float(log_share @ target) + PENALTY * float(weights @ weights) / 2
        return loss, rows.T @ (share * gradient[files]) + PENALTY * weights

    return value


def _soft_maximum(scores: Floats, files: NDArray[np.int64], n_files: int) -> tuple[Floats, Floats]:
    """Return the soft maximum of each file's scores, and each candidate's part in it."""
    top = np.full(n_files, -np.inf)
    np.maximum.at(top, files, scores)
    raised = np.exp((scores - top[files]) * SHARPNESS)
    total = np.bincount(files, raised, n_files)
    return top + np.log(total) / SHARPNESS, raised / total[files]


# ---- judging


def cross_validated(asked: Sequence[Asked], columns: Sequence[int]) -> list[Floats]:
    """Return the scores of each question's candidates by weights learned without its repository."""
    scores = {}
    for corpus in dict.fromkeys(one.corpus for one in asked):
        weights = fit([one for one in asked if one.corpus != corpus and one.category != CHINESE], columns)
        for place, one in enumerate(asked):
            if one.corpus == corpus:
                scores[place] = np.array([score_of(total) for total in one.signals[:, columns] @ weights])
    return [scores[place] for place in range(len(asked))]


def figures(asked: Sequence[Asked], scores: Sequence[Floats]) -> dict[str, float]:
    """Return NDCG@10 and the share of right first places, as means over repositories."""
    rows = [
        (one.corpus, one.category, score(_first(one, own), one.question.targets))
        for one, own in zip(asked, scores, strict=True)
    ]
    english = [row for row in rows if row[1] != CHINESE]
    result = {
        "NDCG@10": mean_of_groups(english, lambda row: row[0], lambda row: row[2].ndcg),
        "first": mean_of_groups(english, lambda row: row[0], lambda row: row[2].first),
    }
    for category in dict.fromkeys(row[1] for row in rows):
        own = [row for row in rows if row[1] == category]
        result[category] = mean_of_groups(own, lambda row: row[0], lambda row: row[2].ndcg)
    # A Chinese wording has the very targets of its English question.
    reworded = {id(one.question.targets) for one in asked if one.category == CHINESE}
    same = [row for row, one in zip(rows, asked, strict=True) if id(one.question.targets) in reworded]
    in_english = [row for row in same if row[1] != CHINESE]
    result["the same in English"] = mean_of_groups(in_english, lambda row: row[0], lambda row: row[2].ndcg)
    return {name: round(value, 4) for name, value in result.items()}


def _first(one: Asked, scores: Floats) -> list[Found]:
    """Return the first places as the product orders them."""
    return [_place(item.candidate) for item in saturated(one.candidates, list(scores), list(one.signals))[:SHOWN]]


# ---- writing


def as_module(weights: Mapping[str, float]) -> str:
    """Return the module of the package."""
    return "\n".join(
        (
            '"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""',
            "",
            "from typing import Final",
            "",
            "WEIGHTS: Final = {",
            *(f'    "{name}": {weight},' for name, weight in weights.items()),
            "}",
            "",
        )
    )


def as_page(weights: Mapping[str, float], whole: dict[str, float], ablation: dict[str, dict[str, float]]) -> str:
    """Return the page on what each signal is worth."""
    head = (
        "# Ranking\n\n<!-- Written by `python -m training.ranking`. -->\n\n"
        "A search collects about a hundred candidates by words, meaning and names. Each candidate gets a number for\n"
        "each signal below. The weighted sum of these numbers goes through a logistic function; the result is the\n"
        "score. If a file has several chunks among the candidates, each further chunk counts half as much as the one\n"
        "before. `fathom search --explain` shows what each signal added.\n\n"
        "The weights are learned from the annotated questions of 21 repositories (`training/ranking.py`). Four are\n"
        "set by hand. All figures here are cross-validated: the questions of a repository are ranked by weights\n"
        "learned from the other 20. The column `first` is the share of questions whose first hit is right. In the row\n"
        "of a signal, the last two columns show the result without this signal. Differences below 0.005 are noise\n"
        "with 420 questions.\n\n"
    )
    names = list(whole)
    table = ["| signal | meaning | weight | " + " | ".join(names[:2]) + " |", "| --- | --- | --: | --: | --: |"]
    table.append("| all | | | " + " | ".join(f"{whole[name]:.3f}" for name in names[:2]) + " |")
    for name in NAMES:
        cells = [f"{ablation[name][figure]:.3f}" if name in ablation else "by hand" for figure in names[:2]]
        table.append(f"| {name} | {SIGNALS[name]} | {weights[name]:.2f} | " + " | ".join(cells) + " |")
    rest = [f"| {name} | {whole[name]:.3f} |" for name in names]
    return (
        head + "\n".join(table) + "\n\n| cross-validated | |\n| --- | --: |\n" + "\n".join(rest) + "\n\n"
        "    python -m training.ranking --bench BENCH --corpora CORPORA\n"
    )


def options(about: str | None) -> argparse.Namespace:
    """Return the arguments that the recipes of the ranking share."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="only print what was reached")
    return parser.parse_args()


if __name__ == "__main__":
    main()
