"""How often an answer of the tool `search` makes `read` needless, by budget: `python -m evals.bodies TREE`.

Each question is the first sentence of the documentation of a function of Python in the tree; the answer is enough when
all lines of this function stand in it, besides its documentation.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from codefathom.answer.tokens import estimate
from codefathom.engine import Engine
from codefathom.mcp.session_projects import SessionProjects, SessionStart
from codefathom.mcp.tool_calls import ToolCalls
from evals.metrics import mean
from evals.report import table

BUDGETS = (0, 1_000, 2_000, 4_000, 8_000, 20_000)  # 0: none is named
_STRIDE = 7_919  # a prime: neighbours come from different files
_LEAST_LINES = 4  # of a function


class _Asked(NamedTuple):
    question: str
    path: str
    lines: frozenset[int]  # of the body


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m evals.bodies")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--questions", type=int, default=100)
    arguments = parser.parse_args(words)
    every = list(_functions(arguments.tree))
    asked = [every[number * _STRIDE % len(every)] for number in range(arguments.questions)]
    root = str(arguments.tree)
    start = SessionStart(lambda: Engine.open(root), lambda named: Engine.open(named.root))
    calls = ToolCalls(projects := SessionProjects(start))
    calls.call("map", {})
    rows = [_row(calls, asked, budget) for budget in BUDGETS]
    projects.close()
    print(table(("max_tokens", "tokens, mean", "function found, %", "function whole, %"), rows))
    return 0


def _row(calls: ToolCalls, asked: Sequence[_Asked], budget: int) -> tuple[str, ...]:
    sizes, found, whole = [], [], []
    for one in asked:
        result = calls.call("search", {"query": one.question, **({"max_tokens": budget} if budget else {})})
        hits = result["structuredContent"]["hits"]
        texts = [hit["text"] for hit in hits if hit["path"] == one.path]
        shown = {int(number) for text in texts for number in re.findall(r"^(\d+):", text, re.MULTILINE)}
        sizes.append(estimate(result["content"][0]["text"]))
        found.append(float(bool(shown & one.lines)))
        whole.append(float(one.lines <= shown))
    return str(budget or "-"), f"{mean(sizes):.0f}", f"{mean(found) * 100:.0f}", f"{mean(whole) * 100:.0f}"


def _functions(tree: Path) -> Iterator[_Asked]:
    for path in sorted(tree.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node)):
                body = node.body[1:]
                if body and (node.end_lineno or 0) - body[0].lineno >= _LEAST_LINES and len(said.split()) > 3:
                    lines = range(body[0].lineno, (node.end_lineno or 0) + 1)
                    texts = path.read_text().split("\n")
                    full = frozenset(number for number in lines if texts[number - 1].strip())
                    yield _Asked(said.partition("\n")[0], path.relative_to(tree).as_posix(), full)


if __name__ == "__main__":
    sys.exit(main())
