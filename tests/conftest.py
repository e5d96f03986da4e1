"""Settings of the tools that all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No test depends on how fast the machine is.
settings.register_profile("codefathom", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("codefathom")


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is remembered of indexes out of the folders of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
