"""What the MCP tool of the peer semble prints, made in a process of its own environment: one JSON object a line.

A line asks with {"root", "questions"}; the answer is a list with, for each question, the text of the
tool's result, ten places of ten lines at most. The model of semble cannot be had offline, so words alone are ranked.
"""

from __future__ import annotations

import json
import sys

from semble.utils import format_results

from evals.adapters.semble import make_index, words_only

N_PLACES, N_LINES = 10, 10  # what the tool prints of a place when nothing else is asked for


def main() -> None:
    """Answer each line of stdin."""
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        out.write(json.dumps(texts(**json.loads(line))) + "\n")
        out.flush()


def texts(root: str, questions: list[str]) -> list[str]:
    """Return the text of each answer, as the tool writes it."""
    built = make_index(root)
    return [
        json.dumps(format_results(question, words_only(built, question, N_PLACES), N_LINES, built.sources))
        for question in questions
    ]


if __name__ == "__main__":
    main()
