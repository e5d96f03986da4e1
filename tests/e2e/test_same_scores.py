"""Scores are the same to the last bit, whatever order a process gives to sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.waiting import LONG_S

from codefathom import Engine

SCORES = """
import sys
from codefathom import Engine
with Engine.open(sys.argv[1]) as engine:
    for question in sys.argv[2:]:
        print([hit.score for hit in engine.search(question).hits])
"""


QUESTIONS = (
    "where are orders priced and labels printed",
    "订单价格在哪里计算，标签怎么打印",
    "Order.price ignores the discount\n\n"
    + "The labels in orders.py and tools/labels.rs print another price than the cart shows. " * 6,
)


def test_scores_are_the_same_in_every_process(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.index()
    scores = {
        subprocess.run(
            [sys.executable, "-c", SCORES, str(shop), *QUESTIONS],
            check=True,
            capture_output=True,
            text=True,
            timeout=LONG_S,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in range(1, 5)
    }
    assert len(scores) == 1
