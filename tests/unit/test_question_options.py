"""The table of options: each row means something, and every face says of it what the row says."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from codefathom.cli.arguments import parse
from codefathom.cli.options import COMMANDS
from codefathom.mcp.tool_arguments import named, option_values
from codefathom.question.question import Question
from codefathom.question.question_options import OPTIONS, QuestionOption, in_body, on_line, options_of, question_of
from codefathom.search.filter.filter_options import condition_of
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.stores.conditions import FIELDS, normalise
from codefathom.types import Where

BODIES = {"search": "SearchIn", "context": "ContextIn", "ask": "AskIn"}
SCHEMAS = json.loads((Path(__file__).parents[2] / "web" / "openapi.json").read_text(encoding="utf-8"))["components"]
# A value of each form, as it is written on the command line, and as it is then.
WRITTEN = {"count": ("7", 7), "share": ("0.5", 0.5), "switch": (None, True)}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_row_goes_somewhere(option: QuestionOption) -> None:
    is_of_question = option.fills in {field.name for field in fields(Question)}
    assert [is_of_question, option.field in FIELDS, option.form == "filter"].count(True) == 1
    assert not option.choices or option.form in ("word", "texts")


def test_no_name_stands_for_two_options() -> None:
    for kind in BODIES:
        rows = options_of(kind)
        lines = [name for _, line in on_line(kind) for name in line.names]
        for names in ([row.name for row in rows], lines, [row.tool.name for row in rows if row.tool]):
            assert max(Counter(names).values(), default=1) == 1


@pytest.mark.parametrize("kind", BODIES)
def test_every_face_has_the_rows_and_their_words(kind: Any) -> None:
    command = next(command for command in COMMANDS if command.name == kind)
    helps = {option.names: option.help for option in command.options}
    assert all(helps[line.names] == option.help for option, line in on_line(kind))
    properties = SCHEMAS["schemas"][BODIES[kind]]["properties"]
    for option, field in in_body(kind):
        said = properties[option.name]
        assert said["description"].startswith(option.help)
        numbers = said.get("anyOf", [said])[0]
        if option.form == "count":
            assert (numbers["minimum"], numbers["maximum"]) == (option.least, field.most)


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.line], ids=lambda option: option.name)
def test_what_is_typed_comes_to_its_row_or_its_setting(option: QuestionOption) -> None:
    assert option.line is not None
    typed, value = WRITTEN.get(option.form, (option.choices[0] if option.choices else "x", None))
    words = [option.line.names[-1], *([typed] if typed else [])]
    parsed = parse([option.kinds[0], *words, "question"]).options
    if option.line.setting:
        assert parsed.common.overrides == {option.line.setting: typed}
        assert parsed.values == {}
    else:
        is_many = option.form in ("texts", "paths", "filter")
        assert parsed.values == {option.name: (typed,) if is_many else typed if value is None else value}


def test_a_tool_gives_each_row_a_value_that_a_question_can_have() -> None:
    usual = option_values("search", {})
    assert question_of("search", "x", usual, condition_of(usual)) == Question(
        "x", limit=20, mode="auto", or_commits=True
    )
    said = named("search", {"languages": "go", "level": "file", "mode": "semantic", "minScore": 0.5, "limit": 3})
    values = option_values("search", said)
    expected = Question("x", where=condition_of({"language_filter": ["go"]}), level="file", mode="vector", limit=3)
    question = question_of("search", "x", values, condition_of(values))
    assert (question.where, question.level, question.mode) == (expected.where, "file", "vector")
    assert (question.limit, question.min_score) == (3, 0.5)


@pytest.mark.parametrize(
    ("values", "expression"),
    [
        ({}, None),
        ({"language_filter": ["go", "py"]}, "language = go or language = python"),
        ({"language_filter": "go,py"}, "language = go or language = python"),
        ({"changed_after": "2026-11-01"}, "modified >= 2026-11-01"),
        ({"changed_before": "2026-11-01", "kind_filter": ("class",)}, "kind = class and modified < 2026-11-01"),
        ({"limit": 3, "filter": ("lines > 3",)}, None),  # an expression is read by the face
    ],
)
def test_values_become_one_condition(values: dict[str, Any], expression: str | None) -> None:
    where: Where | None = condition_of(values)
    assert where == (None if expression is None else parse_filter(expression))
    assert where is None or normalise(where) == where


def test_folders_are_named_as_the_face_reads_them() -> None:
    where = condition_of({"directory_filter": ('a,"b,c"',)}, lambda folder: f"in/{folder}")
    assert where == condition_of({"directory_filter": ('"in/a"', '"in/b,c"')})
