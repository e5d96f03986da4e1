"""Learn the weights of the ranking from annotated questions, and show what each signal is worth.

    python -m training.ranking --bench BENCH --corpora CORPORA --questions QUESTIONS --repositories CLONES
    python -m training.ranking … --check  # figures only

Writes search/ranking/weights.py and docs/ranking.md. QUESTIONS is what `training.order_questions` has mined; CLONES
holds the repositories of issues, and BENCH_DIR names the folder of their texts (`evals.localize`). Weights are learned
from mined questions first; then from the annotated ones, which draw them away only as far as they have reason to. These
are asked of the part of a repository that is annotated, and of all of it with its tests and documents. Weights for long
texts are drawn away from there by mined messages of commits and by the issues.

The score of a file is a soft maximum over its candidates; the loss is the cross-entropy of the files that answer among
all files found. It is convex but for that maximum, so that the start does not matter. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zlib import crc32

import numpy as np
from evals import mined
from evals.benchmark import CHINESE, Corpus, Question, development
from evals.localize import all_issues, as_reported
from evals.metrics import Found, Target, mean_of_groups, meets, score
from numpy.typing import NDArray
from scipy.optimize import minimize

from codefathom import Engine
from codefathom.search.question.planner import overruled
from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import Kind, RankingQuery, understand
from codefathom.search.ranking.rank import Pool, by_place, saturated, score_of
from codefathom.search.ranking.signals import NAMES, SIGNALS, Candidate, signals
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, gather

ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "src/codefathom/search/ranking/weights.py"
PAGE = ROOT / "docs/ranking.md"
BY_HAND_PART = "<!-- From here on written by hand. -->"  # of the page, which stays
PENALTY = 20.0  # of the squared weights, signals scaled to unit variance
PULL = 120.0  # the same for the distance from the weights that the mined questions give
PULL_OF_LONG = 100.0  # and for that of the weights for long texts from those for short questions
# No mined answer is a test, a document or a declaration, so that mined questions cannot tell what these cost; learned
# from the annotated questions beside the others, the penalty of documents grew until no document could come first.
# Few repositories have older copies (`legacy`), of which `test` told before, and no question is answered by `data`.
# Those of tests and documents for short questions were chosen by the annotated questions over whole repositories and by
# headings of documents, which are to be found as well: docs/ranking.md. `symbol_only` puts a type before functions of
# tests with a similar name; few annotated questions are only a name, and learned from them it fell to 4.3.
HELD: Mapping[Kind, Mapping[str, float]] = {
    "short": {"symbol_only": 6.0, "test": -3.2, "prose": -4.8, "declaration": -2.82, "legacy": -1.8, "data": -1.2},
    "long": {"test": -4.33, "prose": -4.24, "declaration": -2.82, "legacy": -1.8, "data": -1.2},
}
MINED_KINDS = frozenset({"commit", "keyword", "symbol", "topic"})
ONE_IN = {"keyword": 3}  # loose words of names are asked less often than sentences
ISSUE = "issue"
SHARPNESS = 8.0  # of the soft maximum over a file's candidates: the best one places a file, the others hardly count
SHOWN = 10
# No annotated question holds a stack trace or names a file, and no long text is only a symbol. `lexical` orders the
# chunks of a file; files are ordered by the best of theirs (`file_lexical`), beside which it is learned as 0 and costs
# 0.002. `file_several` is about long texts only.
AS_ASKED = {"heading": 20.0, "lacking": -20.0}  # so that nothing else outweighs them: a rule, not a preference
BY_HAND: Mapping[Kind, Mapping[str, float]] = {
    "short": {"frame": 8.0, "named_file": 3.0, "file_several": 0.0, "lexical": 0.1, **AS_ASKED},
    "long": {"frame": 8.0, "named_file": 3.0, "symbol_only": 0.0, "lexical": 0.1, **AS_ASKED},
}

Floats = NDArray[np.float64]


class Asked(NamedTuple):
    """One question with its candidates."""

    corpus: str
    language: str
    category: str
    kind: Kind  # by whose weights it is ranked
    question: Question
    candidates: Sequence[Candidate]  # in the order of their places
    signals: Floats  # candidates × signals
    files: NDArray[np.int64]  # number of each candidate's file
    answers: NDArray[np.bool_]  # whether a file holds an answer


def main() -> None:
    """Learn, judge by leaving out one repository at a time, write."""
    given = options(__doc__, questions=True, repositories=True)
    corpora = development(given.bench, given.corpora)
    asked = [one for corpus in corpora for one in ask(corpus)]
    entire = [one for corpus in corpora for one in ask(replace(corpus, inner=""))]
    learned, apart = (mined_questions(given.questions, split) for split in ("learn", mined.KEPT_APART))
    lesson = Lesson(asked, entire, learned, list(ask_issues(given.repositories)), apart)
    print("all signals:", lesson.crossed)
    if given.check:
        return
    WEIGHTS.write_text(as_module(lesson.weights), "utf-8")
    _, mark, by_hand = PAGE.read_text("utf-8").partition(BY_HAND_PART)
    PAGE.write_text(f"{as_page(lesson)}\n{mark}{by_hand}".rstrip() + "\n", "utf-8")


def mined_questions(folder: Path, split: str) -> list[Asked]:
    """Return what the product gathers for the mined questions about the repositories of a split."""
    return [one for corpus in mined.corpora(folder, split) for one in ask(corpus)]


class Lesson:
    """What is learned from annotated and mined questions and issues, and how good it is. Figures are made once."""

    def __init__(
        self,
        asked: Sequence[Asked],
        entire: Sequence[Asked],
        learned: Sequence[Asked],
        issues: Sequence[Asked],
        apart: Sequence[Asked],
    ) -> None:
        self.asked, self.entire, self.apart = asked, entire, apart
        self.columns = _columns("short")
        self._english = [one for one in (*asked, *entire) if one.category != CHINESE]
        useful = [one for one in map(without_unmined, learned) if len(one.answers) > 1]
        self.mined_weights = learn([one for one in useful if _is_short_lesson(one)], "short", self.columns)
        self.crossed, self.crossed_entire = self.cross_validated(self.columns)
        short = learn(self._english, "short", self.columns, self.mined_weights, PULL)
        messages = [one for one in useful if one.category == ISSUE and one.kind == "long"]
        # There are fifteen times as many messages as issues; so both count alike.
        long_texts = [*messages, *list(issues) * (len(messages) // max(len(issues), 1))]
        long = learn(long_texts, "long", _columns("long"), short, PULL_OF_LONG)
        self.weights: Mapping[Kind, Floats] = {"short": short.round(3), "long": long.round(3)}

    def cross_validated(self, columns: Sequence[int]) -> tuple[dict[str, float], dict[str, float]]:
        """Return the figures of the annotated parts and of whole repositories, each by weights learned without it."""
        weights = {
            corpus: learn(
                [one for one in self._english if one.corpus != corpus], "short", columns, self.mined_weights, PULL
            )
            for corpus in dict.fromkeys(one.corpus for one in self.asked)
        }
        annotated, entire = (
            figures(asked, [scores_by(one, weights[one.corpus]) for one in asked])
            for asked in (self.asked, self.entire)
        )
        return annotated, entire

    def shipped(self, asked: Sequence[Asked]) -> dict[str, float]:
        """Return the figures of questions that are ordered by the weights of the product."""
        return figures(asked, [scores_by(one, self.weights[one.kind]) for one in asked])


def learn(
    asked: Sequence[Asked],
    kind: Kind,
    columns: Sequence[int],
    centre: Floats | None = None,
    penalty: float = PENALTY,
) -> Floats:
    """Return the weights of all signals for a kind of question, those of some columns learned."""
    weights = fit(asked, columns, centre, penalty, fixed=_full_by_name(HELD[kind]))
    return _full(weights, columns, {**HELD[kind], **BY_HAND[kind]})


def _columns(kind: Kind) -> list[int]:
    """Return the signals whose weights are learned."""
    return [place for place, name in enumerate(NAMES) if name not in {*BY_HAND[kind], *HELD[kind]}]


def _is_short_lesson(one: Asked) -> bool:
    is_taken = crc32(one.question.text.encode()) % ONE_IN.get(one.category, 1) == 0
    return one.kind == "short" and one.category in MINED_KINDS and is_taken


def scores_by(one: Asked, weights: Floats) -> Floats:
    """Return the scores of the candidates of a question."""
    return np.array([score_of(total) for total in one.signals @ weights])


def _full(weights: Floats, columns: Sequence[int], others: Mapping[str, float]) -> Floats:
    """Return a weight for each signal: those that were learned, and others by name; else 0."""
    full = _full_by_name(others)
    full[list(columns)] = weights
    return full


def _full_by_name(weights: Mapping[str, float]) -> Floats:
    return np.array([weights.get(name, 0.0) for name in NAMES])


def without_unmined(one: Asked) -> Asked:
    """Return a mined question without its candidates in tests and documents, which are never an answer."""
    kept = ~(one.signals[:, [NAMES.index("test"), NAMES.index("prose")]] > 0).any(1)
    files, numbers = np.unique(one.files[kept], return_inverse=True)
    candidates = [candidate for candidate, is_kept in zip(one.candidates, kept, strict=True) if is_kept]
    return one._replace(
        candidates=candidates, signals=one.signals[kept], files=numbers, answers=one.answers[files.astype(int)]
    )


def ask(corpus: Corpus) -> Iterator[Asked]:
    """Yield what the product gathers for each question about a repository."""
    with TemporaryDirectory() as folder:
        os.environ["FATHOM_INDEX_DIR"] = folder
        with Engine.open(corpus.source / corpus.inner) as engine:
            engine.index()
            for question in corpus.questions:
                yield from _asked(engine, corpus.name, corpus.language, question)


def ask_issues(repositories: Path) -> Iterator[Asked]:
    """Yield what the product gathers for each development issue, in the state in which it was reported."""
    for issue, engine in as_reported(all_issues(), repositories):
        question = Question(issue.text, ISSUE, tuple(map(Target, sorted(issue.files))))
        yield from _asked(engine, issue.repository, "python", question)


def gathered(engine: Engine, text: str) -> tuple[RankingQuery, Pool]:
    """Return a question as the ranking sees it, and what the product gathers for it."""
    sources = engine.opened.sources
    request = SearchRequest(parse_query(text))
    query = understand(request.query, sources.catalog, sources.lexical)
    return query, gather(Lookup(request, overruled("hybrid", request.query), query), sources)


def _asked(engine: Engine, corpus: str, language: str, question: Question) -> Iterator[Asked]:
    query, pool = gathered(engine, question.text)
    candidates = sorted(pool.candidates, key=by_place)
    if not candidates:
        return
    paths = sorted({one.chunk.path for one in candidates})
    files = np.array([paths.index(one.chunk.path) for one in candidates])
    answers = np.zeros(len(paths), dtype=bool)
    for place, file in zip(map(_place, candidates), files, strict=True):
        answers[file] |= any(meets(place, target) for target in question.targets)
    rows = np.array(signals(query, candidates, pool.scores))
    yield Asked(corpus, language, question.category, query.kind, question, candidates, rows, files, answers)


def _place(one: Candidate) -> Found:
    return Found(one.chunk.path, one.chunk.start_line, one.chunk.end_line)


# ---- learning


def fit(
    asked: Sequence[Asked], columns: Sequence[int], centre: Floats | None, penalty: float, *, fixed: Floats
) -> Floats:
    """Return the weights of some signals that put the files with answers first.

    They are drawn to `centre`, else to 0, as strongly as `penalty` says; `fixed` has weights of other signals, which
    stay. Both have one a signal.
    """
    useful = [one for one in asked if one.answers.any()]
    rows = np.concatenate([one.signals[:, columns] for one in useful])
    spread = rows.std(0) + 1e-9
    n_files = np.cumsum([0, *(len(one.answers) for one in useful)])
    files = np.concatenate([one.files + start for one, start in zip(useful, n_files[:-1], strict=True)])
    question_of = np.repeat(np.arange(len(useful)), np.diff(n_files))
    target = np.concatenate([one.answers / one.answers.sum() for one in useful])
    fixed_scores = np.concatenate([one.signals @ fixed for one in useful])
    begin = np.zeros(len(columns)) if centre is None else centre[list(columns)] * spread
    sums = Sums((rows - rows.mean(0)) / spread, fixed_scores, files, question_of, target)
    loss = _loss(sums, begin, penalty)
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return np.asarray(found.x / spread)


class Sums(NamedTuple):
    """The candidates of all questions, one below the other."""

    rows: Floats  # candidates × signals, scaled
    fixed: Floats  # of each candidate
    files: NDArray[np.int64]  # of each candidate
    question_of: NDArray[np.int64]  # of each file
    target: Floats  # of each file


def _loss(sums: Sums, centre: Floats, penalty: float) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function from weights to the loss and its gradient."""
    rows, question_of, target = sums.rows, sums.question_of, sums.target
    n_files, n_questions = len(question_of), int(question_of.max()) + 1

    def value(weights: Floats) -> tuple[float, Floats]:
        of_file, share = _soft_maximum(rows @ weights + sums.fixed, sums.files, n_files)
        top = np.full(n_questions, -np.inf)
        np.maximum.at(top, question_of, of_file)
        raised = np.exp(of_file - top[question_of])
        total = np.bincount(question_of, raised, n_questions)
        log_share = of_file - top[question_of] - np.log(total)[question_of]
        gradient = raised / total[question_of] - target
        away = weights - centre
        loss = -float(log_share @ target) + penalty * float(away @ away) / 2
        return loss, rows.T @ (share * gradient[sums.files]) + penalty * away

    return value


def _soft_maximum(scores: Floats, files: NDArray[np.int64], n_files: int) -> tuple[Floats, Floats]:
    """Return the soft maximum of each file's scores, and each candidate's part in it."""
    top = np.full(n_files, -np.inf)
    np.maximum.at(top, files, scores)
    raised = np.exp((scores - top[files]) * SHARPNESS)
    total = np.bincount(files, raised, n_files)
    return top + np.log(total) / SHARPNESS, raised / total[files]


# ---- judging


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


def as_module(weights: Mapping[Kind, Floats]) -> str:
    """Return the module of the package."""
    return "\n".join(
        (
            '"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""',
            "",
            "from typing import Final",
            "",
            "# By the kind of the question, and by signal.",
            "WEIGHTS: Final = {",
            *(line for kind, own in weights.items() for line in (f'    "{kind}": {{', *_rows(own), "    },")),
            "}",
            "",
        )
    )


def _rows(weights: Floats) -> Iterator[str]:
    yield from (f'        "{name}": {weight},' for name, weight in zip(NAMES, weights, strict=True))


def as_page(lesson: Lesson) -> str:
    """Return the page on what each signal is worth."""
    crossed = lesson.crossed
    names = list(crossed)
    ablation = {
        left_out: lesson.cross_validated([c for c in lesson.columns if c != left_out])[0] for left_out in lesson.columns
    }
    table = ["| signal | meaning | weight | long texts | " + " | ".join(names[:2]) + " |"]
    table.append("| --- | --- | --: | --: | --: | --: |")
    table.append("| all | | | | " + " | ".join(f"{crossed[name]:.3f}" for name in names[:2]) + " |")
    for place, name in enumerate(NAMES):
        cells = [f"{ablation[place][figure]:.3f}" if place in ablation else "by hand" for figure in names[:2]]
        weights = " | ".join(f"{lesson.weights[kind][place]:.2f}" for kind in lesson.weights)
        table.append(f"| {name} | {SIGNALS[name]} | {weights} | " + " | ".join(cells) + " |")
    rest = [f"| {name} | {crossed[name]:.3f} |" for name in names]
    return (
        PAGE_HEAD
        + "\n".join(_honest(lesson))
        + PAGE_SIGNALS
        + "\n".join(table)
        + "\n\n| cross-validated | |\n| --- | --: |\n"
        + "\n".join(rest)
        + "\n\n    python -m training.ranking --bench BENCH --corpora CORPORA --questions QUESTIONS \\\n"
        + "        --repositories CLONES\n"
    )


def _honest(lesson: Lesson) -> Iterator[str]:
    """Yield the table of figures, those first that no weight can have learned by heart."""
    apart = lesson.shipped(lesson.apart)
    rows = {
        "development questions, by weights that saw none of them": figures(
            lesson.asked, [scores_by(one, lesson.mined_weights) for one in lesson.asked]
        ),
        "set K, by the shipped weights": apart,
        "development questions, cross-validated": lesson.crossed,
        "whole development repositories, cross-validated": lesson.crossed_entire,
        "development questions, by the shipped weights": lesson.shipped(lesson.asked),
        "whole development repositories, by the shipped weights": lesson.shipped(lesson.entire),
    }
    yield "| questions | NDCG@10 | first |"
    yield "| --- | --: | --: |"
    for name, own in rows.items():
        yield f"| {name} | {own['NDCG@10']:.3f} | {own['first']:.3f} |"
    for kind in sorted({one.category for one in lesson.apart}):
        yield f"| set K: {kind} | {apart[kind]:.3f} | |"


PAGE_HEAD = """# Ranking

<!-- Written by `python -m training.ranking`. -->

A search collects about a hundred candidates by words, meaning and names, and the files that the question names.
Each candidate gets a number for each signal below. The weighted sum of these numbers goes through a logistic
function; the result is the score. If a file has several chunks among the candidates, each further chunk counts half
as much as the one before. `fathom search --explain` shows what each signal added.

The weights are learned in two steps (`training/ranking.py`): from questions that were mined from the history
of 87 repositories (`training/order_questions.py`), and then from the annotated questions of 21 development
repositories, which draw them away only as far as they have reason to; each is asked of the annotated part of its
repository, and of all of it with its tests and documents. Long texts (pasted issues, logs) have weights of
their own, drawn away from there by mined messages of commits and by 111 development issues. Some are set by hand, and
so are the penalties of tests, documents, declarations and older copies: no mined question is answered by one, and what
is learned of documents puts code with one word of the question before the note that has all of them.
Set K are 21 more repositories in all languages; no weight was learned from them. Its questions are subjects of
commits, whole messages ("issue"), first sentences about a definition ("doc") or a whole file ("topic"), names and
loose words of names ("keyword").

"""
PAGE_SIGNALS = """

In the next table all figures are cross-validated: the questions of a repository are ranked by weights learned
from the other 20 and the mined ones. The column `first` is the share of questions whose first hit is right. In
the row of a signal, the last two columns show the result of short questions without this signal. Differences below
0.005 are noise with 420 questions.

"""


def options(
    about: str | None, *, questions: bool = False, repositories: bool = False, numbers: bool = False
) -> argparse.Namespace:
    """Return the arguments that the recipes of the ranking share."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    if questions:
        parser.add_argument("--questions", type=Path, required=True)
    if repositories:
        parser.add_argument("--repositories", type=Path, required=True, help="bare clones, as `owner+name/repo`")
    if numbers:
        parser.add_argument("--numbers", type=Path, help="keep what was asked in this file, and use it when it exists")
    parser.add_argument("--check", action="store_true", help="only print what was reached")
    return parser.parse_args()


if __name__ == "__main__":
    main()
