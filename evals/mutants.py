"""The score of `make mutants`: of each module, how many small faults the tests notice, and those that they do not."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "mutants" / "src"
UNTESTED = {5, 33}  # as mutmut notes that no test calls the function


def main() -> None:
    """Print the score of the modules whose name begins with a word, such as `answer.cite`; of all without one."""
    prefix = f"codefathom.{sys.argv[1]}" if len(sys.argv) > 1 else "codefathom."
    print(
        "| module | faults | noticed | not noticed | never called | score |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )
    left: list[str] = []
    for module, codes in _modules():
        if codes and module.startswith(prefix):
            print(_row(module, codes))
            left += [name for name, code in codes.items() if code == 0]
    print("\nNot noticed (`mutmut show NAME` shows the fault):", *left, sep="\n")


def _modules() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each module with the exit code of its tests for each fault that was tried."""
    for path in sorted(RESULTS.rglob("*.py.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        name = ".".join(path.relative_to(RESULTS).with_suffix("").with_suffix("").parts)
        yield name, {fault: code for fault, code in codes.items() if code is not None}


def _row(module: str, codes: dict[str, int]) -> str:
    counts = Counter("untested" if code in UNTESTED else "left" if code == 0 else "noticed" for code in codes.values())
    score = counts["noticed"] / len(codes)
    numbers = (len(codes), counts["noticed"], counts["left"], counts["untested"])
    return f"| {module.removeprefix('codefathom.')} | {' | '.join(map(str, numbers))} | {score:.0%} |"


if __name__ == "__main__":
    main()
