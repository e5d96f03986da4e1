"""Maps of projects: how many of the files that an issue needed later stand in a map of 8,000 tokens.

    python -m evals.maps --repositories CLONES

CLONES and BENCH_DIR are those of `evals.localize`. Three maps of the same length are compared: of the project alone, for
the text of the issue, and an outline in the order of folders. No weight was learned from these issues.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from codefathom import Engine
from codefathom.answer.tokens import estimate
from codefathom.types import Filter
from evals.benchmark import bench_folder
from evals.localize import Issue, checked_out, read_issues
from evals.metrics import mean
