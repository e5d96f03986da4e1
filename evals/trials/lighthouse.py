"""What Lighthouse says of the pages of a server that has indexed Codefathom itself: accessibility and performance.

    npm install --prefix FOLDER lighthouse@13.5.0
    python -m evals.trials.lighthouse FOLDER/node_modules/.bin/lighthouse

Pages are loaded over loopback as on a desktop, each several times; the median is shown. Other work on the machine makes
the performance look worse than it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from docs.screenshots import QUESTION, indexed  # type: ignore[attr-defined]  # mypy takes the folder of pictures for it

from evals.report import table

_LIMIT_S = 300.0
_CATEGORIES = ("accessibility", "performance")
_GOALS = {"accessibility": 100, "performance": 95}
_TIMES = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")  # milliseconds
_SHIFT = "cumulative-layout-shift"


def main() -> int:
    """Print a table of all pages; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program lighthouse")
    parser.add_argument("--runs", type=int, default=3, help="how often each page is loaded (default: %(default)s)")
    options = parser.parse_args()
    rows, failures = [], []
    with indexed() as served:
        pages = {
            "search": f"/search?q={quote(QUESTION)}",
            "a project": "/project/codefathom",
            "projects": "/projects",
            "chat": "/chat",
            "monitoring": "/monitoring",
        }
        for name, path in pages.items():
            reports = [_report(options.program, served.url + path) for _ in range(options.runs)]
            scores = {each: 100 * median(_score(report, each) for report in reports) for each in _CATEGORIES}
            rows.append((name, *(f"{scores[each]:.0f}" for each in _CATEGORIES), *_measures(reports)))
            failures += [f"{name}: {each} {scores[each]:.0f}" for each in _CATEGORIES if scores[each] < _GOALS[each]]
            failures += sorted({f"{name}: {fault}" for report in reports for fault in _faults(report)})
    columns = ("page", *_CATEGORIES, *(name.replace("-", " ") + " (ms)" for name in _TIMES), _SHIFT.replace("-", " "))
    print(table(columns, rows))
    for line in failures:
        print(f"- {line}")
    return 1 if failures else 0


def _report(program: str, url: str) -> Mapping[str, Any]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or ""
    with TemporaryDirectory() as folder:
        output = Path(folder) / "report.json"
        words = ("--quiet", "--preset=desktop", f"--only-categories={','.join(_CATEGORIES)}", "--output=json")
        flags = "--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"
        subprocess.run(
            [program, url, *words, f"--output-path={output}", flags],
            check=True,
            timeout=_LIMIT_S,
            env=os.environ | {"CHROME_PATH": chromium},
        )
        return json.loads(output.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def _score(report: Mapping[str, Any], category: str) -> float:
    return float(report["categories"][category]["score"] or 0)


def _measures(reports: Sequence[Mapping[str, Any]]) -> list[str]:
    def middle(name: str) -> float:
        return median(float(report["audits"][name]["numericValue"]) for report in reports)

    return [*(f"{middle(name):.0f}" for name in _TIMES), f"{middle(_SHIFT):.3f}"]


def _faults(report: Mapping[str, Any]) -> list[str]:
    """Return the audits of accessibility that a page has not passed."""
    named = [each["id"] for each in report["categories"]["accessibility"]["auditRefs"] if each["weight"]]
    audits = report["audits"]
    return [audits[name]["title"] for name in named if audits[name]["score"] is not None and audits[name]["score"] < 1]


if __name__ == "__main__":
    sys.exit(main())
