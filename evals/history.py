"""Questions about history: is the commit that answers the first hit, or one of the first five?

    python -m evals.history FOLDER [--apart] [--misses]

FOLDER holds the repositories, as `OWNER+NAME/repo` (git directories). Each question stands in `history_questions.tsv`
with its repository and the hash of its commit. A third of the questions is kept apart by repository: nothing is chosen
on them. Beside `fathom search --commits` the words that carry meaning are given to `git log`: as `--grep`, of which all
(`all`) or any (`any`) must be in the message, the latest commit first; as `-S` with the rarest word that any change has
(`pickaxe`, without files of which the clone lacks a version); and, which git cannot do by itself, as one `--grep` each,
the commits with the most words first (`counted`). Indexes are made in the user's cache, or where FATHOM_INDEX_DIR says.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from codefathom import Engine

APART = ("pallets+werkzeug", "marshmallow-code+marshmallow", "reduxjs+redux", "honojs+hono")
_FIRST = 5
_STOP_WORDS = (
    "a an and are as at be because been by did do does for from had has have how in into is it its last no not of on "
    "one or since so some start that the then there they this to too was we were what when where which while who why "
    "with without wrongly would"
)
_STOP = frozenset(_STOP_WORDS.split())


class HistoryQuestion(NamedTuple):
    """A question, and the hash of the commit that answers it."""

    repository: str
    commit: str
    text: str


def questions() -> list[HistoryQuestion]:
    """Return all questions."""
    lines = Path(__file__).with_suffix("").with_name("history_questions.tsv").read_text(encoding="utf-8").splitlines()
    return [HistoryQuestion(*line.split("\t")) for line in lines]


def _answers(way: str, folder: Path, asked: Sequence[HistoryQuestion]) -> list[list[str]]:
    if way == "fathom":
        return by_fathom(folder, asked)
    return [_BY_GIT[way](folder, question.text) for question in asked]


def by_fathom(folder: Path, asked: Sequence[HistoryQuestion]) -> list[list[str]]:
    """Return the commits that a search gives to each question."""
    with Engine.open(str(folder)) as engine:
        results = (engine.search(question.text, commits=True, limit=_FIRST) for question in asked)
        return [[hit.commit.commit for hit in result.hits if hit.commit] for result in results]


def by_grep(folder: Path, question: str, *, all_match: bool) -> list[str]:
    """Return the latest commits whose messages have all or any of the words of a question."""
    patterns = [f"--grep={word}" for word in words(question)]
    every = ["--all-match"] if all_match else []
    return _git(folder, "log", "-i", "-F", *every, *patterns, f"--max-count={_FIRST}", "--format=%H")


def by_counted_words(folder: Path, question: str) -> list[str]:
    """Return the commits whose messages have the most words of a question."""
    counts: Counter[str] = Counter()
    order: dict[str, int] = {}
    for word in words(question):
        listed = _git(folder, "log", "-i", "-F", f"--grep={word}", "--format=%H")
        counts.update(listed)
        for place, commit in enumerate(listed):
            order.setdefault(commit, place)
    return sorted(counts, key=lambda commit: (-counts[commit], order[commit]))[:_FIRST]


def by_pickaxe(folder: Path, question: str) -> list[str]:
    """Return the commits that added or removed the rarest word of a question that any change has.

    Left out are files that have a version which the clone lacks: git could not read it.
    """
    kept = [".", *(f":(exclude,literal){path}" for path in lacking_files(folder))]
    each = (_git(folder, "log", f"-S{word}", "--full-history", "--format=%H", "--", *kept) for word in words(question))
    return min(filter(None, each), key=len, default=[])[:_FIRST]


@cache
def lacking_files(folder: Path) -> list[str]:
    """Return the files of any commit with a version that is not in the clone, such as one that was too large for it."""
    marked = _git(folder, "rev-list", "--objects", "--missing=print", "HEAD")
    missing = {line[1:] for line in marked if line.startswith("?")}
    changes = _read(folder, "log", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "-z") if missing else ""
    parts = changes.lstrip("\n\0").split("\0")
    return sorted({path for ids, path in zip(parts[::2], parts[1::2], strict=False) if missing & set(ids.split())})


_BY_GIT: Mapping[str, Callable[[Path, str], list[str]]] = {
    "all": partial(by_grep, all_match=True),
    "any": partial(by_grep, all_match=False),
    "counted": by_counted_words,
    "pickaxe": by_pickaxe,
}


def words(question: str) -> list[str]:
    """Return the words of a question that carry meaning."""
    return [word for word in re.findall(r"[\w-]{3,}", question.lower()) if word not in _STOP]


def _git(folder: Path, *options: str) -> list[str]:
    return _read(folder, *options).split()


def _read(folder: Path, *options: str) -> str:
    run = subprocess.run(["git", "-C", str(folder), *options], capture_output=True, check=True)
    return run.stdout.decode("utf-8", "replace")


def place_of_answer(commits: Iterable[str], question: HistoryQuestion) -> int:
    """Return the place of the answer among the commits, from 1; 0 where it is not there."""
    return next((n for n, commit in enumerate(commits, 1) if commit.startswith(question.commit)), 0)


def main() -> None:
    """Print the shares of each way, in the repositories for choosing and in those kept apart."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--apart", action="store_true", help="only the repositories that are kept apart")
    parser.add_argument("--misses", action="store_true", help="print the questions that fathom does not answer first")
    parser.add_argument("--only", default="fathom all any counted pickaxe", help="ways")
    options = parser.parse_args()
    os.environ.setdefault("FATHOM_INDEX_DIR", str(Path.home() / ".cache" / "codefathom" / "evals-history"))
    by_repository: dict[str, list[HistoryQuestion]] = defaultdict(list)
    for question in questions():
        if not options.apart or question.repository in APART:
            by_repository[question.repository].append(question)
    ranks: dict[tuple[str, str], list[int]] = defaultdict(list)
    for repository, asked in by_repository.items():
        folder = options.folder / repository / "repo"
        part = "apart" if repository in APART else "chosen on"
        ways: Mapping[str, list[list[str]]] = {way: _answers(way, folder, asked) for way in options.only.split()}
        for way, lists in ways.items():
            for question, commits in zip(asked, lists, strict=True):
                place = place_of_answer(commits, question)
                ranks[part, way].append(place)
                if options.misses and way == "fathom" and place != 1:
                    print(place, repository, question.commit, question.text)
    for (part, way), values in sorted(ranks.items()):
        first, five = (sum(0 < place <= most for place in values) / len(values) for most in (1, _FIRST))
        print(f"{part:10} {way:8} n={len(values)} first={first:.2f} first five={five:.2f}")


if __name__ == "__main__":
    main()
