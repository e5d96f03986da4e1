"""Mine questions with the files that answer them from the history and the documentation of repositories.

    python -m training.order_questions --sources training/order_sources.json --excluded training/excluded.txt \\
        --repositories MIRROR --out QUESTIONS

MIRROR holds one git directory a repository, `owner+name/repo`. QUESTIONS gets one folder a repository: `tree`, its
files at the revision of the manifest without the documentation that questions are made of, and `questions.jsonl`. The
mined text stays outside the repository.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from codefathom.facts.paths import is_test
from codefathom.index.chunk import split_lines
from codefathom.parse import parse
from codefathom.source.documents import read
from codefathom.source.scan import scan
from codefathom.stores.lexical.terms import parts
from codefathom.types import Skipped, Symbol
from training.mine import first_sentence, lay, opening
from training.sources import Source, forbidden, read_sources

MOST = {"commit": 60, "issue": 30, "doc": 40, "topic": 25, "symbol": 25, "keyword": 15}  # of one repository
_MOST_COMMITS = 4_000
_MOST_FILES, _MOST_CODE_FILES, _MOST_LINES = 8, 3, 300  # that a commit changes
_PROSE = {"markdown", "rst", "text", "html", "asciidoc"}
_DATA = re.compile(
    r"(?i)\.(?:lock|json|svg|ya?ml|toml|cfg|ini|xml|csv|txt|md|rst|adoc|html?|css|po|gradle|cabal|csproj|props)$"
)
_NOT_CODE = re.compile(
    r"(?i)(?:^|/)(?:docs?|examples?|samples?|vendor|third[_-]?party|dist|build|benchmarks?|\.github|node_modules)/"
)
# Subjects of commits that say nothing of what a file is for.
_MASS = re.compile(
    r"(?i)\b(?:bump|releas\w*|versions?|typos?|format\w*|lint\w*|merge|revert\w*|renam\w*|licen[cs]e|copyright|"
    r"changelog|clippy|prettier|eslint|rubocop|whitespace|indent\w*|style|spelling|deps|dependenc\w+|upgrade|readme|wip|tweaks?|"
    r"cosmetic|clean ?-?ups?|refactor\w*|tidy|minor|nit|misc|comments?|docs?|documentation|docstrings?|tests?|ci|"
    r"travis|coverage)\b"
)
_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*|\w+(?:\([^)]*\))?!?:\s+|#\d+[:\s-]*)|\s*\(?(?:#|GH-|gh-)\d+\)?\.?\s*$")
_TRAILER = re.compile(
    r"(?im)^(?:[\w-]+-by|change-id|pull[- ]request.*|fix(?:es|ed)?:?\s+#\d+.*|close[sd]?:?\s+#\d+.*|see #\d+.*|"
    r"git-svn-id|piperorigin-revid|reviewed-on|bug|issue|refs?|ticket)\b.*$"
)
_HEAD = 40  # lines at the top of a file
_FOR_TOOLS = re.compile(r"(?i)@|go:|[ejt]s[lh]int|vim|-\*-|usr/bin|swiftlint|nolint|ts-|noinspection|rubocop|frozen_")
_LONGEST = 200  # characters of a question
_LONG = 20  # characters of a line of documentation that stands inside another line
_MARKS = " \t*/#-!\"';<>|"
_KINDS = {"class", "struct", "interface", "trait", "enum", "function", "method", "module", "type", "protocol", "object"}


class MinedQuestion(NamedTuple):
    """A question, its kind, and the files that answer it."""

    kind: str
    text: str
    paths: tuple[str, ...]


class _Commit(NamedTuple):
    subject: str
    body: str
    changes: tuple[tuple[int, str], ...]  # number of changed lines, path


def mine(source: Source, repositories: Path, out: Path) -> tuple[str, dict[str, int]]:
    """Write tree and questions of one repository; return its name and the number of questions of each kind."""
    folder = out / source.name.replace("/", "+")
    target = folder / "questions.jsonl"
    if not target.exists():
        tree = folder / "tree"
        git = repositories / source.name.replace("/", "+") / "repo"
        git = git / ".git" if (git / ".git").is_dir() else git
        lay(git, source.revision, tree)
        questions = list(_questions(git, source.revision, tree))
        lines = [json.dumps(question._asdict(), ensure_ascii=False) for question in questions]
        target.write_text("".join(f"{line}\n" for line in lines), "utf-8", errors="replace")
    with target.open(encoding="utf-8") as file:
        return source.name, dict(Counter(json.loads(line)["kind"] for line in file))


def read_questions(folder: Path) -> list[MinedQuestion]:
    """Return the questions of one repository."""
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        rows = map(json.loads, file)
        return [MinedQuestion(row["kind"], row["text"], tuple(row["paths"])) for row in rows]


def _questions(git: Path, revision: str, tree: Path) -> Iterator[MinedQuestion]:
    documents = [one for file in scan(str(tree)).files if not isinstance(one := read(str(tree), file), Skipped)]
    code = [one for one in documents if _is_code(one.path) and one.language not in _PROSE and one.size < 300_000]
    outlines = {document.path: parse(document).symbols for document in code}
    chance = random.Random(str(tree.parent.name))
    yield from _name_questions(outlines, chance)
    yield from _commit_questions(git, revision, set(outlines), chance)
    blanks: dict[str, dict[int, str]] = defaultdict(dict)
    lines_of = {document.path: split_lines(document.text) for document in code}
    yield from _topic_questions(outlines, lines_of, blanks, chance)
    yield from _doc_questions(outlines, lines_of, blanks, chance)
    _blank(tree, lines_of, blanks)


def _is_code(path: str) -> bool:
    return not (is_test(path) or _DATA.search(path) or _NOT_CODE.search(path))


# ---- names


def _name_questions(outlines: dict[str, Sequence[Symbol]], chance: random.Random) -> Iterator[MinedQuestion]:
    """Yield names that one file alone defines, as they are and as loose words."""
    paths: dict[str, set[str]] = defaultdict(set)
    for path, symbols in outlines.items():
        for symbol in symbols:
            if symbol.kind in _KINDS:
                paths[symbol.name].add(path)
    alone = sorted(name for name, own in paths.items() if len(own) == 1 and len(name) > 4 and name.isidentifier())
    chance.shuffle(alone)
    for name in alone[: MOST["symbol"]]:
        yield MinedQuestion("symbol", name, tuple(paths[name]))
    wordy = [name for name in alone[MOST["symbol"] :] if 3 <= len(set(parts(name))) <= 5]
    for name in wordy[: MOST["keyword"]]:
        yield MinedQuestion("keyword", " ".join(parts(name)), tuple(paths[name]))


# ---- history


def _commit_questions(git: Path, revision: str, paths: set[str], chance: random.Random) -> Iterator[MinedQuestion]:
    """Yield subjects and messages of commits that change few files, which are still there."""
    subjects, issues, seen = [], [], set()
    for commit in _commits(git, revision):
        subject = _PREFIX.sub("", _PREFIX.sub("", commit.subject)).strip()
        changed = tuple(path for _, path in commit.changes if _is_code(path))
        if subject.lower() in seen or not first_sentence(subject) or not 1 <= len(changed) <= _MOST_CODE_FILES:
            continue
        if len(commit.changes) > _MOST_FILES or sum(n for n, _ in commit.changes) > _MOST_LINES:
            continue
        if not paths.issuperset(changed) or _MASS.search(subject):
            continue
        seen.add(subject.lower())
        body = re.sub(r"\n{3,}", "\n\n", _TRAILER.sub("", commit.body)).strip()
        if len(body) > 200 and len(body) < 4_000:
            issues.append(MinedQuestion("issue", f"{subject}\n\n{body}", changed))
        else:
            subjects.append(MinedQuestion("commit", subject, changed))
    for kind, questions in (("commit", subjects), ("issue", issues)):
        chance.shuffle(questions)
        yield from questions[: MOST[kind]]


def _commits(git: Path, revision: str) -> Iterator[_Commit]:
    command = ["git", "--git-dir", str(git), "-c", "core.quotePath=off", "log", "--numstat", "--no-merges"]
    command += ["--no-renames", "--diff-filter=M", f"-{_MOST_COMMITS}", "--format=%x01%s%x02%b%x02", revision]
    text = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
    for entry in text.split("\x01")[1:]:
        subject, body, stat = [*entry.split("\x02"), "", ""][:3]
        rows = [line.split("\t") for line in stat.splitlines() if line.count("\t") == 2]
        changes = tuple((int(plus) + int(minus), path) for plus, minus, path in rows if plus.isdecimal())
        yield _Commit(subject, body, changes)


# ---- documentation


Blanks = dict[str, dict[int, str]]  # by path and number of a line from 0: the text that is taken out of it


def _topic_questions(
    outlines: Mapping[str, Sequence[Symbol]],
    lines_of: Mapping[str, Sequence[str]],
    blanks: Blanks,
    chance: random.Random,
) -> Iterator[MinedQuestion]:
    """Yield what files say that they are for: their first sentences, and those of the types they are named after."""
    choices: list[tuple[str, str, dict[int, str]]] = []
    for path, symbols in outlines.items():
        if not symbols:
            continue
        lines = lines_of[path]
        about = {number: text for number, line in enumerate(lines[:_HEAD]) if (text := line.strip().strip(_MARKS))}
        choices.append((path, first_sentence(opening(lines)), about))
        stem = flat(Path(path).stem)
        choices += [
            (path, first_sentence(symbol.doc), _doc_lines(symbol, lines))
            for symbol in symbols
            if symbol.kind in _KINDS and flat(symbol.name) == stem
        ]
    chance.shuffle(choices)
    often = Counter(sentence for _, sentence, _ in choices)
    answered: set[str] = set()
    for path, sentence, about in choices:
        if len(answered) == MOST["topic"]:
            break
        if (
            _FOR_TOOLS.match(sentence)
            or not _LONG < len(sentence) < _LONGEST
            or often[sentence] > 1
            or path in answered
        ):
            continue
        said = {number: text for number, text in about.items() if text in sentence or sentence in text}
        if said:
            answered.add(path)
            blanks[path] |= said
            yield MinedQuestion("topic", sentence, (path,))


def flat(name: str) -> str:
    """Return the letters and digits of a name, lower-case."""
    return re.sub(r"[\W_]+", "", name).lower()


def _doc_questions(
    outlines: Mapping[str, Sequence[Symbol]],
    lines_of: Mapping[str, Sequence[str]],
    blanks: Blanks,
    chance: random.Random,
) -> Iterator[MinedQuestion]:
    """Yield first sentences of documentation."""
    choices = [
        (path, symbol, sentence)
        for path, symbols in outlines.items()
        for symbol in symbols
        if symbol.kind in _KINDS and (sentence := first_sentence(symbol.doc)) and len(sentence) < _LONGEST
    ]
    chance.shuffle(choices)
    often = Counter(sentence for _, _, sentence in choices)
    taken: Counter[str] = Counter()
    for path, symbol, sentence in choices:
        if taken.total() == MOST["doc"]:
            break
        if often[sentence] > 1 or taken[path] > 2:
            continue
        lines = _doc_lines(symbol, lines_of[path])
        if lines and not lines.keys() & blanks[path].keys():
            blanks[path] |= lines
            taken[path] += 1
            yield MinedQuestion("doc", sentence, (path,))


def _doc_lines(symbol: Symbol, lines: Sequence[str]) -> dict[int, str]:
    """Return the documentation of a symbol, by number of line, where nothing else stands."""
    about = {line.strip(_MARKS) for line in symbol.doc.splitlines()} - {""}
    first = max(0, symbol.start_line - 1 - 60)
    return {
        number: text
        for number in range(first, min(len(lines), symbol.end_line))
        if (text := lines[number].strip().strip(_MARKS))
        and any(text == one or (len(one) > _LONG and one in text) for one in about)
    }


def _blank(tree: Path, lines_of: Mapping[str, Sequence[str]], blanks: Blanks) -> None:
    """Take texts out of the files of a tree. Marks of comments stay: a file must not end inside a text that began."""
    for path, texts in blanks.items():
        kept = (line.replace(texts.get(number, ""), "", 1) for number, line in enumerate(lines_of[path]))
        (tree / path).write_text("".join(kept), "utf-8", errors="replace", newline="")


def main() -> int:
    """Mine every repository, two at a time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("sources", "excluded", "repositories", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    sources = read_sources(options.sources)
    if bad := forbidden(sources, options.excluded.read_text("utf-8").split()):
        print(f"excluded from training: {', '.join(bad)}", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(2) as pool:
        for name, counts in pool.map(partial(mine, repositories=options.repositories, out=options.out), sources):
            print(name, counts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
