"""What asks whether the server is there, over a real socket."""

from __future__ import annotations

import httpx

from codefathom import __version__


def test_health_and_version_answer_under_both_addresses(server: httpx.Client) -> None:
    for prefix in ("", "/api"):
        assert server.get(f"{prefix}/health").json() == {"status": "ok", "version": __version__, "degraded": []}
        assert server.get(f"{prefix}/version").json() == {"name": "codefathom", "version": __version__}
