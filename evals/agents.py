"""What an agent pays for an answer, and what it sees for it: tokens and targets of whole outputs.

    python -m evals.agents [--peer-python PYTHON] [--page docs/benchmarks-agents.md]

Each question of the development benchmark is put to `fathom search` (as text and as JSON), to the tool `search` of
`fathom mcp` (its text and its structured content), to semble's MCP tool (PYTHON is an environment with semble 0.7.0 and
mcp) and to ripgrep with a grid of settings. Tokens are those of cl100k_base. A target is found where a line of it is
printed; one without lines, where any line of its file is. BENCH_DIR and BENCH_CORPORA are those of `evals`.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

from codefathom.answer.budget import CountTokens
from codefathom.answer.tokens import counter
from codefathom.cli import main as fathom
from codefathom.engine import Engine
from codefathom.mcp.session_projects import SessionProjects, SessionStart
from codefathom.mcp.tool_calls import ToolCalls
from codefathom.mcp.tool_list import TOOLS
from evals.benchmark import CHINESE, Corpus, Question, bench_folder, development, lay
from evals.metrics import Target, mean, meets
from evals.printed import Shown, consecutive, numbered, of_json, of_ripgrep, of_search_text, of_tool_text
from evals.report import machine, number, table, write_section
from evals.run import REPOSITORY
from evals.text import keywords

TOOL_NAMES = "fathom,mcp,ripgrep,semble"
BUDGETS = (500, 2_000)


class Output(NamedTuple):
    """The whole output for one question, and the lines of files in it."""

    text: str
    shown: Iterable[Shown]


class Price(NamedTuple):
    """What one output costs and gives."""

    n_tokens: int
    until_first: float  # tokens until the first right line has been read; infinite without one
    recalls: tuple[float, ...]  # share of the targets within each budget, and in the whole


Reader: TypeAlias = Callable[[Path, Sequence[str]], Mapping[str, Sequence[Output]]]


def main(words: Sequence[str] | None = None) -> int:
    """Ask all questions, print the table, and write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--page", default="")
    parser.add_argument("--only", default="", help="names of corpora, with commas between them")
    parser.add_argument(
        "--tools", default="fathom,mcp,ripgrep,semble", help="those that are asked, with commas between them"
    )
    parser.add_argument("--keep", default="", help="a folder in which trees and indexes stay for the next run")
    options = parser.parse_args(words)
    names = tuple(filter(None, options.only.split(",")))
    corpora = development(bench_folder(), Path(os.environ.get("BENCH_CORPORA") or ".bench-corpora"), names)
    tools = options.tools.split(",")
    readers = [read for name, read in {"fathom": of_fathom, "mcp": of_tool}.items() if name in tools]
    readers += [Ripgrep(program).read] if "ripgrep" in tools and (program := shutil.which("rg")) else []
    with (
        own_folder(options.keep) as folder,
        _semble(options.peer_python if "semble" in tools else "", folder) as semble,
    ):
        prices = measure(corpora, [*readers, *semble], folder)
    text = section(prices, len(corpora))
    print(text)
    if options.page:
        write_section(Path(options.page), "make bench-agents", text)
    return 0


def measure(corpora: Sequence[Corpus], readers: Sequence[Reader], folder: Path) -> dict[str, list[Price]]:
    """Return for each kind of output the prices of all questions, in their order."""
    prices: dict[str, list[Price]] = defaultdict(list)
    for corpus in corpora:
        tree = folder / "trees" / corpus.name / corpus.inner
        root = tree if tree.is_dir() else lay(corpus, folder / "trees")
        questions = [question for question in corpus.questions if question.category != CHINESE]
        for read in readers:
            for name, outputs in read(root, [question.text for question in questions]).items():
                prices[name] += map(price, outputs, questions)
        print(f"  {corpus.name}", file=sys.stderr, flush=True)
    return prices


def price(output: Output, question: Question) -> Price:
    """Return what an output costs, and the tokens until each target has been read."""
    reached: dict[Target, float] = dict.fromkeys(question.targets, math.inf)
    missing = set(question.targets)
    for shown in output.shown:
        for target in [target for target in missing if meets(shown.place, target)]:
            missing.discard(target)
            reached[target] = _count(output.text[: shown.end])
        if not missing:
            break
    limits = (*BUDGETS, sys.maxsize)
    recalls = tuple(mean(float(tokens <= limit) for tokens in reached.values()) for limit in limits)
    return Price(_count(output.text), min(reached.values()), recalls)


def _count(text: str) -> int:
    return _counter()(text)


@cache
def _counter() -> CountTokens:
    return counter(encoding="cl100k_base")


# ---- the tools


def of_fathom(root: Path, questions: Sequence[str]) -> Mapping[str, Sequence[Output]]:
    """Return the outputs of the command `fathom search`."""
    texts = [_printed("search", "-C", str(root), "--", question) for question in questions]
    shapes = [_printed("search", "--json", "-C", str(root), "--", question) for question in questions]
    return {
        TEXT: [Output(text, of_search_text(text)) for text in texts],
        JSON: [
            Output(text, of_json(text, "hits", "content", lambda hit: consecutive(hit["content_line"], hit["content"])))
            for text in shapes
        ],
    }


def _printed(*words: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = fathom(words)
    if code > 1:
        raise RuntimeError(f"fathom {' '.join(words)} failed")
    return out.getvalue()


def of_tool(root: Path, questions: Sequence[str]) -> Mapping[str, Sequence[Output]]:
    """Return both forms of the answers of the tool `search`."""
    projects = SessionProjects(SessionStart(lambda: Engine.open(str(root)), lambda named: Engine.open(named.root)))
    tools = ToolCalls(projects)
    try:
        results = [tools.call("search", {"query": question}) for question in questions]
    finally:
        projects.close()
    texts = [result["content"][0]["text"] for result in results]
    shapes = [json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":")) for result in results]
    return {
        OURS: [Output(text, of_tool_text(text)) for text in texts],
        "MCP `search`, structuredContent": [
            Output(text, [shown for key in ("hits", "also") for shown in _of_shape(text, key)]) for text in shapes
        ],
    }


def _of_shape(text: str, key: str) -> Iterator[Shown]:
    return of_json(text, key, "text", lambda item: numbered(item.get("text", "")))


@contextmanager
def _semble(python: str, folder: Path) -> Iterator[list[Reader]]:
    """Give the reader of semble's answers; none without its Python."""
    if not python:
        yield []
        return
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), "HOME": str(folder)}
    words = [str(Path(python).absolute()), "-m", "evals.adapters.semble_snippets"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ) as process:

        def read(root: Path, questions: Sequence[str]) -> Mapping[str, Sequence[Output]]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"root": str(root), "questions": questions}) + "\n")
            process.stdin.flush()
            texts = json.loads(process.stdout.readline())
            return {SEMBLE: [Output(text, _of_semble(text)) for text in texts]}

        yield [read]


def _of_semble(text: str) -> Iterator[Shown]:
    return of_json(text, "results", "content", lambda hit: consecutive(hit["start_line"], hit["content"]))


class Ripgrep:
    """ripgrep for any of the words of a question, in the order of paths, with a grid of settings."""

    GRID = (
        ("--files-with-matches",),
        *(
            ("--line-number", *most, *around)
            for around in ((), ("--context", "2"), ("--context", "5"))
            for most in ((), ("--max-count", "5"), ("--max-count", "1"))
        ),
    )

    def __init__(self, program: str) -> None:
        self.program = program

    def read(self, root: Path, questions: Sequence[str]) -> Mapping[str, Sequence[Output]]:
        """Return the outputs with each setting."""
        return {
            f"`rg {' '.join(setting)}`": [self._output(root, question, setting) for question in questions]
            for setting in self.GRID
        }

    def _output(self, root: Path, question: str, setting: Sequence[str]) -> Output:
        words = [part for word in keywords(question) for part in ("-e", word)]
        command = [self.program, "--ignore-case", "--fixed-strings", "--no-heading", "--sort", "path", "--null"]
        words = [*command, *setting, *words]  # ends with 1 where nothing is found
        run = subprocess.run(words, check=False, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        text = run.stdout.decode("utf-8", "replace")
        if "--files-with-matches" in setting:
            text = text.replace("\0", "\0\n")
        return Output(text.replace("\0", ":"), of_ripgrep(text))


# ---- the page


def section(prices: Mapping[str, Sequence[Price]], n_corpora: int) -> str:
    """Return the table and what it says about the goals."""
    heads = ("", "tokens", "until the first right line", *(f"recall within {n:,}" for n in BUDGETS), "recall of all")
    return PAGE.format(
        n_questions=len(next(iter(prices.values()))),
        n_corpora=n_corpora,
        machine=machine(),
        table=table(heads, [(name, *_row(rows)) for name, rows in prices.items()]),
        goals="\n".join(f"- {goal}" for goal in _goals(prices)),
        n_list=_count(json.dumps(TOOLS, separators=(",", ":"))),
    )


def _goals(prices: Mapping[str, Sequence[Price]]) -> Iterator[str]:
    ours = prices.get(OURS)
    if ours and SEMBLE in prices:
        yield (
            f"The whole answer of the tool is {_ratio(ours, prices[SEMBLE]):.2f} of semble's (goal 0.7); within 500 "
            f"tokens it holds {_recall(ours, 0):.1f} % of the targets, semble's {_recall(prices[SEMBLE], 0):.1f} %."
        )
    grid = {name: rows for name, rows in prices.items() if name.startswith("`rg") and "--line-number" in name}
    if ours and grid:
        best = max(grid, key=lambda name: _recall(grid[name], 1))
        yield (
            f"Of the settings of ripgrep that print lines, {best} holds most targets within 2,000 tokens; the answer "
            f"of the tool is {_ratio(ours, grid[best]):.3f} of its output (goal 0.1)."
        )
    if TEXT in prices:
        yield f"`fathom search --json` is {_ratio(prices[JSON], prices[TEXT]):.2f} of the text (goal 1.3)."


def _ratio(rows: Sequence[Price], base: Sequence[Price]) -> float:
    return mean(row.n_tokens for row in rows) / mean(row.n_tokens for row in base)


def _recall(rows: Sequence[Price], place: int) -> float:
    return 100 * mean(row.recalls[place] for row in rows)


def _row(rows: Sequence[Price]) -> list[str]:
    first = median(row.until_first for row in rows)
    return [
        f"{mean(row.n_tokens for row in rows):,.0f}",
        "–" if math.isinf(first) else f"{first:,.0f}",
        *(number(_recall(rows, place), ".1f") for place in range(len(BUDGETS) + 1)),
    ]


TEXT, JSON, OURS = "`fathom search`", "`fathom search --json`", "MCP `search`, text"
SEMBLE = "semble, MCP `search`, 10 snippets"
PAGE = """\
# What an answer costs

    BENCH_DIR=… BENCH_CORPORA=… PEER_PYTHON=… make bench-agents

The {n_questions} questions of the development benchmark, {n_corpora} repositories, on {machine}.
Tokens are those of cl100k_base. "Tokens" is the mean of whole outputs on stdout; "until the first right line" is the
median of the tokens that a reader takes in until a line of a target has been printed. Recall is the mean share of a
question's targets of which a line is printed within the first 500 or 2,000 tokens, and in the whole output, in percent.
Of a target without lines (most have none) any line of its file counts, for `rg --files-with-matches` its name. semble
0.7.0 ranks by words alone, as its model cannot be downloaded here. ripgrep searches for any of the words of a question
(`rg --ignore-case --fixed-strings --no-heading --sort path -e WORD …`), without words such as "how" and "the".

{table}

The list of tools (`tools/list`) takes {n_list:,} tokens.

{goals}
"""


@contextmanager
def own_folder(kept: str) -> Iterator[Path]:
    """Give a folder, in which nothing of the settings and indexes of the user counts."""
    with TemporaryDirectory(prefix="fathom-agents-") as own:
        folder = Path(kept or own).absolute()
        # Nothing of the user's own settings and indexes counts.
        os.environ["FATHOM_CACHE_DIR"] = str(folder / "cache")
        os.environ["FATHOM_STATE_DIR"] = str(folder / "state")
        os.environ["FATHOM_CONFIG"] = str(folder / "no-settings.toml")
        yield folder


if __name__ == "__main__":
    raise SystemExit(main())
