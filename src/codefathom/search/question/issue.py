"""A long text, such as an issue or a report, in three parts: its title, its prose and its code. Pure."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from math import log1p
from typing import NamedTuple

from codefathom.stores.lexical.terms import terms

# Weights of a word in the title and in code, beside its number in the prose. Code shows what somebody ran or saw, and
# only seldom the place of the fault.
_TITLE = 2.0
_CODE = 0.1

_FENCES = ("```", "~~~")
# Each expression takes time in proportion to the text, whatever is in it. None is compiled for a short question.
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"
_FENCED = r"(?sm)^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)"
# The lines of a form: boxes to tick, and headings, which stand in every issue that was written with it.
_FORM = r"(?m)^[ \t]*(?:[-*+] \[[ xX]?\].*|#{1,6}[ \t].*|(\*\*|__)[^\n]+\1:?[ \t]*)$"
# Lines that are code, a command, a log or part of a trace, though no fence is around them. Every part is anchored, and
# reads a line once. The message of an error stays prose: it says what went wrong.
_LOG_LINE = (
    r"\s*(?:(?:>>>|\.\.\.|\$|In \[\d+\]:)\s\S"  # what somebody typed
    r"|Traceback \(most recent call last\)|File \"[^\"\n]+\", line \d|at \S+ ?\(|at \S+:\d|Caused by: "
    r"|goroutine \d|#\d+ +\S"
    r"|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)[\]: |]"
    r"|#(?:include|define|if|ifdef|ifndef|endif|pragma)\b|//|/\*|\*/|</?\w+[^>\n]*>\s*$)"
)
_CODE_LINE = (
    r"\s*(?:import [\w.*{\"']\S*(?: as \w+| from \S+|;)?\s*$|from [\w.]+ import |@\w+(?:\(.*\))?\s*$"
    r"|(?:async )?def \w+|(?:pub )?fn \w+|func (?:\(|\w+\()|function \w*\("
    r"|[\w.\[\]\"'$>:-]+ *(?:[-+*/|&:]?=|:=|<-) *[^\s=>]"  # an assignment
    r"|[\w.:$>-]+\(.*\)[;:]?\s*$)"  # a call
    r"|.*(?:[;{}]|\)\s*=>|\):)\s*$"
)
_MOST_PLAIN = 4  # words; a line with more, which are most of it, is part of a sentence
_INDENTED = r"(?: {4}|\t)\s*\S"
_LISTED = r"\s*(?:[-*+]|\d+[.)])\s"
_MAX_LINE = 400  # characters of a line that are looked at


class Issue(NamedTuple):
    """The parts of a long text, without the lines of a form."""

    title: str
    prose: str
    code: str


@lru_cache(maxsize=2)  # one question asks for its words and for the files it names
def read_issue(text: str) -> Issue:
    """Take a text in Markdown apart; its first line is its title, unless code begins there."""
    text = re.sub(_COMMENT, "\n", text.replace("\r\n", "\n")).strip()
    title, _, body = ("", "", text) if text.startswith(_FENCES) else text.partition("\n")
    fenced = [match.group() for match in re.finditer(_FENCED, body)]
    prose, bare = _parted(re.sub(_FORM, "", re.sub(_FENCED, "\n", body)))
    return Issue(title, prose, "\n".join((*fenced, *bare)))


def _parted(text: str) -> tuple[str, list[str]]:
    """Return the prose of a text, and its lines of code, which have no fence around them."""
    prose: list[str] = []
    code: list[str] = []
    is_block, in_list = False, False  # whether the line before is empty or code, and whether a list item is open
    for line in text.split("\n"):
        start = line[:_MAX_LINE]
        if not start.strip():
            is_block = True
            prose.append(line)
            continue
        in_list = bool(re.match(_LISTED, start)) or (in_list and start[0] in " \t")
        is_block = not re.match(_LISTED, start) and _is_code(start, can_be_block=is_block and not in_list)
        (code if is_block else prose).append(line)
    return "\n".join(prose), code


def _is_code(line: str, *, can_be_block: bool) -> bool:
    """Return True if a line looks like code. `can_be_block`: if it is indented, it is code in Markdown."""
    if re.match(_LOG_LINE, line):
        return True
    if not (re.match(_CODE_LINE, line) or (can_be_block and re.match(_INDENTED, line))):
        return False
    words = line.split()
    n_plain = sum(word.strip("\"'`.,:;()").isalpha() for word in words)
    return n_plain <= _MOST_PLAIN or 2 * n_plain < len(words)


def weights_of(issue: Issue) -> dict[str, float]:
    """Return the weight of each word of a text, relative to the others."""
    title = dict.fromkeys(terms(issue.title))
    prose, code = Counter(terms(issue.prose)), Counter(terms(issue.code))
    return {
        word: _TITLE * (word in title) + log1p(prose[word]) + _CODE * log1p(code[word])
        for word in dict.fromkeys((*title, *prose, *code))
    }
