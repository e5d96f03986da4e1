"""A run that is killed at any moment leaves an index that the next run completes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.waiting import LONG_S, Started

from codefathom import Engine

INDEX = (
    "import sys; from codefathom import Engine\nprint('on', flush=True)\nwith Engine.open(sys.argv[1]) as e: e.index()"
)
WORDS = [a + b for a in ("ba", "cor", "del", "fim", "gul", "han") for b in ("ta", "nix", "rom", "sel", "pud", "wek")]
# No two chunks may tie at the end of the candidates: which of them is taken then depends on their order in the index.
QUESTIONS = ("handler_7", "compute the total of orders", "Model12", "batanix and corpud", "hansel", "retry the fimrom")


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    yield


def make(root: Path, seed: int, n_files: int = 60) -> None:
    """Write a project; another seed gives other texts for a third of the files, and other names for some."""
    for number in range(n_files):
        variant = seed if number % 3 == 0 else 0
        parts = [
            f"class Model{number}:\n    def handler_{number}(self, orders):\n"
            f'        """Compute the total of orders {number} {variant}."""\n        return sum(orders) + {variant}\n\n'
        ]
        words = random.Random(f"{number} {variant}")
        parts += [
            f"def load_{number}_{k}(path):\n    # retry {' '.join(words.choices(WORDS, k=9))}\n"
            f"    return {words.choice(WORDS)}(path) + {words.choice(WORDS)}\n\n"
            for k in range(40)
        ]
        path = root / f"pack{number % 5}" / f"m{number}{'x' * (seed % 2) if number % 10 == 0 else ''}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(parts))


def snapshot(root: Path) -> dict[str, object]:
    with Engine.open(str(root)) as engine:
        engine.index()
        catalog = engine.opened.catalog
        shown = {
            d.path: (
                d.fingerprint,
                catalog.text(d.path),
                [(c.id, c.start_line, c.end_line, c.text) for _, c in catalog.chunks_of(d.path)],
                catalog.symbols_of(d.path),
            )
            for d in catalog.documents()
        }
        found = {
            f"{mode} {question}": [
                (hit.chunk.id, hit.chunk.path, hit.chunk.start_line, round(hit.score, 5))
                for hit in engine.search(question, mode=mode).hits
            ]
            for mode in ("hybrid", "lexical", "vector", "symbol")
            for question in QUESTIONS
        }
        assert [check for check in engine.doctor() if not check.ok] == []
        status = engine.status()
        assert (status.n_without_vector, status.views_current) == (0, True)
        again = engine.index()  # files written just before are looked at again, and are the same
        assert (again.added, again.changed, again.removed, again.failures) == ((), (), (), ())
        return {"documents": shown, "found": found, "counts": (status.n_chunks, status.n_symbols)}


def clean(root: Path, tmp_path: Path, name: str) -> dict[str, object]:
    """Index the same files in a new place from nothing."""
    other = tmp_path / name
    other.mkdir()
    for path in root.rglob("*.py"):
        target = other / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (other / "fathom.toml").write_text("[index]\nworkers = 0\n")
    return snapshot(other)


def kill_after(root: Path, seconds: float) -> bool:
    """Index in another process, kill it after some time; return whether it was still at work."""
    command = [sys.executable, "-c", INDEX, str(root)]
    with Started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"on\n"
        time.sleep(seconds)
        running = process.poll() is None
        process.kill()
        return running


def rounds(tmp_path: Path, n_rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path / "project"
    make(root, 0)
    (root / "fathom.toml").write_text("[index]\nworkers = 0\n")
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", INDEX, str(root)], check=True, capture_output=True, timeout=LONG_S)
    whole_s = time.perf_counter() - started
    n_killed = 0
    for number in range(1, n_rounds + 1):
        for old in root.rglob("*.py"):
            old.unlink()
        make(root, number)
        if chance.random() < 0.5:  # half of the time from nothing
            for folder in (root / ".fathom", tmp_path / "cache"):
                subprocess.run(["rm", "-rf", str(folder)], check=True, timeout=LONG_S)
        for _ in range(chance.choice((1, 1, 2, 3))):
            n_killed += kill_after(root, chance.random() * whole_s)
        assert snapshot(root) == clean(root, tmp_path, f"clean{number}"), f"round {number}"
    assert n_killed > 0


@pytest.mark.usefixtures("surroundings")
def test_a_killed_run_is_completed(tmp_path: Path) -> None:
    rounds(tmp_path, 5, seed=1)


@pytest.mark.long
@pytest.mark.usefixtures("surroundings")
def test_many_killed_runs_are_completed(tmp_path: Path) -> None:
    rounds(tmp_path, 40, seed=random.randrange(1_000_000))
