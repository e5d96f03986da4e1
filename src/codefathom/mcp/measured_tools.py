"""Tools that are measured beside each other on one tree: `search` as an agent calls it, and a search for words."""

from __future__ import annotations

import math
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from subprocess import TimeoutExpired
from typing import Any

from codefathom.answer.tokens import estimate
from codefathom.errors import SourceError
from codefathom.mcp.tool_calls import ToolCalls
from codefathom.mcp.tool_list import TOKENS
from codefathom.mcp.tree_questions import TreeQuestion
from codefathom.search.question.ranking_query import STOP_WORDS
from codefathom.system.children import environment, find_program, start_program

MOST_TOKENS: int = TOKENS["default"]  # of an answer, as for the tool
_MOST_CHARS = 300  # of a line that matches
_TIMEOUT_S = 120.0
_LINES_WITH_WORDS = ("--line-number", "--null", "--ignore-case", "--fixed-strings")
_WORD = re.compile(r"[^\W_]{2,}")
_MATCH = re.compile(r"(.*?)\0(\d+)[:\0](.*)")
_NUMBERED = re.compile(r"(?m)^(\d+):")


@dataclass(frozen=True, slots=True)
class Measure:
    """What one tool gave for one question."""

    is_found: bool  # a line of the answer is shown
    n_tokens: int
    seconds: float


def of_search(calls: ToolCalls, question: TreeQuestion) -> Measure:
    """Return what the tool `search` of `fathom mcp` gives, as it is usually called: one question, nothing else."""
    began = time.perf_counter()
    result = calls.call("search", {"query": question.text})
    seconds = time.perf_counter() - began
    text = "".join(part["text"] for part in result["content"])
    return Measure(_is_shown(result.get("structuredContent", {}), question), estimate(text), seconds)


def _is_shown(content: Mapping[str, Any], question: TreeQuestion) -> bool:
    parts = (*content.get("hits", ()), *content.get("also", ()))
    shown = ((part["path"], int(line)) for part in parts for line in _NUMBERED.findall(part["text"]))
    return any(place.holds(path, line) for path, line in shown for place in question.places)


@dataclass(frozen=True, slots=True)
class WordTool:
    """A program, or a plain scan, that prints the lines with words."""

    name: str
    matches: Callable[[str, Sequence[str]], Iterator[tuple[str, int, str]]]  # path, line, text


def word_tool() -> WordTool:
    """Return ripgrep, else grep, else a plain scan by this process."""
    if program := find_program("rg"):
        words = [
            program,
            "--line-number",
            "--no-heading",
            "--with-filename",
            "--null",
            "--ignore-case",
            "--fixed-strings",
        ]
        return WordTool("ripgrep", lambda root, patterns: _of_program([*words, "--no-ignore"], root, patterns))
    if program := find_program("grep"):
        words = [program, "--recursive", "-I", *_LINES_WITH_WORDS]
        return WordTool("grep", lambda root, patterns: _of_program(words, root, patterns))
    return WordTool("a plain scan (neither ripgrep nor grep is installed)", _of_scan)


def of_words(tool: WordTool, root: str, files: frozenset[str], question: TreeQuestion, name: str = "") -> Measure:
    """Return what a search for the words of a question gives, or for the name of its answer, among some files.

    The files with most of the rare words come first, which no such program does, and the rest is cut as an answer of
    `search` is.
    """
    patterns = [name] if name else _words(question.text)
    began = time.perf_counter()
    by_file: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for path, line, text in tool.matches(root, patterns) if patterns else ():
        if path in files:
            by_file[path].append((line, text[:_MOST_CHARS]))
    n_tokens, is_found = 0, False
    for path in _in_order(by_file, patterns):
        for line, text in by_file[path]:
            cost = estimate(f"{path}:{line}:{text}\n")
            if n_tokens + cost > MOST_TOKENS:
                return Measure(is_found, n_tokens, time.perf_counter() - began)
            n_tokens += cost
            is_found |= any(place.holds(path, line) for place in question.places)
    return Measure(is_found, n_tokens, time.perf_counter() - began)


def _words(text: str) -> list[str]:
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return [word for word in words if word not in STOP_WORDS]


def _in_order(by_file: Mapping[str, Sequence[tuple[int, str]]], patterns: Sequence[str]) -> list[str]:
    """Return the files, those with many rare words first."""
    words_of = {
        path: {word for word in patterns if any(word.lower() in text.lower() for _, text in lines)}
        for path, lines in by_file.items()
    }
    n_files = Counter(word for words in words_of.values() for word in words)

    def weight(path: str) -> float:
        return sum(math.log(1 + len(by_file) / n_files[word]) for word in words_of[path])

    return sorted(by_file, key=lambda path: (-weight(path), path))


def _of_program(words: Sequence[str], root: str, patterns: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    chosen = [word for pattern in patterns for word in ("-e", pattern)]
    with start_program([*words, *chosen, "--", root], environment()) as program:
        try:
            out, _ = program.communicate(timeout=_TIMEOUT_S)
        except TimeoutExpired as error:
            program.kill()
            raise SourceError(
                f"{words[0]!r} was not ready after {_TIMEOUT_S:g} s", hint="measure a smaller folder with --source-dir"
            ) from error
    for line in out.decode(errors="replace").splitlines():
        if match := _MATCH.match(line.removeprefix(os.path.join(root, ""))):
            yield match[1], int(match[2]), match[3]


def _of_scan(root: str, patterns: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    lowered = [pattern.lower() for pattern in patterns]
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    for number, line in enumerate(file, start=1):
                        if any(pattern in line.lower() for pattern in lowered):
                            yield os.path.relpath(path, root), number, line.rstrip("\n")
            except OSError:  # gone, or not to be read
                continue
