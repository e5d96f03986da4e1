"""The development benchmark: `python -m evals --peer-python PEERS/bin/python`, or `make bench`.

BENCH_DIR names the annotated questions (../shared/bench), BENCH_CORPORA the trees (.bench-corpora). With `--clones`,
the issues of `evals.localize` are asked too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from evals.benchmark import STANDARD_LIBRARY, Corpus, MissingCorpusError, bench_folder, development, standard_library
from evals.localize import localized
from evals.report import headline, page, write_section
from evals.run import REPOSITORY, Run, run_tools
from evals.tool import TOOLS


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a line for each tool and write the page. Returns 2 when a tree is missing or no tool ran."""
    arguments = _arguments().parse_args(words)
    try:
        corpora = _corpora(arguments.corpus)
    except MissingCorpusError as error:
        print(error, file=sys.stderr)
        return 2
    measured = run_tools(arguments.tool or TOOLS, corpora, peer_python=arguments.peer_python, repeat=arguments.repeat)
    runs = measured.runs
    for run in runs:
        print(f"{run.version}: NDCG@10 {headline(run):.4f}; corpora measured: {len(run.outcomes)}")
    if arguments.results:
        write_results(runs, Path(arguments.results))
    issues = localized(arguments.clones) if arguments.clones else {}
    if issues:
        print(", ".join(f"{name} {value:.1f}" for name, value in issues.items()))
    if arguments.page and runs:
        write_section(Path(arguments.page), "make bench", page(measured, issues))
    return 0 if runs else 2


def write_results(runs: Sequence[Run], path: Path) -> None:
    """Write everything that was measured, every ranked list included, as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(run) for run in runs]), encoding="utf-8")


def _corpora(names: Sequence[str]) -> list[Corpus]:
    trees = Path(os.environ.get("BENCH_CORPORA") or REPOSITORY / ".bench-corpora")
    annotated = [name for name in names if name != STANDARD_LIBRARY]
    corpora = development(bench_folder(), trees, annotated) if annotated or not names else []
    return [*corpora, standard_library()] if not names or STANDARD_LIBRARY in names else corpora


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tool", action="append", choices=TOOLS, help="measure this tool; all by default")
    parser.add_argument("--corpus", action="append", default=[], help="on this corpus; all by default")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has semble and bm25s")
    parser.add_argument("--repeat", type=int, default=5, help="how often each question is asked")
    parser.add_argument(
        "--clones", type=Path, help="folder of the clones whose issues are asked, see evals/localize.py"
    )
    parser.add_argument("--page", default="", help="write the result into this page, such as docs/benchmarks.md")
    parser.add_argument("--results", default="", help="write all figures and ranked lists to this JSON file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
