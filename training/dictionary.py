"""Learn which English words a Chinese one stands for, and write the dictionary of the package.

    python -m training.dictionary --repositories REPOSITORIES --data PAIRS
    python -m training.dictionary --clean  # only takes out of the present file what the rule of `cleaned` leaves out

Two kinds of pairs: messages with their translations (`translations.json`), and Chinese comments with the code they
describe (what `mine.py` found). IBM's first model of translation counts, in both directions, which words stand for each
other; a word is kept when both directions agree. Needs jieba and polib.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from math import sqrt
from pathlib import Path
from typing import Any

from codefathom.search.question.ranking_query import STOP_WORDS
from codefathom.search.question.translate import DICTIONARY, vocabulary
from codefathom.stores.lexical.terms import terms
from training.sources import Source, forbidden

HERE = Path(__file__).parent
ROUNDS = 5
MOST_WORDS = 40  # of one side: longer ones align badly
MOST_TRANSLATIONS = 4
SUREST = 0.3  # how sure the best translation of a word must be
LEAST = {"messages": (3, 0.12), "comments": (4, 0.15)}  # how often a word stands somewhere, and how sure it is
_CHINESE = re.compile("[\u4e00-\u9fff]+")
_MARKUP = re.compile(r":[a-z:-]+:`([^`<]*?)(?:<[^`>]*>)?`|`+|\*+|<[^>]+>|https?://\S+")

Pair = tuple[list[str], list[str]]  # Chinese words, English words
Learned = Mapping[str, Sequence[tuple[str, float]]]  # Chinese word → English ones with how sure each is, best first


def main() -> None:
    """Learn from both kinds of pairs; what messages say goes before what comments say."""
    options = _options()
    if options.clean:
        write(cleaned(present(), vocabulary().glossary, projects()))
        return
    messages = learn(list(pairs(translations(options.repositories))), *LEAST["messages"])
    comments = learn(list(pairs(described(options.data))), *LEAST["comments"])
    write(cleaned(comments | messages, vocabulary().glossary, projects()))


def cleaned(learned: Learned, written: Container[str], projects: Container[str]) -> Learned:
    """Return the learned words without those that are likelier an accident of the texts than a translation.

    Left out are single characters (they are ends and beginnings of words cut apart: the glossary has those that are
    words), words of the glossary, translations that name a project whose messages were read (they stand in any of its
    messages), and words whose best translation is not sure.
    """
    kept = {}
    for word, rows in learned.items():
        named = [(english, sure) for english, sure in rows if english not in projects]
        if len(word) > 1 and word not in written and named and named[0][1] >= SUREST:
            kept[word] = named
    return kept


def projects() -> frozenset[str]:
    """Return the words in the names of the projects whose messages are read."""
    return frozenset(term for row in _sources() for term in terms(row["name"]) if term.isalpha() and len(term) > 1)


def present() -> Learned:
    """Return the words of the present file."""
    rows = (line.split("\t") for line in Path(DICTIONARY).read_text("utf-8").splitlines())
    entries = ((word, [one.split(":") for one in english.split(" ")]) for word, english in rows)
    return {word: [(english, float(sure)) for english, sure in row] for word, row in entries}


def write(learned: Learned) -> None:
    """Write the file of the package."""
    rows = [f"{word}\t{' '.join(f'{one}:{sure:.2f}' for one, sure in learned[word])}" for word in sorted(learned)]
    Path(DICTIONARY).write_text("\n".join(rows) + "\n", "utf-8")
    print(f"{len(learned)} words")


def _sources() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((HERE / "translations.json").read_text("utf-8"))
    return rows


def translations(repositories: Path) -> Iterator[tuple[str, str]]:
    """Yield (Chinese, English) of each message; sentence by sentence where both have as many."""
    import polib

    rows = _sources()
    sources = [Source(row["name"], row["url"], row["revision"], row["licence"], "train") for row in rows]
    if bad := forbidden(sources, (HERE / "excluded.txt").read_text("utf-8").split()):
        raise SystemExit(f"excluded: {', '.join(bad)}")
    seen = set()
    for row in rows:
        for text in _files(repositories / row["name"].replace("/", "+") / "repo", row["revision"], row["paths"]):
            for entry in polib.pofile(text):
                pair = (_MARKUP.sub(r" \1 ", entry.msgstr), _MARKUP.sub(r" \1 ", entry.msgid))
                if _CHINESE.search(pair[0]) and pair not in seen:
                    seen.add(pair)
                    yield from _sentences(*pair)


def _files(repository: Path, revision: str, patterns: Sequence[str]) -> Iterator[str]:
    for name in _git(repository, "ls-tree", "-r", "--name-only", revision).splitlines():
        if any(fnmatch(name, pattern) for pattern in patterns):
            yield _git(repository, "show", f"{revision}:{name}")


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _sentences(chinese: str, english: str) -> Iterator[tuple[str, str]]:
    parts = [part for part in re.split(r"(?<=[。！？])", chinese) if part.strip()]
    others = re.split(r"(?<=[.!?])\s+", english)
    yield from zip(parts, others, strict=True) if len(parts) == len(others) else [(chinese, english)]


def described(data: Path) -> Iterator[tuple[str, str]]:
    """Yield (Chinese comment, head of the code that it describes)."""
    for path in sorted(data.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if _CHINESE.search(row["query"]):
                yield row["query"], "\n".join(row["document"].split("\n")[:4])


def pairs(texts: Iterator[tuple[str, str]]) -> Iterator[Pair]:
    """Yield the words of each side, each once."""
    import jieba

    jieba.setLogLevel(60)
    for chinese, english in texts:
        words = [word for run in _CHINESE.findall(chinese) for word in jieba.cut(run)]
        others = [term for term in terms(english) if term.isascii() and term.isalpha() and len(term) > 1]
        one = list(dict.fromkeys(words))
        other = [term for term in dict.fromkeys(others) if term not in STOP_WORDS]
        if one and other and len(one) <= 2 * MOST_WORDS:
            yield one, other[:MOST_WORDS]


def learn(found: Sequence[Pair], least_often: int, least_sure: float) -> dict[str, list[tuple[str, float]]]:
    """Return the translations of each word with how sure they are, best first."""
    n_chinese = Counter(word for one, _ in found for word in one)
    n_english = Counter(word for _, other in found for word in other)
    kept = [
        ([x for x in one if n_chinese[x] >= least_often], [y for y in other if n_english[y] >= least_often])
        for one, other in found
    ]
    forth, back = _chances(kept), _chances([(other, one) for one, other in kept])
    result = {}
    for word, chances in forth.items():
        both = [(sqrt(chance * back[one].get(word, 0.0)), one) for one, chance in chances.items() if one in back]
        best = sorted((-sure, one) for sure, one in both if sure > least_sure)[:MOST_TRANSLATIONS]
        if best:
            result[word] = [(one, -sure) for sure, one in best]
    return result


def _chances(found: Sequence[Pair]) -> Mapping[str, Mapping[str, float]]:
    """Return how likely each word of the first side stands for one of the second (IBM model 1)."""
    chances: dict[str, dict[str, float]] = {}
    for number in range(ROUNDS):
        counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for ones, others in found:
            for other in others:
                weights = [chances[one].get(other, 0.0) if number else 1.0 for one in ones]
                total = sum(weights) + (1e-4 if number else 1.0)  # a word may stand for nothing
                for one, weight in zip(ones, weights, strict=True):
                    if weight:
                        counts[one][other] += weight / total
        chances = {}
        for one, row in counts.items():
            total = sum(row.values())
            chances[one] = {other: count / total for other, count in row.items() if count / total > 1e-3}
    return chances


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repositories", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--clean", action="store_true", help="only clean the present file")
    options = parser.parse_args()
    if not options.clean and None in (options.repositories, options.data):
        parser.error("without --clean, --repositories and --data are needed")
    return options


if __name__ == "__main__":
    main()
