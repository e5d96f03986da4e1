"""A server of git repositories over HTTP, by `git http-backend`: real git on both sides."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from tests.waiting import LONG_S


def git(folder: Path, *words: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *names, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env=os.environ | own,
        timeout=LONG_S,
        text=True,
    )
    return done.stdout.strip()


@dataclass
class Repositories:
    """Bare repositories below a folder, and who may read them."""

    folder: Path
    login: str = ""  # header "Authorization" that git has to send; "": everybody may read
    sent: list[str] = field(default_factory=list)  # headers that came
    said: bytes = b""  # lines that git shows while it fetches
    status: int = 0  # of all answers; 0: that of git
    held: bytes = b""  # requests with these bytes get no answer until it is `released`, such as command=fetch
    released: Event = field(default_factory=Event)

    def commit(self, path: str, **files: str) -> Path:
        """Write a commit of these Python files, in a repository that is made if it is new."""
        bare = self.make(path)
        work = self.folder.parent / f"{self.folder.name}-work" / path
        if not work.exists():
            work.parent.mkdir(parents=True, exist_ok=True)
            git(self.folder, "clone", "-q", str(bare), str(work))
        for name, text in files.items():
            (work / f"{name}.py").write_text(text)
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", "change")
        git(work, "push", "-q", "origin", "HEAD")
        return bare

    def make(self, path: str) -> Path:
        """Return a repository, which is made without a commit if it is new."""
        bare = self.folder / f"{path}.git"
        if not bare.exists():
            bare.mkdir(parents=True)
            git(bare, "init", "-q", "--bare")
            git(bare, "config", "uploadpack.allowFilter", "true")
            git(bare, "config", "http.receivepack", "false")
        return bare


class GitRequest(BaseHTTPRequestHandler):
    """One request of git."""

    repositories: Repositories

    def do_GET(self) -> None:
        self.by_git()

    def do_POST(self) -> None:
        self.by_git()

    def by_git(self) -> None:
        mine = self.repositories
        mine.sent.append(self.headers.get("Authorization", ""))
        body = self._body()
        if mine.held and mine.held in body:
            mine.released.wait(LONG_S)
        if mine.status:
            self.send_response(mine.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if mine.login and self.headers.get("Authorization") != mine.login:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        parts = urlsplit(self.path)
        variables = {
            "GIT_PROJECT_ROOT": str(mine.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            check=False,
            env=os.environ | variables,
            timeout=LONG_S,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        if mine.said:
            packet = f"{len(mine.said) + 5:04x}".encode() + b"\2" + mine.said
            content = content.replace(b"000dpackfile\n", b"000dpackfile\n" + packet, 1)
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(request: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve requests inside the block; give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), request)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(LONG_S)
        server.server_close()


@contextmanager
def serving_git(repositories: Repositories) -> Iterator[str]:
    """Serve repositories inside the block; give the address."""
    with serving(type("Request", (GitRequest,), {"repositories": repositories})) as address:
        yield address


def allow_http(folder: Path, monkeypatch: pytest.MonkeyPatch, *others: str) -> Path:
    """Let git reach servers of a test, and by other schemes; return the folder for the state of the user."""
    (folder / "own.toml").write_text(f"[server]\ngit_schemes = {json.dumps(['https', *others, 'http'])}\n")
    monkeypatch.setenv("FATHOM_CONFIG", str(folder / "own.toml"))
    monkeypatch.setenv("FATHOM_STATE_DIR", str(folder / "state"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    return folder / "state"


@pytest.fixture
def remote(tmp_path: Path) -> Repositories:
    """Repositories elsewhere, none at first; `address` is that of their server."""
    folder = tmp_path / "remote"
    folder.mkdir()
    return Repositories(folder)


@pytest.fixture
def address(remote: Repositories) -> Iterator[str]:
    """A server of the repositories in `remote`."""
    with serving_git(remote) as url:
        yield url
