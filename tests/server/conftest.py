"""A real server on a free port, and a client of it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from tests.fathom import Child
from tests.waiting import LONG_S, join

from codefathom.engine import Engine
from codefathom.server.app import create_app
from codefathom.server.run import options_of
from codefathom.server.server_config import ServerConfig
from codefathom.system import children

SHOP = Path(__file__).parents[1] / "repos" / "shop"


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Run a server for the time of the block; yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(options_of(app, grace_s=5))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"  # connections wait until it accepts them
    finally:
        server.should_exit = True
        join(thread)
        listener.close()


@pytest.fixture(scope="module", autouse=True)
def forked_children() -> Iterator[None]:
    """What searches and indexes for a server begins as a fork, which has imported it: see tests/fathom.py."""
    as_always = {name: getattr(subprocess, name) for name in ("PIPE", "DEVNULL", "TimeoutExpired")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(children, "subprocess", SimpleNamespace(Popen=Child, **as_always))
        yield


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    return ServerConfig(data_dir=str(tmp_path / "data"), allowed_roots=(str(tmp_path.resolve()),))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small project that a test may change."""
    folder = tmp_path / "shop"
    shutil.copytree(SHOP, folder)
    (folder / "fathom.toml").touch()
    return folder


def files_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file of a project, without its index."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".fathom" not in path.parts)
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server with the indexed shop that the tests of a file share, since they only read: none changes anything."""
    folder = tmp_path_factory.mktemp("reading")
    project = folder / "shop"
    shutil.copytree(SHOP, project)
    (project / "fathom.toml").touch()
    config = ServerConfig(data_dir=str(folder / "data"), allowed_roots=(str(folder.resolve()),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        with Engine.open(str(project)) as engine:
            engine.index()
        with serving(create_app(config)) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            client.post("/projects", json={"path": str(project)}).raise_for_status()
            before = client.get("/projects").json(), files_in(project)
            yield client
            assert (client.get("/projects").json(), files_in(project)) == before


Serve = Callable[[ServerConfig], AbstractContextManager[httpx.Client]]


@pytest.fixture
def serve() -> Serve:
    """Start a server of its own for a test."""

    @contextmanager
    def start(config: ServerConfig) -> Iterator[httpx.Client]:
        with serving(create_app(config)) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
            yield client

    return start


@pytest.fixture
def server(config: ServerConfig, serve: Serve) -> Iterator[httpx.Client]:
    with serve(config) as client:
        yield client
