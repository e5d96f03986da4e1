"""Every wait in the tests has a limit: what waits does so through tests/waiting.py, or says how long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import Started, comes

TESTS = Path(__file__).parent
# A reader joins an answer, and nobody waits.
NO_WAITS = {"asking"}
RUNS = {"run", "call", "check_call", "check_output"}


def waits_without_limit(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        has_limit = any(word.arg == "timeout" for word in node.keywords)
        if (
            called == "Popen"
            or (owner == "subprocess" and called in RUNS and not has_limit)
            or (called == "Barrier" and not has_limit)
            or (called == "join" and owner not in NO_WAITS and owner != "" and not node.args and not has_limit)
        ):
            yield node


def test_no_wait_is_without_a_limit() -> None:
    found = {
        f"{path.relative_to(TESTS)}:{node.lineno}: {ast.unparse(node)}"
        for path in TESTS.rglob("*.py")
        if "repos" not in path.relative_to(TESTS).parts and path.name != "waiting.py"
        for node in waits_without_limit(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


@pytest.mark.parametrize(
    "written",
    ["subprocess.Popen(words)", "subprocess.run(words)", "Barrier(2)", "thread.join()", "Popen(words)"],
)
def test_what_counts(written: str) -> None:
    assert list(waits_without_limit(ast.parse(written)))


def test_a_process_does_not_outlive_a_block_that_fails() -> None:
    with pytest.raises(ZeroDivisionError), Started(["sleep", "3600"]) as process:
        raise ZeroDivisionError
    assert process.returncode is not None
    assert comes(lambda: process.poll() is not None)
