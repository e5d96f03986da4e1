"""Settings of the tools that all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# No test depends on how fast the machine is.
settings.register_profile("codefathom", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("codefathom")
