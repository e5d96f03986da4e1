"""Questions about whole applications, as somebody asks who works there: is the right file first, among the first three?

    python -m evals.applications --clones CLONES --trees TREES --index INDEX [--part development] [--misses]
    python -m evals.applications --clones CLONES --trees TREES --index INDEX \\
        --peer-python PEERS/bin/python --page docs/benchmarks.md

`applications.jsonl` holds our own questions about fourteen applications: a shop in Python and one in Ruby, an
application for Android and one for iOS, servers in Go, C#, PHP and TypeScript, a game, a program for the desktop,
COBOL, Terraform, Nix, notebooks. Those without an answer are about what such an application almost has, and ask how
well the confidence tells them. No weight was learned from them. Five applications, those whose names have the smallest
hashes, are kept `apart`: no rule was chosen on their questions, and their misses are never printed.

CLONES holds a bare clone of each repository as `owner+name/repo`. TREES gets the files of the named revision; INDEX
keeps the indexes between runs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from training.mine import lay

import codefathom
from codefathom import Engine
from codefathom.search.verdict import WEAK
from evals.benchmark import HERE, Corpus, Question
from evals.metrics import CUT, Found, Target, mean
from evals.report import machine, number, table, write_section
from evals.run import run_tools

QUESTIONS = HERE / "applications.jsonl"
DEVELOPMENT, APART = "development", "apart"
PARTS = (DEVELOPMENT, APART)
PEERS = ("semble", "bm25s")
_FIRST_FILES = 3


class Asked(NamedTuple):
    """A question with the places that answer it; none where it asks for what the application lacks."""

    repository: str
    part: str
    text: str
    targets: tuple[Target, ...]


class Answered(NamedTuple):
    """A question and the files that were found, each once, best first."""

    asked: Asked
    files: tuple[str, ...]
    confidence: float = 0.0  # of Codefathom

    def has(self, n_files: int) -> float:
        """Return 1 if one of the first files answers the question, else 0."""
        return float(any(target.path in self.files[:n_files] for target in self.asked.targets))


Tools = Mapping[str, Sequence[Answered]]  # by the tool's name and version


def main(words: Sequence[str] | None = None) -> int:
    """Ask, print the figures, then what was not first in the development part; write the page."""
    given = _arguments().parse_args(words)
    os.environ["FATHOM_INDEX_DIR"] = str(given.index.absolute())
    os.environ["FATHOM_CONFIG"] = str(given.index.absolute() / "no-settings.toml")
    asked = [one for one in all_questions() if given.part in (None, one.part)]
    trees = laid(given.clones, given.trees)
    tools = {f"fathom {codefathom.__version__}": list(_ask_all(asked, trees))}
    tools |= _ask_peers(asked, trees, given.peer_python) if given.peer_python else {}
    print(_figures(tools), _doubt(next(iter(tools.values()))), sep="\n\n")
    for one in _missed(next(iter(tools.values()))) if given.misses else ():
        print(f"{one.asked.repository}: {one.asked.text}\n    " + "\n    ".join(one.files[:_FIRST_FILES]))
    if given.page:
        write_section(given.page, "python -m evals.applications", page(tools))
    return 0


def all_questions() -> list[Asked]:
    """Return our own questions."""
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [
        Asked(row["repository"], row["part"], row["question"], tuple(_target(one) for one in row["answers"]))
        for row in rows
    ]


def revisions() -> dict[str, str]:
    """Return the revision of each repository."""
    rows = map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines())
    return {row["repository"]: row["revision"] for row in rows}


def laid(clones: Path, trees: Path) -> dict[str, Path]:
    """Return the folder with the files of each application; it is made where it is not there."""
    folders = {}
    for repository, revision in revisions().items():
        name = repository.replace("/", "+")
        folders[repository] = trees / name
        if not folders[repository].is_dir():
            lay(clones / name / "repo", revision, folders[repository])
    return folders


def _ask_all(asked: Sequence[Asked], trees: Mapping[str, Path]) -> Iterator[Answered]:
    for repository in dict.fromkeys(one.repository for one in asked):
        with Engine.open(str(trees[repository])) as engine:
            engine.index()
            for one in asked:
                if one.repository == repository:
                    found = engine.search(one.text, limit=CUT)
                    files = tuple(dict.fromkeys(hit.chunk.path for hit in found.hits))
                    yield Answered(one, files, found.confidence)


def _ask_peers(asked: Sequence[Asked], trees: Mapping[str, Path], python: str) -> dict[str, list[Answered]]:
    corpora = [
        Corpus(repository, "", tree, "", tuple(Question(one.text, one.part, one.targets) for one in own))
        for repository, tree in trees.items()
        if (own := [one for one in asked if one.repository == repository])
    ]
    by_text = {(one.repository, one.text): one for one in asked}
    tools = {}
    for run in run_tools(PEERS, corpora, peer_python=python, repeat=1).runs:
        tools[run.version] = [
            Answered(by_text[outcome.name, answer.question], _files(answer.places))
            for outcome in run.outcomes
            for answer in outcome.answers
        ]
    return tools


def _files(places: Sequence[Found]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.path for place in places[:CUT]))


def _target(answer: Mapping[str, object]) -> Target:
    path, lines = answer["path"], answer["lines"]
    if not isinstance(path, str) or not isinstance(lines, list):
        raise TypeError(f"{QUESTIONS.name}: not a place: {answer!r}")
    return Target(path, *lines)


def _missed(answered: Sequence[Answered]) -> list[Answered]:
    """Return what was not first. What is kept apart is not shown: whoever sees it would learn from it."""
    return [one for one in answered if one.asked.part == DEVELOPMENT and one.asked.targets and not one.has(1)]


def _figures(tools: Tools) -> str:
    head = ["", "questions", *(word for tool in tools for word in (tool, "first three files"))]
    return table(head, [_row(part, tools) for part in PARTS])


def _row(part: str, tools: Tools) -> list[str]:
    own = [[one for one in answered if one.asked.part == part and one.asked.targets] for answered in tools.values()]
    shares = [number(mean([one.has(n_files) for one in mine]), ".2f") for mine in own for n_files in (1, _FIRST_FILES)]
    return [part, str(len(own[0])), *shares]


def _doubt(answered: Sequence[Answered]) -> str:
    head = ["", "answerable", "called weak", "almost there", "called weak", "AUROC"]
    return table(head, [_row_of_doubt(part, answered) for part in PARTS])


def _row_of_doubt(part: str, answered: Sequence[Answered]) -> list[str]:
    own = [one.confidence for one in answered if one.asked.part == part and one.asked.targets]
    lacking = [one.confidence for one in answered if one.asked.part == part and not one.asked.targets]
    above = [(one > other) + (one == other) / 2 for one in own for other in lacking]
    return [part, *(cell for side in (own, lacking) for cell in _weak(side)), number(mean(above), ".2f")]


def _weak(confidences: Sequence[float]) -> tuple[str, str]:
    return str(len(confidences)), number(mean([one < WEAK for one in confidences]), ".0%")


def page(tools: Tools) -> str:
    """Return the section of the page."""
    answered = next(iter(tools.values()))
    return _PAGE.format(
        n_questions=sum(bool(one.asked.targets) for one in answered),
        n_lacking=sum(not one.asked.targets for one in answered),
        n_applications=len(revisions()),
        machine=machine(),
        figures=_figures(tools),
        doubt=_doubt(answered),
    )


_PAGE = """\
## Whole applications

{n_questions} questions of our own about {n_applications} applications (shops, a podcast player, a media server, a game,
COBOL, Terraform, Nix, notebooks), as somebody asks who works there: words, sentences, error messages, tests, builds.
The figures are the share of questions whose right file is the first one, and that are answered by one of the first
three files. No weight was learned from them. Rules were chosen on the applications of the part "development";
the questions of five applications were kept "apart" before anything was measured, and only the sums of these were
looked at. One author wrote the questions and read the code; most have one right file.

Machine: {machine}.

{figures}

{n_lacking} further questions are about what such an application almost has ("attach pictures and sound recordings to a
note"). AUROC is the chance that a question which is answered there gets the higher confidence; "called weak" is the
share below the limit at which a search doubts its hits ([confidence.md](confidence.md)).

{doubt}

    python -m evals.applications --clones CLONES --trees TREES --index INDEX --page docs/benchmarks.md
"""


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evals.applications", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--clones", type=Path, required=True, help="folder of bare clones: owner+name/repo")
    parser.add_argument("--trees", type=Path, required=True, help="folder of the applications' files, made from CLONES")
    parser.add_argument("--index", type=Path, required=True, help="folder of the indexes, kept between runs")
    parser.add_argument("--part", choices=PARTS, help="this part of the questions; both by default")
    parser.add_argument("--misses", action="store_true", help="also print what came first, development part only")
    parser.add_argument("--peer-python", help="interpreter that has semble and bm25s: measure them, too")
    parser.add_argument("--page", type=Path, help="write the figures into this page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
