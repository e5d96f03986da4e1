"""The trial of a team in its short form; the long one is `make trial-team`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evals.trials.team import ROLES, TeamPlay, readers
from evals.trials.team_site import team_site
from tests.server.test_real_provider import node_path


def test_a_team_signs_in_asks_shares_and_is_looked_after(chromium: Any, tmp_path: Path) -> None:
    with team_site(tmp_path.resolve(), node_path(), ROLES) as site:
        TeamPlay(site, chromium, readers(3)).run()
