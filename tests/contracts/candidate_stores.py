"""The contract of stores of other makers, with a second process that searches while the first one writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from tests.waiting import Started

from codefathom.stores.base import Row
from codefathom.testing import CandidateStoreContract

_READER = """
import importlib, sys
from pathlib import Path
contract = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
view = contract.open(Path(sys.argv[3]))
query = bytes([127] * contract.dimensions)
print(view.generation, len(view.nearest(query, 10_000)), flush=True)
import threading
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
is_last = False
while not is_last:
    is_last = ended.is_set()
    view.reload()
    assert not view.problem, view.problem
    n_rows = len(view.nearest(query, 10_000))
    assert n_rows >= 400, n_rows
print(view.generation, n_rows, flush=True)
"""


class StoreContract(CandidateStoreContract):
    """All that a store of other makers is tried for."""

    def test_other_processes_search_during_and_after_a_commit(self, tmp_path: Path) -> None:
        """Each answer of a reader that never stops is whole: no error, no row lost, and at last the new ones."""
        writer = self.open(tmp_path)
        random = Random(31)
        rows = {key: self._vector(random) for key in range(400)}
        writer.upsert(Row(*item) for item in rows.items())
        writer.commit(1)
        with Started(
            [sys.executable, "-c", _READER, type(self).__module__, type(self).__name__, str(tmp_path)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))},
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
        ) as reader:
            assert reader.stdout is not None and reader.stdin is not None
            assert reader.stdout.readline() == "1 400\n"
            for generation in range(2, 6):
                more = {1_000 * generation + key: self._vector(random) for key in range(50)}
                rows.update(more)
                writer.upsert(Row(*item) for item in more.items())
                writer.commit(generation)
            reader.stdin.close()
            said = reader.stdout.read().splitlines()
            assert reader.wait() == 0
        assert said[-1] == f"5 {len(rows)}"
        writer.close()
