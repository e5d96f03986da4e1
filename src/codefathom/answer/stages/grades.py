"""The reply of a judging model → grades. Pure, and never raises: an unreadable part gives no grade.

The prompt demands the form `yes/8`, with a number and a colon before it if several documents are judged at once. That
form is tried first, then others that models write, such as `Score: 8/10` or `{"relevant": true, "score": 8}`.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

MAX_SCORE = 10


class Grade(NamedTuple):
    """The grade of a document for a question. Without a score it is not judged."""

    score: int | None = None  # 0 to 10
    relevant: bool | None = None  # None: not said


UNJUDGED = Grade()

_NO = {"no", "false", "否", "不是", "不相关", "无关"}
# Every repetition is bounded, so that no reply takes long to read.
_SPACE = r"\s{0,9}"
_MARKS = r"[\"'*`<\[(]{0,4}"  # before a value, and behind a name
_GAP = r"[\s\"'*`<]{0,9}"
_VERDICT = r"(?P<verdict>(?<![A-Za-z])(?:yes|no|true|false)|不是|不相关|无关|是|否|相关)"
# At most nine digits are read: the score is cut to 10 in any case, and a float of 400 digits is infinite.
_NUMBER = r"(?P<number>-?\d{1,9}(?:\.\d{1,9})?)"
_OUT_OF = rf"(?:{_SPACE}[/／]{_SPACE}(?P<out_of>5|10|100)(?!\d))?"
_SCORE = r"(?:score|grade|rating|relevance|评分|得分|分数|打分)"
_STRICT = re.compile(r"(?P<verdict>yes|no)/(?P<number>[0-9]|10)")
# Each is tried in turn; the last match of the first that matches counts, since a model may think aloud before.
_TOLERANT = (
    re.compile(rf"{_VERDICT}{_MARKS}{_SPACE}[/／]{_SPACE}{_MARKS}{_NUMBER}{_OUT_OF}", re.IGNORECASE),
    re.compile(
        rf"{_SCORE}{_MARKS}{_SPACE}(?:[:：=]|\b(?:is|of)\b|为|是){_GAP}{_NUMBER}{_OUT_OF}",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<![\d.\-/]){_NUMBER}{_SPACE}[/／]{_SPACE}(?P<out_of>10|100)(?![\d/])"),
    re.compile(rf"^{_GAP}{_NUMBER}[\s\"'*`>.,)\]}}]{{0,9}}$"),
)
_RELEVANT = re.compile(
    rf"(?:relevant|relevance|相关){_MARKS}{_SPACE}[:：=]{_GAP}(?P<verdict>yes|no|true|false|是|否)", re.IGNORECASE
)
# Where a reply begins to speak of one document: "1:", "[1]", "Document 1 -", `"id": 1`, `{"1":`.
_HEAD = re.compile(
    r"^[ \t>*#`\-\[{(]{0,20}(?:(?:document|doc|file|candidate|文档|文件)[ \t]{0,4})?"
    r"[#\[(\"*]{0,4}(?P<line>\d{1,3})[\])\"*`]{0,4}[ \t]{0,4}"
    r"(?:[:：)、=]|[.\-–](?!\d)|(?<=\])|(?=[ \t](?:yes|no|是|否)))"
    rf"|\"(?:id|number|index|doc|document)\"{_SPACE}:{_SPACE}\"?(?P<field>\d{{1,3}})\b\"?"
    rf"|\"(?P<key>\d{{1,3}})\"{_SPACE}:",
    re.MULTILINE | re.IGNORECASE,
)


def read_grade(text: str) -> Grade:
    """Return the grade of one document."""
    strict = _STRICT.fullmatch(text.strip())
    if strict:
        return Grade(int(strict["number"]), strict["verdict"] == "yes")
    for pattern in _TOLERANT:
        matches = list(pattern.finditer(text))
        if matches:
            last = matches[-1].groupdict()
            verdict = last.get("verdict") or _verdict(text)
            return Grade(
                _score(last["number"], last.get("out_of")), None if not verdict else verdict.lower() not in _NO
            )
    return UNJUDGED


def read_grades(text: str, n: int) -> list[Grade]:
    """Return the grades of documents 1 … n; a document that the reply does not speak of is not judged."""
    if n == 1:
        alone = read_grade(text)
        return [alone] if alone.score is not None else _by_number(text, 1)
    grades = _by_number(text, n)
    if all(grade.score is None for grade in grades):
        # Without numbers, but one line for each: in their order.
        lines = [grade for grade in map(read_grade, text.splitlines()) if grade.score is not None]
        grades = lines if len(lines) == n else grades
    return grades


def _by_number(text: str, n: int) -> list[Grade]:
    heads = list(_HEAD.finditer(text))
    grades = [UNJUDGED] * n
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        number = int(head["line"] or head["field"] or head["key"])
        part = text[head.end() : end]
        # What follows on an object belongs to the next one.
        grade = read_grade(part.partition("}")[0] if head["field"] else part)
        if 1 <= number <= n and grade.score is not None:
            grades[number - 1] = grade
    return grades


def _verdict(text: str) -> str:
    verdicts = _RELEVANT.findall(text)
    return verdicts[-1] if verdicts else ""


def _score(number: str, out_of: str | None) -> int:
    """Round half up and keep within 0 to 10."""
    value = float(number) * MAX_SCORE / int(out_of or MAX_SCORE)
    return min(max(math.floor(value + 0.5), 0), MAX_SCORE)
