"""Questions with known answers, for a measurement: from documented definitions of a tree, or from a person. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from codefathom.errors import UsageError
from codefathom.facts.paths import is_prose, is_test
from codefathom.text.written_place import place_of
from codefathom.types import FoundSymbol

_FEWEST_WORDS, _MOST_WORDS = 5, 40
_SENTENCE = re.compile(r"(?s)\A(.+?)(?:[.!?。！？](?=\s|\Z)|\n\s*\n|\Z)")
_NO_QUESTION = re.compile(r"(?i)^\W*(?:@|:|deprecated|todo|see\b|copyright|inherit)|https?://")
_FEWEST_CHARS = 4  # of a line of a comment that is looked for: shorter ones stand anywhere
_ABOVE = 80  # lines above a definition in which its comment may stand


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Lines that answer a question; a `start_line` of 0 means the whole file."""

    path: str
    start_line: int = 0
    end_line: int = 0

    def holds(self, path: str, line: int) -> bool:
        """Return True for a line that answers."""
        return path == self.path and (not self.start_line or self.start_line <= line <= self.end_line)


@dataclass(frozen=True, slots=True)
class TreeQuestion:
    """A question, the places that answer it, and the name of the definition, if it came from one."""

    text: str
    places: tuple[AnswerPlace, ...]
    name: str = ""


def documented(symbols: Iterable[FoundSymbol], most: int) -> list[tuple[TreeQuestion, FoundSymbol]]:
    """Return at most so many questions, each with its definition: the first sentences of comments in natural language.

    Left out are tests and prose, sentences that say the name, and those that two definitions share. The choice depends
    on paths and names alone, so that two runs on one tree are equal.
    """
    candidates = [(sentence, one) for one in symbols if (sentence := _sentence(one))]
    counts = Counter(sentence.casefold() for sentence, _ in candidates)
    single = [item for item in candidates if counts[item[0].casefold()] == 1]
    single.sort(key=lambda item: blake2b(f"{item[1].path}\0{item[1].symbol.qualified_name}".encode()).digest())
    return [(_question(sentence, one), one) for sentence, one in single[:most]]


def written_questions(text: str) -> list[TreeQuestion]:
    """Return the questions of a file: in each line a place, such as src/app.py:10-40, a tab and a question.

    Lines of one question are its several places. Raises UsageError, with the number of the line.
    """
    places: dict[str, list[AnswerPlace]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        written, _, question = (part.strip() for part in line.partition("\t"))
        if not (written and question):
            raise UsageError(
                f"line {number} of the questions has no tab between a place and a question",
                hint="write a place such as src/app.py:10-40, a tab, and the question",
            )
        place = place_of(written)
        end_line = place.end_line or place.start_line
        places.setdefault(question, []).append(AnswerPlace(place.path, place.start_line, end_line))
    return [TreeQuestion(question, tuple(own)) for question, own in places.items()]


def without_comments(lines: Sequence[str], symbols: Iterable[FoundSymbol]) -> list[str]:
    """Return the lines of a file without the texts of the comments of some definitions; no line moves."""
    kept = list(lines)
    for one in symbols:
        lines_of_doc = (line.strip() for line in one.symbol.doc.splitlines())
        texts = sorted((line for line in lines_of_doc if len(line) >= _FEWEST_CHARS), key=len, reverse=True)
        for place in range(max(one.symbol.start_line - _ABOVE, 1), min(one.symbol.end_line, len(kept)) + 1):
            for text in (text for text in texts if text in kept[place - 1]):
                kept[place - 1] = kept[place - 1].replace(text, "")
    return kept


def _sentence(one: FoundSymbol) -> str:
    """Return the first sentence of the comment of a definition that can be a question, else an empty text."""
    if is_test(one.path) or is_prose(one.path) or one.by_head or not one.symbol.doc:
        return ""
    match = _SENTENCE.match(one.symbol.doc.strip())
    sentence = " ".join(match[1].split()) if match is not None else ""
    n_words = len(sentence.split())
    is_named = one.symbol.name.casefold() in sentence.casefold()
    is_question = _FEWEST_WORDS <= n_words <= _MOST_WORDS and not _NO_QUESTION.search(sentence) and not is_named
    return sentence if is_question else ""


def _question(sentence: str, one: FoundSymbol) -> TreeQuestion:
    symbol = one.symbol
    return TreeQuestion(sentence, (AnswerPlace(one.path, symbol.start_line, symbol.end_line),), symbol.name)


def place_texts(question: TreeQuestion) -> Iterator[str]:
    """Yield the places of a question as a person writes them."""
    for place in question.places:
        lines = f":{place.start_line}-{place.end_line}" if place.start_line else ""
        yield f"{place.path}{lines}"
