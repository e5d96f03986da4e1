"""What asks whether the server is there, over a real socket."""

from __future__ import annotations

import httpx

from codefathom import __version__


def test_health_and_version_answer_under_both_addresses(server: httpx.Client) -> None:
    for prefix in ("", "/api"):
        assert server.get(f"{prefix}/health").json() == {"status": "ok", "version": __version__, "degraded": []}
        ready = {"status": "ready", "n_shards": 0, "unanswered": [], "n_unanswered": 0, "n_unreadable": 0}
        assert server.get(f"{prefix}/readyz").json() == ready
        assert server.get(f"{prefix}/version").json() == {"name": "codefathom", "version": __version__}
