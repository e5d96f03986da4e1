"""Learn how sure a search can be that what it found answers the question at all.

    python -m training.confidence --bench BENCH --corpora CORPORA --questions QUESTIONS \\
        --repositories CLONES [--numbers FILE]

Writes search/ranking/calibration.py, docs/confidence.md and docs/confidence.svg. BENCH_DIR names the folder of the
issues, too; CLONES holds the repositories of issues (`evals.localize`); FILE keeps what was asked.

Nobody annotated questions that have no answer. A repository's own questions are answered in it. Those about another
repository, most of them, are not ("far"). Nor are its own once the files that answer them are taken from what was found
("near"): so does a feature look that a project does not have. Those are too doubtful to learn from, and only judge. A
part of a repository stands for a small project. Run it after `training.ranking`, whose scores it reads, and after
`training.order_questions`. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from docs.reliability_plot import Reliability, picture
from evals.benchmark import CHINESE, Corpus, development
from evals.localize import all_issues, as_reported
from evals.mined import KEPT_APART, corpora
from numpy.typing import NDArray
from scipy.optimize import minimize

from codefathom import Engine
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.confidence import evidence, is_certain
from codefathom.search.ranking.rank import Pool, rank
from codefathom.search.verdict import NOTHING, WEAK
from training.ranking import ROOT, gathered, options

CALIBRATION = ROOT / "src/codefathom/search/ranking/calibration.py"
PAGE = ROOT / "docs/confidence.md"
PLOT = ROOT / "docs/confidence.svg"
ANNOTATED = "annotated"
WRITTEN = "issue as written"  # by a person, with logs and code
# Questions of each kind: of a repository itself, and of those in its language and of any others, which are asked of it.
N_OWN = {"commit": 14, "doc": 8, "issue": 14, "symbol": 6, "keyword": 6, ANNOTATED: 20}
N_FAR = {"commit": 8, "doc": 5, "issue": 10, "symbol": 4, "keyword": 4, ANNOTATED: 8, WRITTEN: 25}
SMALL = range(5, 30)  # files of a small project
_LEAST_OF_SMALL = 6  # questions about it
PENALTY = 5.0
OWN, NEAR, SAME, OTHER = "own", "near", "same language", "any other"
FAR = frozenset({SAME, OTHER})
SMALL_PROJECTS = "projects under 30 files"
WITHOUT = ("score", "words", "unknown", "defines", "foreign", "size")
WITH = (*WITHOUT, "near")
_ALLOWED = 0.05  # of the answerable questions that may be called weak


class Project(NamedTuple):
    """A repository, or a part of it, with questions about it: kind, text, files that answer it."""

    name: str
    language: str
    split: str  # "learn", "K" or "development"
    root: Path
    questions: Sequence[tuple[str, str, tuple[str, ...]]]


class Asked(NamedTuple):
    """One question and what was found of it."""

    project: str
    split: str
    is_small: bool
    relation: str  # of the question to the project
    kind: str  # of the question
    text: str  # "short" or "long": what it is calibrated as
    is_certain: bool
    numbers: Mapping[str, float]


class Model(NamedTuple):
    """Weights of some numbers, and what is added."""

    names: Sequence[str]
    weights: NDArray[np.float64]
    offset: float

    def __call__(self, one: Asked) -> float:
        """Return the confidence."""
        z = sum(weight * one.numbers[name] for name, weight in zip(self.names, self.weights, strict=True)) + self.offset
        return float(1 / (1 + np.exp(-z)))


Models = Mapping[str, Model]  # by the kind of text


def main() -> None:
    """Learn, judge on set K and by leaving out one development repository at a time, write."""
    given = options(__doc__, questions=True, repositories=True, numbers=True)
    found = _remembered(given.numbers, lambda: [*ask_all(projects(given)), *_ask_issues(given.repositories)])
    learned = [one for one in found if one.split != KEPT_APART]
    with_meaning, without = fit_all(learned, WITH), fit_all(learned, WITHOUT)
    if given.check:
        print("\n".join(_tables(found, with_meaning, without)))
        return
    CALIBRATION.write_text(as_module(with_meaning, without), "utf-8")
    PAGE.write_text(as_page(found, with_meaning, without), "utf-8")
    PLOT.write_text(picture(reliabilities(found, with_meaning)), "utf-8")


def _remembered(file: Path | None, make: Callable[[], list[Asked]]) -> list[Asked]:
    """Return what a file holds, or make it and write it there: asking takes minutes, learning seconds."""
    if file is not None and file.exists():
        return [Asked(*json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    found = make()
    if file is not None:
        file.write_text("".join(f"{json.dumps(one)}\n" for one in found), "utf-8")
    return found


# ---- asking


def projects(given: argparse.Namespace) -> list[Project]:
    """Return the development repositories and those that questions were mined from."""
    annotated = [_project(corpus, "development") for corpus in development(given.bench, given.corpora)]
    from_history = [
        _project(corpus, split) for split in ("learn", KEPT_APART) for corpus in corpora(given.questions, split)
    ]
    # The confidence learns nothing from the issues; their repositories are asked as they were when they were reported.
    issues = [(WRITTEN, issue.text, tuple(issue.files)) for issue in all_issues()]
    return [*annotated, *from_history, Project("issues", "python", KEPT_APART, Path(), issues)]


def _project(corpus: Corpus, split: str) -> Project:
    questions = [
        (one.category if split != "development" else ANNOTATED, one.text, tuple(target.path for target in one.targets))
        for one in corpus.questions
        if one.category != CHINESE
    ]
    return Project(corpus.name, corpus.language, split, corpus.source / corpus.inner, questions)


def ask_all(all_projects: Sequence[Project]) -> Iterator[Asked]:
    """Ask each project, and a small part of it where there is one, its own questions and those of others."""
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(partial(_ask_project, all_projects=all_projects), all_projects):
            yield from found


def _ask_project(project: Project, all_projects: Sequence[Project]) -> list[Asked]:
    """Return the answers of one project. Set K is asked only what is about set K, and the others never hear of it."""
    if project.root == Path():
        return []
    others = [
        one
        for one in all_projects
        if one.name != project.name and (one.split == KEPT_APART) == (project.split == KEPT_APART)
    ]
    found = list(_ask(project, others, N_FAR, is_small=False))
    with TemporaryDirectory() as folder:
        part = _small_part(project, Path(folder) / "part")
        if part is not None:
            found += _ask(part, others, {kind: (n + 1) // 2 for kind, n in N_FAR.items()}, is_small=True)
    return found


def _small_part(project: Project, to: Path) -> Project | None:
    """Copy the folder of few files that most questions are about; return it as a project."""
    best: tuple[str, list[tuple[str, str, tuple[str, ...]]]] = ("", [])
    folders = {
        str(above) for _, _, paths in project.questions for path in paths for above in list(Path(path).parents)[:2]
    }
    for folder in sorted(folders - {"."}):
        if sum(file.is_file() for file in (project.root / folder).rglob("*")) in SMALL:
            own = [
                (kind, text, tuple(path.removeprefix(f"{folder}/") for path in paths))
                for kind, text, paths in project.questions
                if paths and all(path.startswith(f"{folder}/") for path in paths)
            ]
            best = max(best, (folder, own), key=lambda one: len(one[1]))
    if len(best[1]) < _LEAST_OF_SMALL:
        return None
    shutil.copytree(project.root / best[0], to, symlinks=True)
    (to / "fathom.toml").touch()
    return project._replace(root=to, questions=best[1])


def _ask(project: Project, others: Sequence[Project], n_far: Mapping[str, int], *, is_small: bool) -> Iterator[Asked]:
    chance = random.Random(project.name)
    own = _sample(chance, project.questions, N_OWN)
    pools = {
        SAME: [row for one in others if one.language == project.language for row in one.questions],
        OTHER: [row for one in others if one.language != project.language for row in one.questions],
    }
    far = [(relation, *row[:2]) for relation, rows in pools.items() for row in _sample(chance, rows, n_far)]
    about = partial(Asked, project.name, project.split, is_small)
    with TemporaryDirectory() as folder:
        os.environ["FATHOM_INDEX_DIR"] = folder
        with Engine.open(project.root) as engine:
            engine.index()
            for kind, text, paths in own:
                yield from _ask_own(engine, about, kind, text, paths)
            for relation, kind, text in far:
                yield from _asked(about, relation, kind, *gathered(engine, text))


def _ask_issues(repositories: Path) -> Iterator[Asked]:
    """Ask each development issue of its repository, in the state in which it was reported."""
    for issue, engine in as_reported(all_issues(), repositories):
        yield from _ask_own(
            engine, partial(Asked, issue.repository, KEPT_APART, False), WRITTEN, issue.text, tuple(issue.files)
        )


def _ask_own(
    engine: Engine, about: Callable[..., Asked], kind: str, text: str, paths: Sequence[str]
) -> Iterator[Asked]:
    query, pool = gathered(engine, text)
    yield from _asked(about, OWN, kind, query, pool)
    if kind not in {"symbol", "keyword"}:
        without = [one for one in pool.candidates if not _lies_in(one.chunk.path, paths)]
        yield from _asked(about, NEAR, kind, query, pool._replace(candidates=without))


def _asked(about: Callable[..., Asked], relation: str, kind: str, query: RankingQuery, pool: Pool) -> Iterator[Asked]:
    ranked = rank(query, pool)
    if ranked:
        yield about(relation, kind, query.kind, is_certain(query, ranked), evidence(query, ranked))


def _lies_in(path: str, targets: Sequence[str]) -> bool:
    return any(path == target or path.startswith(f"{target.rstrip('/')}/") for target in targets)


def _sample(
    chance: random.Random, rows: Sequence[tuple[str, str, tuple[str, ...]]], most: Mapping[str, int]
) -> list[tuple[str, str, tuple[str, ...]]]:
    sampled = []
    for kind, n in most.items():
        own = [row for row in rows if row[0] == kind]
        sampled += chance.sample(own, min(n, len(own)))
    return sampled


# ---- learning


def fit_all(found: Sequence[Asked], names: Sequence[str]) -> dict[str, Model]:
    """Return a model for each kind of text, learned from own and far questions that are not certain anyway."""
    useful = [one for one in found if one.relation != NEAR and not one.is_certain]
    return {text: fit([one for one in useful if one.text == text], names) for text in ("short", "long")}


def fit(found: Sequence[Asked], names: Sequence[str]) -> Model:
    """Return the logistic function that tells own questions from others, both kinds counting as much."""
    rows = np.array([[one.numbers[name] for name in names] for one in found])
    own = np.array([one.relation == OWN for one in found], dtype=float)
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    scaled = (rows - mean) / spread
    counts = np.where(own > 0, 1 / own.sum(), 1 / (1 - own).sum()) * len(own) / 2

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = scaled @ parameters[:-1] + parameters[-1]
        error = counts * (1 / (1 + np.exp(-z)) - own)
        value = float((counts * (np.logaddexp(0, z) - own * z)).sum() + PENALTY * (parameters[:-1] ** 2).sum())
        return value, np.append(scaled.T @ error + 2 * PENALTY * parameters[:-1], error.sum())

    best = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B").x
    weights = best[:-1] / spread
    return Model(names, weights, float(best[-1] - weights @ mean))


def confidences(found: Sequence[Asked], models: Models) -> list[float]:
    """Return the confidence of each question, as the product gives it."""
    return [1.0 if one.is_certain else models[one.text](one) for one in found]


def cross_validated(found: Sequence[Asked], names: Sequence[str]) -> list[float]:
    """Return the confidence of each question by weights learned without its repository."""
    models = {
        name: fit_all([one for one in found if one.project != name], names) for name in {one.project for one in found}
    }
    return [confidences([one], models[one.project])[0] for one in found]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the chance that a positive stands above a negative; ties count half."""
    if not len(positive) or not len(negative):
        return float("nan")
    ordered = np.sort(np.array(negative))
    places = [np.searchsorted(ordered, np.array(positive), side) for side in ("left", "right")]
    return float(np.mean(places)) / len(ordered)


# ---- judging


class Judged(NamedTuple):
    """Some questions with the confidence of each."""

    name: str
    found: Sequence[Asked]
    values: Sequence[float]

    def of(self, *relations: str) -> NDArray[np.float64]:
        """Return the confidences of the questions that are related so to their project."""
        return np.array([v for one, v in zip(self.found, self.values, strict=True) if one.relation in relations])

    def only(self, name: str, is_wanted: Callable[[Asked], bool]) -> Judged:
        """Return a part of the questions."""
        rows = [(one, v) for one, v in zip(self.found, self.values, strict=True) if is_wanted(one)]
        return Judged(name, [one for one, _ in rows], [value for _, value in rows])


def groups(judged: Judged) -> list[Judged]:
    """Return the questions by kind of text and size of project."""
    return [
        judged.only("short questions", lambda one: one.text == "short" and not one.is_small),
        judged.only("long texts", lambda one: one.text == "long" and not one.is_small),
        judged.only(SMALL_PROJECTS, lambda one: one.is_small),
    ]


def judged_apart(found: Sequence[Asked], models: Models) -> Judged:
    """Return the questions of set K, from which nothing was learned."""
    apart = [one for one in found if one.split == KEPT_APART]
    return Judged("set K", apart, confidences(apart, models))


def reliabilities(found: Sequence[Asked], models: Models) -> list[Reliability]:
    """Return for each group of set K which share of the questions is answerable at each confidence.

    Own and far questions count as much, as in what was learned.
    """
    result = []
    for group in groups(judged_apart(found, models)):
        own, far = group.of(OWN), group.of(*FAR)
        points = []
        for low in np.arange(0, 1, 0.1):
            shares = [((side >= low) & (side < low + 0.1 + (low > 0.85))).mean() for side in (own, far)]
            if sum(shares) * min(len(own), len(far)) >= 8:  # fewer say nothing
                points.append((float(low) + 0.05, float(shares[0] / sum(shares))))
        result.append(Reliability(group.name, points))
    return result


# ---- writing


def as_module(with_meaning: Models, without: Models) -> str:
    """Return the module of the package."""
    rows = [
        f'    ("{text}", {is_meant}): {_as_dictionary(models[text])},'
        for text in with_meaning
        for is_meant, models in ((True, with_meaning), (False, without))
    ]
    return "\n".join(
        (
            '"""The weights of the confidence. Written by `python -m training.confidence`."""',
            "",
            "from typing import Final",
            "",
            f'MODEL: Final = "{BundledEmbedder().name}"  # whose cosines were learned with',
            "# By kind of text, and whether these cosines are there.",
            "CALIBRATIONS: Final = {",
            *rows,
            "}",
            "",
        )
    )


def _as_dictionary(model: Model) -> str:
    rows = [f'"{name}": {weight:.2f}' for name, weight in zip(model.names, model.weights, strict=True)]
    return "{\n        " + ",\n        ".join([*rows, f'"offset": {model.offset:.2f}']) + ",\n    }"


def as_page(found: Sequence[Asked], with_meaning: Models, without: Models) -> str:
    """Return the page on how well the confidence tells."""
    return (
        _PAGE_HEAD
        + "\n".join(_tables(found, with_meaning, without))
        + _PAGE_END
        + "\n    python -m training.confidence --bench BENCH --corpora CORPORA --questions QUESTIONS \\\n"
        + "        --repositories CLONES\n"
    )


def _tables(found: Sequence[Asked], with_meaning: Models, without: Models) -> Iterator[str]:
    apart = judged_apart(found, with_meaning)
    annotated = [one for one in found if one.split == "development"]
    learned = [one for one in found if one.split != KEPT_APART]
    values = dict(zip(map(id, learned), cross_validated(learned, WITH), strict=True))
    development_set = Judged("development questions", annotated, [values[id(one)] for one in annotated])
    yield "| questions | answerable | any other | same language | near | others weak | answerable weak |"
    yield "| --- | --: | --: | --: | --: | --: | --: |"
    for group in groups(apart):
        yield _row(group._replace(name=f"set K: {group.name}"))
    for kind in sorted({one.kind for one in apart.found}):
        yield _row(apart.only(f"set K: {kind}", partial(_is_of_kind, kind)))
    words_only = judged_apart(found, without)
    for group in groups(words_only):
        yield _row(group._replace(name=f"set K: {group.name}, words only"))
    yield _row(development_set.only(development_set.name, partial(_is_of_kind, ANNOTATED)))
    yield "\n| confidence below | " + " | ".join(f"{group.name}: answerable | others" for group in groups(apart)) + " |"
    yield "| --: |" + " --: |" * 6
    for limit in (NOTHING, 0.1, WEAK, 0.35, 0.5, 0.65):
        cells = [f"{(side < limit).mean():.0%}" for group in groups(apart) for side in (group.of(OWN), group.of(*FAR))]
        yield f"| {limit} | " + " | ".join(cells) + " |"


def _is_of_kind(kind: str, one: Asked) -> bool:
    return one.kind == kind and not one.is_small


def _row(judged: Judged) -> str:
    own, far = judged.of(OWN), judged.of(*FAR)
    figures = [auroc(own, judged.of(relation)) for relation in (OTHER, SAME, NEAR)]
    cells = ["" if np.isnan(value) else f"{value:.3f}" for value in figures]
    limit = np.quantile(own, _ALLOWED)
    cells.append(f"{(far < limit).mean():.0%} ({(far < WEAK).mean():.0%})")
    cells.append(f"{_ALLOWED:.0%} ({(own < WEAK).mean():.0%})")
    return f"| {judged.name} | {len(own)} | " + " | ".join(cells) + " |"


_PAGE_HEAD = """# Confidence

<!-- Written by `python -m training.confidence`. -->

The confidence of a search says how likely it is that the hits answer the question. It is a logistic function of
these numbers: the score of the best hit, the share of the question's words that the best hits contain, the closest
meaning, the share of the question's words that occur nowhere in the project, whether one of the best hits defines a
symbol of the question, how many symbols of the question the project does not define and the three best hits do not
mention, and the size of the project.
Short questions and long texts (pasted issues, logs) have weights of their own. It is 1 only where the whole question
is the name of a symbol and one of the three best hits defines it.

To measure it, projects are asked three groups of questions. Their own are answerable. Those about other projects, in
the same language or in any other, are not (most of them: some do have an answer). For the third group, "near", the
files that answer a question are taken away from what was found, so that the question is about something that the
project almost has. Set K is 21 repositories in all languages; no weight was learned from them, neither for the
confidence nor for the ranking, but it was seen which numbers tell there when the seven were chosen. The questions of
set K are mined: subjects of commits, whole messages of commits ("issue"), sentences of documentation, names, and loose
words of names. "Issue as written" is the 111 development issues, asked of their repositories and of set K; no weight of
the confidence was learned from them, but those of the ranking of long texts were. Folders of 5 to 29 files stand for
small projects. The development questions are annotated by hand; for each repository the weights of the confidence are
learned from the others, but those of the ranking have seen all of them.

The columns "any other", "same language" and "near" show the AUROC against that group: the chance that an answerable
question gets the higher confidence. "Others weak" is the share of questions about other projects below the limit that
calls 5 % of the answerable ones weak; in brackets, the shares below the limit that the product uses.

"""
_PAGE_END = f"""

With a confidence below {WEAK}, a search calls its hits weak. With one below `answer.least_confidence`, `ask` does
not ask a model. The second table shows which share of the questions lies below a limit. [Queries](query.md) says what
follows from a weak result, and which confidences are not estimated.

![Share of answerable questions at each confidence, for three groups](confidence.svg)

The picture shows which share of the questions is answerable at each confidence, where as many questions are
answerable as not. On the diagonal the confidence means what it says.

What does not hold: a question about something that a project almost has gets nearly the confidence of one that it can
answer (column "near"). Subjects of commits are often so general ("fix the build") that they fit anywhere.

Questions that people wrote about what an application almost has ("attach pictures and sound recordings to a note") are
told better than the column "near" says: AUROC 0.94 and 0.93 for 56 of them beside 173 that are answered (benchmarks.md,
"Whole applications"). In "near", the share of unknown words, the foreign symbols and the size are the same for a
question with and without its files, so that these numbers only blur the score. The plain score of the first hit tells
more there (0.74 for long texts of set K), and less for the questions that people wrote (0.84 and 0.92): most likely
because mined answers are code, and what is left without them are tests and documents, which that score holds back. More
weight on the score raises "near" by 0.01 (long texts 0.647 to 0.659) and lowers the share of others called weak by 0.01
to 0.02; so the weights stay.

Names of other programs and of files ("parse an eMule ipfilter.dat file") look like symbols and are defined nowhere;
they count only where none of the three best hits mentions them. With the same weights, on set K without small projects
and without the issues as written: short questions (740) 4.2 % called weak before and 4.1 % now, others weak 71.6 %
and 71.4 %; long texts (164) 4.3 % and 3.0 %, others 79.9 % and 79.4 %, near 0.646 and 0.654. The tables above were made
before; the weights were not learned again.
"""


if __name__ == "__main__":
    main()
