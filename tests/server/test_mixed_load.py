"""The trial of a server under mixed load, in its short form; the long one is `python -m evals.trials.served`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from evals.trials.served import ServedLoad

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")


def test_a_server_lives_while_clients_of_all_kinds_come_and_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    for name in ("FATHOM_CACHE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    load = ServedLoad(tmp_path, seed=1)
    load.run(4, n_calls=60)
    assert load.errors == []
    assert sum(load.done.values()) == 60
