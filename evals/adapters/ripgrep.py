"""ripgrep as a person uses it: the keywords of the question, files with rare and many matches first."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from evals.metrics import Found
from evals.text import keywords
from evals.tool import Size


class Ripgrep:
    """Has no index; every question reads the tree."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.root = Path()

    def version(self) -> str:
        """Name and version, as it says itself."""
        said = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True).stdout
        return " ".join(said.split()[:2])

    def index(self, root: Path) -> bool:
        """Nothing to make."""
        self.root = root
        return False

    def size(self) -> Size:
        """Nothing is kept."""
        return Size(None, None)

    def update(self) -> None:
        """Nothing to take in."""

    def search(self, question: str, limit: int) -> Sequence[Found]:
        """Files by the sum over keywords of rarity times the logarithm of matches; without lines."""
        counts = self._counts(keywords(question))
        in_files = Counter(word for found in counts.values() for word in found)

        def weight(path: str) -> float:
            return sum(
                math.log(1 + len(counts) / in_files[word]) * (1 + math.log(n)) for word, n in counts[path].items()
            )

        return [Found(path) for path in sorted(counts, key=lambda path: (-weight(path), path))[:limit]]

    def command(self, question: str) -> list[str]:
        """Search for the keywords in one process."""
        return [self.program, *_arguments(keywords(question)), str(self.root)]

    def _counts(self, wanted: Sequence[str]) -> dict[str, Counter[str]]:
        """Return how often each file holds each keyword."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        if not wanted:
            return {}
        command = [self.program, *_arguments(wanted), "."]
        run = subprocess.run(command, cwd=self.root, capture_output=True, check=False)  # 1: nothing found
        for line in run.stdout.decode("utf-8", "replace").splitlines():
            path, _, match = line.partition("\0")
            counts[path.removeprefix("./")][match.lower()] += 1
        return counts


def _arguments(wanted: Sequence[str]) -> list[str]:
    patterns = [part for word in wanted for part in ("-e", word)]
    return ["--ignore-case", "--fixed-strings", "--only-matching", "--no-line-number", "--no-heading", "-0", *patterns]


def make(scratch: Path) -> Ripgrep:
    """Return the tool. Raises FileNotFoundError when ripgrep is not installed."""
    program = shutil.which("rg")
    if program is None:
        raise FileNotFoundError("ripgrep is not installed (the command rg)")
    return Ripgrep(program)
