"""The choice between expression, symbol, connection and meaning."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.question.planner import (
    ConnectionQuery,
    MembersQuery,
    connection_query,
    is_expression,
    members_query,
    overruled,
    plan,
    route_of,
)
from codefathom.search.question.query import parse_query


def everything(_: str) -> bool:
    return True


def nothing(_: str) -> bool:
    return False


@pytest.mark.parametrize(
    "text",
    [
        r"def \w+_cents\(",
        r"^import (os|sys)",
        r"\bfoo\b",
        "TODO|FIXME",
        "foo.*bar",
        "[A-Z]{3,}_ID",
        "(get|set)_value",
        r"timeout\s*=\s*\d+",
        r"lang:python raise \w+Error",
    ],
)
def test_a_regular_expression_is_seen(text: str) -> None:
    assert plan(parse_query(text), nothing).mode == "regex"


@pytest.mark.parametrize(
    "text",
    [
        "App\\Database\\Model",
        "C:\\dir\\build file",
        "import java.util.*",
        "path/to/**/*.py",
        "a[i-1]+b",
        "how are `^` anchors handled",
        "retry ^2.0.0",
        "x = y + z * 2",
        "a || b",
        "C++ templates",
        "Result<T, E>",
        "cost $5",
        "price$",
        "foo(.*bar",  # no expression: a bracket is open
        'Traceback (most recent call last):\n  File "a.py", line 3\nre.error: bad escape \\w at 3',
    ],
)
def test_code_and_prose_are_no_regular_expression(text: str) -> None:
    assert plan(parse_query(text), nothing).mode == "hybrid"


@pytest.mark.parametrize(
    ("text", "connection"),
    [
        ("who calls parse_query", ConnectionQuery("called by", "parse_query")),
        ("Who calls @@Engine.open?", ConnectionQuery("called by", "Engine.open")),
        ("which functions call parse_query()", ConnectionQuery("called by", "parse_query")),
        ("show me the callers of `open`", ConnectionQuery("called by", "open")),
        ("where is Engine.open called", ConnectionQuery("called by", "Engine.open")),
        ("lang:python who uses the function to_sql", ConnectionQuery("used by", "to_sql")),
        ("find all usages of Hit", ConnectionQuery("used by", "Hit")),
        ("references to std::Reader", ConnectionQuery("used by", "std::Reader")),
        ("where is the class Hit used?", ConnectionQuery("used by", "Hit")),
        ("what functions does parse_query call", ConnectionQuery("calls", "parse_query")),
        ("what is called by parse_query", ConnectionQuery("calls", "parse_query")),
        ("which files import @src/app.py", ConnectionQuery("imported by", "src/app.py")),
        ("what does src/app.py import", ConnectionQuery("imports", "src/app.py")),
        ("dependencies of src/app.py", ConnectionQuery("imports", "src/app.py")),
        ("谁调用了 parse_query？", ConnectionQuery("called by", "parse_query")),
        ("哪些地方使用了Engine.open", ConnectionQuery("used by", "Engine.open")),
        ("parse_query 在哪里被调用", ConnectionQuery("called by", "parse_query")),
        ("parse_query的调用者", ConnectionQuery("called by", "parse_query")),
        ("parse_query 调用了哪些函数", ConnectionQuery("calls", "parse_query")),
        ("哪些文件导入了 engine.py", ConnectionQuery("imported by", "engine.py")),
        ("engine.py 依赖哪些模块", ConnectionQuery("imports", "engine.py")),
        ("who uses the cache when files change", None),
        ("how does the parser call handlers", None),
        ("what is used by the parser in tests", None),
        ("what calls", None),
        ("怎么使用缓存", None),
        ("", None),
    ],
)
def test_a_question_about_connections_is_understood(text: str, connection: ConnectionQuery | None) -> None:
    assert connection_query(parse_query(text)) == connection


def test_a_connection_of_what_is_not_here_is_looked_for_by_words() -> None:
    query = parse_query("who calls nobody")
    assert plan(query, everything).mode == "graph"
    assert plan(query, nothing).mode == "hybrid"


@pytest.mark.parametrize(
    ("text", "route", "why"),
    [
        ("parse_query", "symbol", "parse_query is defined here; definitions come first"),
        ("src/app.py", "semantic", "it names a file"),
        ("how are orders priced?", "answer", "it is a question; `fathom ask` answers it in words"),
        ("order price", "semantic", "words and meaning decide"),
        ("ValueError: bad price", "semantic", "it is an error message; the places that it names come first"),
        ("who calls f", "graph", "it asks what calls f"),
        ("a.*b", "regex", "it reads as a regular expression"),
    ],
)
def test_the_choice_is_explained(text: str, route: str, why: str) -> None:
    chosen = plan(parse_query(text), everything).plan
    assert (chosen.route, chosen.why) == (route, why)
    assert route_of(text) == route


BODY = "When a cart holds two orders, the total of the cart is off by a cent."
ISSUE = f"Totals are wrong\n\n{BODY}\n\nWhy is that so?\n\nThanks!"


@pytest.mark.parametrize("text", [ISSUE, f"How are totals rounded?\n{BODY} {BODY} {BODY}"])
def test_a_pasted_issue_is_not_told_to_ask(text: str) -> None:
    chosen = plan(parse_query(text), nothing).plan
    assert chosen.why == "it is a pasted text, such as an issue; files that it names count more"
    assert chosen.route == "semantic"


@pytest.mark.parametrize("text", ["how are totals rounded?\n", "how are totals\nof carts rounded?", "why " * 100])
def test_what_somebody_types_is_a_question(text: str) -> None:
    assert plan(parse_query(text), nothing).plan.route == "answer"


def test_the_name_of_a_module_is_told_from_an_unknown_name() -> None:
    chosen = plan(parse_query("shop.pricing"), nothing, lambda name: name == "shop.pricing").plan
    assert chosen.why == "it names a module; its file comes first"


def test_a_name_that_is_not_defined_says_so() -> None:
    assert plan(parse_query("parse_query"), nothing).plan.why == "no symbol of this name is defined here"


def test_a_mode_overrules() -> None:
    assert overruled("lexical", parse_query("who calls f")).mode == "lexical"
    assert overruled("hybrid", parse_query(r"\w+\(")).mode == "hybrid"
    assert overruled("regex", parse_query("plain")).plan.route == "regex"


@pytest.mark.parametrize("text", ["f", "@@f", "f()", "who uses f"])
def test_with_mode_graph_a_name_alone_asks_what_uses_it(text: str) -> None:
    assert overruled("graph", parse_query(text)).connection == ConnectionQuery("used by", "f")


@given(st.text(alphabet="who calls usebyimportof谁调用了在哪里 @`?.()[]*+\\^$|dwf", max_size=40))
def test_any_text_has_a_plan(text: str) -> None:
    query = parse_query(text)
    planned = plan(query, everything)
    assert planned.plan.why
    assert (planned.mode == "graph") == (planned.connection is not None)
    assert (planned.mode == "regex") <= (is_expression(query) or planned.pattern != "")


@pytest.mark.parametrize("text", ["C++", "c#", "++", "::", "->", "!=", "...", "??"])
def test_signs_are_found_as_they_are_written(text: str) -> None:
    planned = plan(parse_query(text), nothing)
    assert planned.mode == "regex"
    assert re.search(planned.pattern, f"x {text.upper()} y")


@pytest.mark.parametrize("text", ["C++ templates", "a", "C", "日本", "x#y", "++i"])
def test_words_are_not_signs(text: str) -> None:
    assert plan(parse_query(text), nothing).pattern == ""


@pytest.mark.parametrize(
    "text",
    [
        "What is this project for?",
        "what does this repo do",
        "what is this",
        "What's the purpose of this library?",
        "give me an overview",
        "please describe the code base",
        "how is this project structured?",
        "where do I start?",
        "overview",
        "这个项目是做什么的？",
        "这个项目是干什么的",
        "介绍一下这个项目",
        "项目概述",
    ],
)
def test_questions_about_the_project_as_a_whole(text: str) -> None:
    assert plan(parse_query(text), everything).is_overview


@pytest.mark.parametrize(
    "text",
    [
        "what does this function do",
        "what is a project file",
        "project settings",
        "where do I start the server",
        "what does the tool registry do",
        "这个函数是做什么的",
        "项目设置在哪里",
    ],
)
def test_questions_about_a_part_are_no_overview(text: str) -> None:
    assert not plan(parse_query(text), everything).is_overview


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("functions of class Order about prices", MembersQuery("Order", "prices")),
        ("which methods in the class `Order` that compute tax", MembersQuery("Order", "compute tax")),
        ("methods of the Order class for shipping", MembersQuery("Order", "shipping")),
        ("Methods of shop.Order that refund money?", MembersQuery("shop.Order", "refund money")),
        ("what fields of struct point are used for drawing", MembersQuery("point", "used for drawing")),
        ("类 Order 中关于价格的方法", MembersQuery("Order", "价格")),
        ("Order 类的处理退款的函数有哪些", MembersQuery("Order", "退款")),
        ("code in the middle of the loop about x", None),
        ("functions in utils about dates", None),
        ("members of the team for release", None),
        ("methods of Order", None),
        ("in:Cart methods of class Order about prices", None),
        ("how are the methods of a class found", None),
    ],
)
def test_a_question_about_members_of_a_type_is_understood(text: str, members: MembersQuery | None) -> None:
    assert members_query(parse_query(text)) == members


def test_a_question_is_kept_to_a_type_that_is_here() -> None:
    query = parse_query("functions of class Order about prices")
    planned = plan(query, everything, nothing, everything)
    assert planned.plan.kept_to == "Order"
    adapted = planned.adapted(query)
    assert (adapted.text, adapted.members_of) == ("prices", "Order")
    assert plan(query, everything, nothing, nothing).members is None
