"""Questions mined from history, on repositories that no weight was learned from (set K): every tool in the same run.

    python -m evals.mined --questions QUESTIONS --peer-python PEERS/bin/python --page docs/benchmarks.md

QUESTIONS is what `training.order_questions` wrote. The page has a table by kind of question and one by language.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from evals.benchmark import Corpus, Question
from evals.metrics import Found, Target, mean_of_groups, meets
from evals.report import machine, ndcg, number, table, write_section
from evals.run import REPOSITORY, Run, Scored, run_tools

MANIFEST = REPOSITORY / "training" / "order_sources.json"
KEPT_APART = "K"  # the split of repositories that no weight is learned from
ISSUE = "issue"  # the kind of whole messages of commits
TOOLS = ("fathom", "semble", "bm25s")


def main() -> int:
    """Measure, print, write the page. Returns 2 when no tool ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has semble and bm25s")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    apart = corpora(options.questions, KEPT_APART)
    runs = run_tools(TOOLS, apart, peer_python=options.peer_python, repeat=1).runs
    for run in runs:
        print(f"{run.version}: NDCG@10 {ndcg(run.scored):.3f}")
    if options.page and runs:
        write_section(options.page, "python -m evals.mined", page(runs, apart))
    return 0 if runs else 2


def corpora(questions: Path, split: str) -> list[Corpus]:
    """Return the repositories of a split with the questions about each."""
    return [_corpus(source["name"], source["language"], folder) for source, folder in folders(questions, split)]


def folders(questions: Path, split: str) -> list[tuple[Mapping[str, str], Path]]:
    """Return the repositories of a split as the manifest names them, each with its folder: `tree`, questions.jsonl."""
    sources = [source for source in json.loads(MANIFEST.read_text("utf-8")) if source["split"] == split]
    return [(source, questions / source["name"].replace("/", "+")) for source in sources]


def _corpus(name: str, language: str, folder: Path) -> Corpus:
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:  # a text may hold other marks of a line's end
        rows = list(map(json.loads, lines))
    asked = tuple(Question(row["text"], row["kind"], tuple(map(Target, row["paths"]))) for row in rows)
    return Corpus(name, language, folder / "tree", "", asked)


def page(runs: Sequence[Run], asked: Sequence[Corpus]) -> str:
    """Return the page: each tool on each kind of question and in each language, and files of issues."""
    return "\n\n".join(
        (
            _HEAD.format(
                n_questions=len(runs[0].scored),
                n_repositories=len(runs[0].outcomes),
                tools="; ".join(run.version for run in runs),
                machine=machine(),
            ).strip(),
            _table(runs, "kind of question", lambda one: one.category),
            _table(runs, "language", lambda one: one.language),
            _ISSUES.strip(),
            _files_of_issues(runs, asked),
            _END.strip(),
            "",
        )
    )


def _table(runs: Sequence[Run], title: str, group_of: Callable[[Scored], str]) -> str:
    """Return NDCG@10 and first places of each tool by group, and whether the first tool is ahead."""
    heads = [cell for run in runs for cell in (run.tool, "first")]
    rows = []
    for name in ("all", *sorted({group_of(one) for one in runs[0].scored})):
        parts = [[one for one in run.scored if name in ("all", group_of(one))] for run in runs]
        cells = [cell for part in parts for cell in (number(ndcg(part), ".3f"), number(_first(part), ".3f"))]
        rows.append((name, str(len(parts[0])), *cells))
    return table((title, "questions", *heads), rows)


def _files_of_issues(runs: Sequence[Run], asked: Sequence[Corpus]) -> str:
    """Return for each tool how often the file of an issue, or one of several, is among the first files."""
    rows = []
    for run in runs:
        cells = []
        for is_one, n_first in ((True, 1), (True, 3), (True, 5), (False, 5)):
            found = [
                (corpus, float(0 < first <= n_first))
                for corpus, n_files, first in _issues(run, asked)
                if (n_files == 1) == is_one
            ]
            cells.append(number(100 * mean_of_groups(found, itemgetter(0), itemgetter(1))))
        rows.append((run.tool, *cells))
    return table(("", "one file: acc@1", "acc@3", "acc@5", "several: hit@5"), rows)


def _issues(run: Run, asked: Sequence[Corpus]) -> Iterator[tuple[str, int, int]]:
    """Yield for each issue its repository, the number of its files, and the place of the first of them; 0: none."""
    answers_of = {outcome.name: outcome.answers for outcome in run.outcomes}
    for corpus in asked:
        for question, answer in zip(corpus.questions, answers_of[corpus.name], strict=True):
            if question.category == ISSUE:
                files = [Found(path) for path in dict.fromkeys(place.path for place in answer.places)]
                places = (n for n, file in enumerate(files, 1) if any(meets(file, one) for one in question.targets))
                yield corpus.name, len(question.targets), next(places, 0)


def _first(scored: Sequence[Scored]) -> float:
    return mean_of_groups(scored, lambda one: one.corpus, lambda one: one.scores.first)


_HEAD = """
# Questions from history, on repositories kept apart

{n_questions} questions about {n_repositories} repositories (set K). No weight was learned from them. Their
figures were seen beside the cross-validated ones when the kinds of questions to learn from were chosen, and both said
the same. NDCG@10 and the share of questions whose first place is right, as means over
repositories. Kinds: subjects of commits with the code that they changed ("commit"), whole messages of commits
("issue"), first sentences of documentation, taken out of the code before ("doc" of a definition, "topic" of a file or
of the type that it is named after), names ("symbol"), and the words of names without their spelling ("keyword").

Tools: {tools}. Machine: {machine}.
"""
_ISSUES = """
Issues, as a user sees the list, tests and documents among it: how often the changed file is among the first one, three
and five files (in percent, means over repositories), and for issues of several files how often one of them is among the
first five.
"""
_END = """
A commit may well be right about files that its subject does not name, and a question may have other answers than the
files that one commit changed; so no tool comes near 1, and only the difference between tools says something.

    python -m training.order_questions --sources training/order_sources.json --excluded training/excluded.txt \\
        --repositories CLONES --out QUESTIONS
    python -m evals.mined --questions QUESTIONS --peer-python PEERS/bin/python --page docs/benchmarks.md
"""

if __name__ == "__main__":
    sys.exit(main())
