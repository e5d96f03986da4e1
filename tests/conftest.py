"""Settings of the tools that all tests share."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from semble_grammars.cache import cache_dir
from tests.git_over_http import address, remote  # noqa: F401  fixtures

# No test depends on how fast the machine is.
settings.register_profile("codefathom", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("codefathom")

# `nohup make test &` in a script ignores SIGINT, and each process that a test starts would inherit that. The program
# itself respects it, as every program should; its tests interrupt it, and so they must not pass it on.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup() -> None:
    """Take away the callback by which hypothesis times collections of garbage: no test here has a deadline.

    A text nested a hundred thousand deep is read up to the limit of recursion. A collection that begins there calls the
    callback, which cannot run, and pytest fails the test for it.
    """
    gc.callbacks[:] = [
        call for call in gc.callbacks if not (getattr(call, "__module__", None) or "").startswith("hypothesis.")
    ]


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is remembered of indexes out of the folders of whoever runs the tests.

    Grammars stay where they are for all users of tests: to take those of the shop out of their archive needs half a
    second of a processor, and each user with a cache of its own would.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(cache_dir()))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))  # where servers take sessions
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates_once() -> Iterator[None]:
    """Read the certificates of authorities once, not for each client of a server: a twentieth of a second each time."""
    transport = httpx._transports.default
    make = httpx.create_ssl_context

    @cache
    def kept(trust_env: bool, *_places: str | None) -> Any:
        return make(trust_env=trust_env)

    def context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> Any:
        if verify is not True or cert is not None:
            return make(verify=verify, cert=cert, trust_env=trust_env)
        return kept(trust_env, *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "create_ssl_context", context)
        yield


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """A server in this process logs to the stderr of its test, which is closed when the next one runs."""
    loggers = [logging.getLogger(name) for name in ("codefathom", "uvicorn")]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, (handlers, level, propagates) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagates
        logger.setLevel(level)
