"""Writes the figures of a run as one page of Markdown."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from evals.benchmark import CHINESE, STANDARD_LIBRARY
from evals.metrics import Scores, mean, mean_of_groups, percentile
from evals.run import REPOSITORY, Comparison, Run, Scored
from evals.worker import PROCESS_RUNS, Outcome

NOTHING = "–"
HEAD = """\
# The development benchmark

Measured on {date}, {commit}. One run measures all tools, one after another. Each tool runs in its own
process, over fresh copies of the same trees. Machine: {machine}.
The development benchmark asks {n_questions} annotated questions about {n_corpora} repositories. Codefathom learned the
weights of its ranking from the same questions. So its figures here show what it reaches on these repositories; on
others expect less. [ranking.md](ranking.md) has cross-validated figures. [confidence.md](confidence.md) shows how well
Codefathom notices that nothing answers a question. NDCG@10 is first averaged over the questions of a repository, then
over the repositories. Each place in a file counts as a hit of its own.

{tools}
"""
N_REPOSITORIES = 21
CATEGORY_GOALS = {"architecture": 0.86, "semantic": 0.89, "symbol": 0.98}
SEMBLE = """\
semble runs without its embedding model, because this machine cannot download it. So semble's process time does not
include the loading of that model.\
"""
PUBLISHED = "With the model, semble's authors report an NDCG@10 of 0.851 on these repositories."
Row = Sequence[str]


def page(measured: Comparison, issues: Mapping[str, float] | None = None) -> str:
    """Return the page for runs over the same corpora, Codefathom first; `issues`: figures of `evals.localize`."""
    runs = measured.runs
    development = [_without(run, STANDARD_LIBRARY) for run in runs]
    missing = [f"{one.tool}: not measured ({one.reason})" for one in measured.missing]
    parts = [_head(development), *missing, *_about_semble(development), "## At a glance"]
    parts += [*_goals(development, issues or {}), _glance(development)]
    categories = sorted({scored.category for run in development for scored in run.scored})
    languages = sorted({scored.language for run in development for scored in run.scored})
    parts += [
        "## NDCG@10 by category",
        _by(development, categories, lambda scored: scored.category),
        "## NDCG@10 by language",
        _by(development, languages, lambda scored: scored.language),
    ]
    library = [run for run in runs if any(outcome.name == STANDARD_LIBRARY for outcome in run.outcomes)]
    if library:
        parts += [
            "## Python's standard library: each question describes one definition",
            _library([_only(run) for run in library]),
        ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write_section(page: Path, command: str, text: str) -> None:
    """Write a text into a page, where the same command wrote one before, or at its end."""
    page.write_text(with_section(page.read_text(encoding="utf-8"), command, text), encoding="utf-8")


def with_section(page: str, command: str, text: str) -> str:
    """Return the page with a text between the marks of a command. Headings of the text become one level lower."""
    begin, end = f"<!-- Written by `{command}`. -->", f"<!-- End of `{command}`. -->"
    before, found, rest = page.partition(begin)
    after = rest.partition(end)[2].strip() if found else ""
    section = f"{begin}\n{_HEADING.sub('##', text.strip())}\n{end}"
    return "\n\n".join(part for part in (before.strip(), section, after) if part) + "\n"


_HEADING = re.compile(r"^#(?=#* )", re.MULTILINE)


def table(head: Row, rows: Iterable[Row]) -> str:
    """Return a Markdown table, the first column to the left and the others to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ndcg(scored: Iterable[Scored]) -> float:
    """Return the headline: the mean over corpora of the mean over questions."""
    return mean_of_groups(scored, lambda one: one.corpus, lambda one: one.scores.ndcg)


def headline(run: Run) -> float:
    """Return NDCG@10 over the annotated questions, or over the others where only those were asked."""
    return ndcg(_asked(_without(run, STANDARD_LIBRARY)) or run.scored)


def machine() -> str:
    """Say on what was measured, without a name, and how busy it was."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    busy = f", load average {os.getloadavg()[2]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores, {system}{busy}"


def number(value: float | None, form: str = ".1f") -> str:
    """Return a figure as text, a dash for none."""
    return NOTHING if value is None else format(value, form)


def _head(runs: Sequence[Run]) -> str:
    asked = [scored for scored in runs[0].scored if scored.category != CHINESE]
    return HEAD.format(
        date=datetime.now(UTC).date().isoformat(),
        commit=_commit(),
        machine=machine(),
        n_questions=len(asked),
        n_corpora=len(runs[0].outcomes),
        tools="Tools: " + "; ".join(run.version for run in runs) + ".",
    )


def _commit() -> str:
    """Say which state of the source was measured."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    name = git("rev-parse", "--short=9", "HEAD")
    if not name:
        return "outside a repository"
    return f"commit {name}" + (" and what was changed after it" if git("status", "--porcelain", "src") else "")


def _about_semble(runs: Sequence[Run]) -> list[str]:
    ours = [run for run in runs if run.tool == "semble"]
    return [f"{SEMBLE} {PUBLISHED}" if len(run.outcomes) == N_REPOSITORIES else SEMBLE for run in ours]


class Goal(NamedTuple):
    """What is to be reached, the figure (None: not measured), how it is written, and the bound."""

    name: str
    value: float | None
    form: str
    bound: float
    is_least: bool = True

    @property
    def row(self) -> Row:
        """The goal, what was measured, and whether that reaches it."""
        assert self.value is not None
        met = self.value >= self.bound if self.is_least else self.value <= self.bound
        goal = f"{self.name} {'≥' if self.is_least else '≤'} {self.bound:g}"
        return goal, format(self.value, self.form), "met" if met else "missed"


def _goals(runs: Sequence[Run], issues: Mapping[str, float]) -> list[str]:
    """Return the goals that this run can judge as a table, or nothing."""
    by_tool = {run.tool: run for run in runs}
    run = by_tool.get("fathom")
    if run is None or not _asked(run):
        return []
    semble_s = _sum(by_tool["semble"], _cpu_seconds) if "semble" in by_tool else None
    latencies = _latencies(run)
    first = mean_of_groups(_asked(run), lambda one: one.corpus, lambda one: one.scores.first)
    goals = [
        Goal("NDCG@10", ndcg(_asked(run)), ".3f", 0.9),
        Goal("first place right", first, ".3f", 0.82),
        *(
            Goal(f"NDCG@10, {category}", _of_category(run, category), ".3f", least)
            for category, least in CATEGORY_GOALS.items()
        ),
        Goal("issues, all files among the first five (%)", issues.get("acc@5"), ".1f", 72),
        Goal("issues, a file among the first five (%)", issues.get("hit@5"), ".1f", 90),
        Goal(
            "index, processor time (times that of semble)", _ratio(_sum(run, _cpu_seconds), semble_s), ".2f", 1.5, False
        ),
        Goal("query p50 (ms)", percentile(latencies, 50), ".2f", 2, False),
        Goal("query p95 (ms)", percentile(latencies, 95), ".2f", 6, False),
        Goal("whole `search` command (ms)", _mean(run, lambda outcome: outcome.process_ms), ".0f", 350, False),
    ]
    # A category that nobody asked about has no figure either.
    measured = [goal.row for goal in goals if goal.value]
    return [table(("goal", "measured", "reached"), measured)]


def _cpu_seconds(outcome: Outcome) -> float | None:
    return outcome.index_cpu_s


def _of_category(run: Run, category: str) -> float:
    return ndcg(one for one in run.scored if one.category == category)


def _glance(runs: Sequence[Run]) -> str:
    base = next((_index_seconds(run) for run in runs if run.tool == "semble"), None)
    rows: list[Row] = [
        ("NDCG@10", *(number(ndcg(_asked(run)), ".3f") for run in runs)),
        *(_quality(runs, name, value) for name, value in FURTHER.items()),
        ("NDCG@10, Chinese wording", *(number(ndcg(_chinese(run)), ".3f") for run in runs)),
        ("index, all repositories (s)", *(number(_index_seconds(run)) for run in runs)),
        ("index, processor time (s)", *(number(_sum(run, _cpu_seconds)) for run in runs)),
        (
            "index, elapsed time (times that of semble)",
            *(number(_ratio(_index_seconds(run), base), ".2f") for run in runs),
        ),
        ("query p50 (ms)", *(number(percentile(_latencies(run), 50), ".2f") for run in runs)),
        ("query p95 (ms)", *(number(percentile(_latencies(run), 95), ".2f") for run in runs)),
        (
            "changed file → found, mean (ms)",
            *(number(_mean(run, lambda outcome: outcome.fresh_ms), ".0f") for run in runs),
        ),
        (
            f"whole `search` command, median of {PROCESS_RUNS} runs, mean (ms)",
            *(number(_mean(run, lambda outcome: outcome.process_ms), ".0f") for run in runs),
        ),
        (
            "peak memory, one process for all repositories (MB)",
            *(number(_megabytes(run.peak_bytes), ".0f") for run in runs),
        ),
        (
            "index on disk (MB)",
            *(number(_megabytes(_sum(run, lambda outcome: outcome.n_bytes)), ".0f") for run in runs),
        ),
    ]
    return table(("", *(run.tool for run in runs)), rows)


FURTHER: dict[str, Callable[[Scores], float]] = {
    "first place right": lambda scores: scores.first,
    "recall@10": lambda scores: scores.recall,
}


def _quality(runs: Sequence[Run], name: str, value: Callable[[Scores], float]) -> Row:
    means = (mean_of_groups(_asked(run), lambda one: one.corpus, lambda one: value(one.scores)) for run in runs)
    return (name, *(number(figure, ".3f") for figure in means))


def _by(runs: Sequence[Run], names: Sequence[str], key: Callable[[Scored], str]) -> str:
    def chosen(run: Run, name: str) -> list[Scored]:
        # A language is scored by the annotated questions only; the Chinese wording is a row among the categories.
        return [one for one in run.scored if key(one) == name and (name == one.category or one.category != CHINESE)]

    def figure(run: Run, name: str) -> str:
        return number(ndcg(chosen(run, name)), ".3f")

    def n_questions(name: str) -> str:
        return str(len(chosen(runs[0], name)))

    rows = [(name, n_questions(name), *(figure(run, name) for run in runs)) for name in names]
    return table(("", "questions", *(run.tool for run in runs)), rows)


def _library(runs: Sequence[Run]) -> str:
    rows: list[Row] = [
        ("NDCG@10", *(number(ndcg(run.scored), ".3f") for run in runs)),
        ("recall@10", *(number(mean(one.scores.recall for one in run.scored), ".3f") for run in runs)),
        ("index (s)", *(number(_index_seconds(run)) for run in runs)),
        ("query p50 (ms)", *(number(percentile(_latencies(run), 50), ".2f") for run in runs)),
    ]
    return table(("", *(run.tool for run in runs)), rows)


def _asked(run: Run) -> list[Scored]:
    return [scored for scored in run.scored if scored.category != CHINESE]


def _chinese(run: Run) -> list[Scored]:
    return [scored for scored in run.scored if scored.category == CHINESE]


def _latencies(run: Run) -> list[float]:
    return [time for outcome in run.outcomes for answer in outcome.answers for time in answer.milliseconds]


def _index_seconds(run: Run) -> float | None:
    return _sum(run, lambda outcome: outcome.index_s)


def _sum(run: Run, value: Callable[[Outcome], float | None]) -> float | None:
    figures = _known(run, value)
    return sum(figures) if figures else None


def _mean(run: Run, value: Callable[[Outcome], float | None]) -> float | None:
    figures = _known(run, value)
    return mean(figures) if figures else None


def _known(run: Run, value: Callable[[Outcome], float | None]) -> list[float]:
    return [figure for outcome in run.outcomes if (figure := value(outcome)) is not None]


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _megabytes(n_bytes: float | None) -> float | None:
    return None if n_bytes is None else n_bytes / 1e6


def _without(run: Run, corpus: str) -> Run:
    return _filtered(run, lambda name: name != corpus)


def _only(run: Run) -> Run:
    return _filtered(run, lambda name: name == STANDARD_LIBRARY)


def _filtered(run: Run, keep: Callable[[str], bool]) -> Run:
    outcomes = tuple(outcome for outcome in run.outcomes if keep(outcome.name))
    return Run(
        run.tool,
        run.version,
        run.python,
        run.peak_bytes,
        outcomes,
        tuple(one for one in run.scored if keep(one.corpus)),
    )
