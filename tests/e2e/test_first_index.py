"""What a first index writes: each byte a few times, and nothing into the cache that is made as fast as it is read."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.stores.cache import Cache
from codefathom.stores.folder import folder_at

# The system counts the bytes of a process; what others do at the same time is not in it.
INDEX = """
import sys
from codefathom import Engine
with Engine.open(sys.argv[1]) as engine:
    engine.index()
with open("/proc/self/io") as file:
    print(dict(line.split(": ") for line in file)["wchar"])
"""


def make(root: Path, n_files: int) -> None:
    words = random.Random(7)
    for number in range(n_files):
        names = [[f"{words.getrandbits(40):x}" for _ in range(3)] for _ in range(30)]
        parts = [
            f"def load_{one}(path, value):\n    first = read_{two}(path)\n    return first + find_{three}(value)\n\n\n"
            for one, two, three in names
        ]
        path = root / f"pack{number % 9}" / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(parts))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    root = tmp_path / "project"
    make(root, 20)
    (root / "fathom.toml").write_text("[index]\nworkers = 0\n")
    return root


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process has written")
def test_a_first_index_writes_each_byte_few_times(root: Path) -> None:
    make(root, 600)
    command = [sys.executable, "-c", INDEX, str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONG_S)
    n_kept = sum(path.stat().st_size for path in (root / ".fathom").rglob("*") if path.is_file())
    # The log, its place in the file, and the cache of what was parsed, whose texts are not packed.
    assert int(done.stdout) < 3.9 * n_kept


def test_vectors_of_the_bundled_model_are_stored_in_their_view_only(root: Path, tmp_path: Path) -> None:
    with Engine.open(str(root)) as engine:
        engine.index()
        model, catalog = engine.status().model, engine.opened.catalog
        hashes = [text_hash for _, _, text_hash in catalog.changes(0).added]
        assert len(list(catalog.vectors(model))) > 20
        assert catalog.vectors_of(model, hashes) == {}
    cache = Cache.open(folder_at(str(tmp_path / "cache")))
    assert cache.get_vectors(model, hashes) == {}
    cache.close()
