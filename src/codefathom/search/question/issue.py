"""A long text, such as an issue or a report, in three parts: its title, its prose and its code. Pure."""

from __future__ import annotations

import re
from collections import Counter
from math import log1p
from typing import NamedTuple

from codefathom.stores.lexical.terms import terms

# Weights of a word in the title and in code, beside its number in the prose. Code shows what somebody ran or saw, and
# only seldom the place of the fault.
_TITLE = 2.0
_CODE = 0.1

_FENCES = ("```", "~~~")
# Each expression takes time in proportion to the text, whatever is in it.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
# The lines of a form: boxes to tick, and headings, which stand in every issue that was written with it.
_FORM = re.compile(r"^[ \t]*(?:[-*+] \[[ xX]?\].*|#{1,6}[ \t].*|(\*\*|__)[^\n]+\1:?[ \t]*)$", re.MULTILINE)


class Issue(NamedTuple):
    """The parts of a long text, without the lines of a form."""

    title: str
    prose: str
    code: str


def read_issue(text: str) -> Issue:
    """Take a text in Markdown apart; its first line is its title, unless code begins there."""
    text = _COMMENT.sub("\n", text.replace("\r\n", "\n")).strip()
    title, _, body = ("", "", text) if text.startswith(_FENCES) else text.partition("\n")
    code = "\n".join(match.group() for match in _FENCED.finditer(body))
    return Issue(title, _FORM.sub("", _FENCED.sub("\n", body)), code)


def weights_of(issue: Issue) -> dict[str, float]:
    """Return the weight of each word of a text, relative to the others."""
    title = dict.fromkeys(terms(issue.title))
    prose, code = Counter(terms(issue.prose)), Counter(terms(issue.code))
    return {
        word: _TITLE * (word in title) + log1p(prose[word]) + _CODE * log1p(code[word])
        for word in dict.fromkeys((*title, *prose, *code))
    }
