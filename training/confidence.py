"""Learn how sure a search can be that what it found answers the question at all.

    python -m training.confidence --bench BENCH --corpora CORPORA

Writes search/ranking/calibration.py and docs/confidence.md.

Nobody annotated questions that have no answer. A repository's own questions are answered in it; those about another
repository, most of them, are not. Run it after `training.ranking`, whose scores it reads. Needs numpy and scipy.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from evals.benchmark import CHINESE, Corpus, development
from numpy.typing import NDArray
from scipy.optimize import minimize

from codefathom import Engine
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.search.question.planner import overruled
from codefathom.search.question.query import parse_query
from codefathom.search.question.ranking_query import understand
from codefathom.search.ranking.confidence import WEAK, evidence
from codefathom.search.ranking.rank import rank
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, gather
from training.ranking import ROOT, options

CALIBRATION = ROOT / "src/codefathom/search/ranking/calibration.py"
PAGE = ROOT / "docs/confidence.md"
N_OTHERS = 40  # questions about other repositories, asked of each
PENALTY = 5.0
SEED = 1
OWN, SAME, OTHER = "own", "same language", "any other"
WITH, WITHOUT = ("score", "words", "near", "unknown"), ("score", "words", "unknown")


class Asked(NamedTuple):
    """One question and what was found of it."""

    corpus: str
    kind: str
    numbers: dict[str, float]


class Model(NamedTuple):
    """Weights of some numbers, and what is added."""

    names: Sequence[str]
    weights: NDArray[np.float64]
    offset: float

    def __call__(self, one: Asked) -> float:
        """Return the confidence."""
        z = sum(weight * one.numbers[name] for name, weight in zip(self.names, self.weights, strict=True)) + self.offset
        return float(1 / (1 + np.exp(-z)))


def main() -> None:
    """Learn both functions, judge them by leaving out one repository at a time, write."""
    given = options(__doc__)
    corpora = development(given.bench, given.corpora)
    found = [one for corpus in corpora for one in ask(corpus, corpora)]
    CALIBRATION.write_text(as_module(fit(found, WITH), fit(found, WITHOUT)), "utf-8")
    PAGE.write_text(as_page(found), "utf-8")
    print(PAGE.read_text("utf-8"))


def ask(corpus: Corpus, corpora: Sequence[Corpus]) -> Iterator[Asked]:
    """Ask a repository its own questions, all those about others in its language, and some about any other."""
    others = [one for one in corpora if one.name != corpus.name]
    same = [text for one in others if one.language == corpus.language for text in _texts(one)]
    any_other = random.Random(f"{SEED} {corpus.name}").sample(
        [text for one in others for text in _texts(one)], N_OTHERS
    )
    with TemporaryDirectory() as folder:
        os.environ["FATHOM_INDEX_DIR"] = folder
        with Engine.open(corpus.source / corpus.inner) as engine:
            engine.index()
            sources = engine.opened.sources
            for kind, texts in ((OWN, _texts(corpus)), (SAME, same), (OTHER, any_other)):
                for text in texts:
                    request = SearchRequest(parse_query(text))
                    query = understand(request.query, sources.catalog, sources.lexical)
                    ranked = rank(query, gather(Lookup(request, overruled("hybrid", request.query), query), sources))
                    if ranked:
                        yield Asked(corpus.name, kind, evidence(query, ranked))


def _texts(corpus: Corpus) -> list[str]:
    return [question.text for question in corpus.questions if question.category != CHINESE]


def fit(found: Sequence[Asked], names: Sequence[str]) -> Model:
    """Return the logistic function that tells own questions from others, both kinds counting as much."""
    rows = np.array([[one.numbers[name] for name in names] for one in found])
    own = np.array([one.kind == OWN for one in found], dtype=float)
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


def cross_validated(found: Sequence[Asked], names: Sequence[str]) -> list[float]:
    """Return the confidence of each question by weights learned without its repository."""
    models = {name: fit([one for one in found if one.corpus != name], names) for name in {one.corpus for one in found}}
    return [models[one.corpus](one) for one in found]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the chance that a positive stands above a negative; ties count half."""
    above = np.array(positive)[:, None] - np.array(negative)[None]
    return float((above > 0).mean() + (above == 0).mean() / 2)


def as_module(with_meaning: Model, without: Model) -> str:
    """Return the module of the package."""
    return "\n".join(
        (
            '"""The weights of the confidence. Written by `python -m training.confidence`."""',
            "",
            "from typing import Final",
            "",
            f'MODEL: Final = "{BundledEmbedder().name}"  # whose cosines WITH_MEANING was learned with',
            f"WITH_MEANING: Final = {_as_dictionary(with_meaning)}",
            f"WITHOUT: Final = {_as_dictionary(without)}",
            "",
        )
    )


def _as_dictionary(model: Model) -> str:
    rows = [f'"{name}": {weight:.2f}' for name, weight in zip(model.names, model.weights, strict=True)]
    return "{" + ", ".join([*rows, f'"offset": {model.offset:.2f}']) + "}"


def as_page(found: Sequence[Asked]) -> str:
    """Return the page on how well the confidence tells."""
    head = (
        "# Confidence\n\n<!-- Written by `python -m training.confidence`. -->\n\n"
        "The confidence of a search says how likely it is that the hits answer the question. It is a logistic\n"
        "function of four numbers: the score of the best hit, the share of the question's words that the best hits\n"
        "contain, the closest meaning, and the share of the question's words that occur nowhere in the project.\n\n"
        "To measure it, each of the 21 development repositories is asked three groups of questions: its own,\n"
        "all questions about other repositories in the same language (only Python has several repositories), and\n"
        f"{N_OTHERS} questions about any other repository. Only the first group should get a high confidence. The\n"
        "table shows how well the confidence separates the first group from each of the others: AUROC is the chance\n"
        "that a question of the first group gets the higher confidence. All figures are cross-validated: the weights\n"
        "for a repository are learned from the others. One part is not: the weights of the ranking, from which the\n"
        "score of the best hit comes, were learned from all repositories. 1.0 cannot be reached, because some\n"
        "questions about other repositories do have an answer.\n\n"
    )
    table = ["| | AUROC, any other | AUROC, same language |", "| --- | --: | --: |"]
    for title, names in (("with meaning", WITH), ("words only", WITHOUT)):
        values = cross_validated(found, names)
        table.append(f"| {title} | {_against(found, values, OTHER):.3f} | {_against(found, values, SAME):.3f} |")
    values = cross_validated(found, WITH)
    shares = ["| confidence below | own questions | others |", "| --: | --: | --: |"]
    for limit in (0.02, 0.1, WEAK, 0.35, 0.5, 0.65):
        below = [
            np.mean([value < limit for one, value in zip(found, values, strict=True) if (one.kind == OWN) is own])
            for own in (True, False)
        ]
        shares.append(f"| {limit} | {below[0]:.0%} | {below[1]:.0%} |")
    limits = (
        f"With a confidence below {WEAK}, a search calls its hits weak. With one below `answer.least_confidence`,\n"
        "`ask` does not ask a model. The next table shows which share of the questions lies below a limit."
    )
    return (
        f"{head}{chr(10).join(table)}\n\n{limits}\n\n{chr(10).join(shares)}\n\n"
        "    python -m training.confidence --bench BENCH --corpora CORPORA\n"
    )


def _against(found: Sequence[Asked], values: Sequence[float], kind: str) -> float:
    corpora = {one.corpus for one in found if one.kind == kind}

    def of(is_wanted: Callable[[Asked], bool]) -> list[float]:
        return [value for one, value in zip(found, values, strict=True) if one.corpus in corpora and is_wanted(one)]

    return auroc(of(lambda one: one.kind == OWN), of(lambda one: one.kind == kind))


if __name__ == "__main__":
    main()
