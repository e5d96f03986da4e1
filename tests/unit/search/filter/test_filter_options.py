"""Plain options and globs → conditions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.stores.test_conditions import RECORD

from codefathom.errors import UsageError
from codefathom.facts.languages import LANGUAGES
from codefathom.search.filter.filter_options import glob_expression, one_of, split_values
from codefathom.search.filter.filter_parser import filter_of
from codefathom.stores.conditions import combine, matches
from codefathom.types import SYMBOL_KINDS, Filter, Where

# ---- options and globs


def of(**options: str) -> Where | None:
    """The condition that all options hold; an option may name several values, parted by commas."""
    return combine(*(one_of(field, split_values(given)) for field, given in options.items() if given.strip()))


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        ({"dir": "src/"}, True),
        ({"dir": "./src/net"}, True),
        ({"dir": "src/ne"}, False),
        ({"dir": "net"}, False),
        ({"dir": "lib,src"}, True),
        ({"dir": "s*/net"}, True),
        ({"dir": "*/other"}, False),
        ({"language": "py"}, True),
        ({"language": "c++, Python"}, True),
        ({"language": "ts,js,rs,c#"}, False),
        ({"kind": "func"}, False),
        ({"kind": "function,method"}, True),
        ({"ext": ".py"}, True),
        ({"ext": "py,go"}, True),
        ({"path": "net/"}, True),
        ({"path": "/net/"}, False),
        ({"path": "/src/"}, True),
        ({"path": "src/*.py"}, False),
        ({"path": "src/**/*.py"}, True),
        ({"path": "*.{go,py}"}, True),
        ({"symbol": "send"}, True),
        ({"symbol": "Client"}, True),
        ({"symbol": "Client::send"}, True),
        ({"symbol": "sen"}, False),
        ({"symbol": "cl*"}, True),
        ({"language": "python", "kind": "class"}, False),
    ],
)
def test_options(options: dict[str, str], holds: bool) -> None:
    where = of(**options)
    assert where is not None
    assert matches(where, RECORD) == holds


def test_options_that_say_nothing_make_no_condition() -> None:
    assert of() is None
    assert of(dir=".", language=" ") is None
    assert of(dir="src,.") is None
    assert combine(None, None) is None
    only = Filter("kind", "eq", "class")
    assert combine(None, only) is only


@pytest.mark.parametrize(
    ("glob", "path", "is_match"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "a/b.pyc", False),
        ("/*.py", "a/b.py", False),
        ("/*.py", "b.py", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "x/a/b/b/c", True),
        ("a/*/c", "a/b/b/c", False),
        ("src/**", "src/a/b", True),
        ("b?", "a/bc/d", True),
        ("b?", "a/b/c", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("x.{c,h}pp", "x.hpp", True),
        ("x.{c,h}pp", "x.pp", False),
        ("{src/,lib/}a.py", "lib/a.py", True),
        ("{src/,lib/}a.py", "a.py", False),
        ("{??/}", "ab/c", True),
        ("docs/", "docs/a.md", True),
        ("docs/", "docs", False),
        ("a+b", "a+b", True),
        ("[", "[", True),
    ],
)
def test_globs(glob: str, path: str, is_match: bool) -> None:
    assert bool(re.search(glob_expression(glob), path)) == is_match


@given(st.text(alphabet="*?[]{}!a-^\\/.,", max_size=10))
def test_every_glob_is_a_regular_expression(glob: str) -> None:
    re.compile(glob_expression(glob))


@pytest.mark.parametrize(("glob", "path"), [("[z-a]", "[z-a]"), ("[^a]", "^"), ("[a&&b]", "&")])
def test_odd_brackets(glob: str, path: str) -> None:
    assert re.search(glob_expression(glob), path)


def test_a_json_value_may_come_parsed() -> None:
    assert filter_of({"field": "startLine", "operator": "gte", "value": "3"}) == Filter("start_line", "gte", 3)


# ---- names of languages and kinds


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_each_stored_language_is_found_by_its_own_name(language: str) -> None:
    assert one_of("language", (language,)) == Filter("language", "eq", language)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *(
            ("Py", "python"),
            ("golang", "go"),
            ("c++", "cpp"),
            ("C#", "csharp"),
            (".rs", "rust"),
            ("restructuredtext", "rst"),
        ),
        *(("node", "javascript"), ("yml", "yaml"), ("shell", "bash"), ("md", "markdown"), ("docker", "dockerfile")),
    ],
)
def test_a_language_has_other_names(name: str, language: str) -> None:
    assert one_of("language", (name,)) == Filter("language", "eq", language)


@pytest.mark.parametrize("kind", [*SYMBOL_KINDS, "block"])
def test_each_stored_kind_is_found_by_its_own_name(kind: str) -> None:
    assert one_of("kind", (kind.upper(),)) == Filter("kind", "eq", kind)


@pytest.mark.parametrize(
    ("field", "name", "near"),
    [("language", "klingon", "fathom status"), ("language", "pyhton", "python"), ("kind", "nonsense", "function")],
)
def test_an_unknown_name_is_an_error_that_names_what_there_is(field: str, name: str, near: str) -> None:
    with pytest.raises(UsageError, match=name) as error:
        one_of(field, (name,))
    assert near in error.value.hint


@pytest.mark.parametrize("name", ["nope", "klingon", "jar", "x" * 5_000])
def test_a_name_that_is_near_to_none_is_led_to_none(name: str) -> None:
    with pytest.raises(UsageError) as error:
        one_of("language", (name,))
    assert error.value.hint == "`fathom status` lists the languages of this project"
