"""Caddy and nginx in front of a server, with the files of `deploy/` as they are published."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import pytest
from tests.waiting import LONG_S, Started, comes

DEPLOY = Path(__file__).parents[1] / "deploy"
PROXIES = ("caddy", "nginx")
_NGINX = """\
{user}
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/fathom.conf;
}}
"""


def program(name: str) -> str:
    """Return the path of a program; skip the test where it is missing, and fail it where everything must be there."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if path is None:
        problem = f"{name} is not installed: apt-get install {name}"
        if os.environ.get("CI") and not os.environ.get("TESTS_WITHOUT_PROXIES"):
            pytest.fail(problem)
        pytest.skip(problem)
    return path


def certificate(folder: Path, name: str = "server") -> tuple[Path, Path]:
    """Make a certificate for localhost that nobody has signed, and its key."""
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-out", str(paths[0]), "-keyout", str(paths[1])]
    subprocess.run([program("openssl"), *words, *names, *files], check=True, capture_output=True, timeout=LONG_S)
    return paths


@contextmanager
def proxy(name: str, upstream: str, folder: Path) -> Iterator[str]:
    """Run a proxy before the server at `upstream`; yield the address of the server behind it."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    start = {"caddy": _caddy, "nginx": _nginx}[name]
    with open(folder / "log", "wb") as log, start(port, urlsplit(upstream).netloc, folder, log) as process:
        try:
            assert comes(lambda: process.poll() is not None or _listens(port))
            assert process.poll() is None, (folder / "log").read_text()
            yield f"{'https' if name == 'nginx' else 'http'}://127.0.0.1:{port}/code"
        finally:
            process.terminate()


def _caddy(port: int, upstream: str, folder: Path, log: IO[bytes]) -> Started[bytes]:
    main = folder / "Caddyfile"
    main.write_text(f"{{\n\tadmin off\n}}\nimport {DEPLOY / 'Caddyfile'}\n", encoding="utf-8")
    variables = {"FATHOM_SITE": f"http://127.0.0.1:{port}", "FATHOM_UPSTREAM": upstream, "HOME": str(folder)}
    words = [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(main)]
    return Started(words, env={**os.environ, **variables, "XDG_DATA_HOME": str(folder)}, stdout=log, stderr=log)


def _nginx(port: int, upstream: str, folder: Path, log: IO[bytes]) -> Started[bytes]:
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    pem, key = certificate(folder)
    for written, here in (
        ("127.0.0.1:8900", upstream),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/certs/code.example.org.pem", str(pem)),
        ("/etc/ssl/private/code.example.org.key", str(key)),
    ):
        assert written in text
        text = text.replace(written, here)
    (folder / "fathom.conf").write_text(text, encoding="utf-8")
    user = "user root;" if os.geteuid() == 0 else ""
    main = folder / "nginx.conf"
    main.write_text(_NGINX.format(user=user, folder=folder), encoding="utf-8")
    return Started([program("nginx"), "-p", str(folder), "-c", str(main)], stdout=log, stderr=log)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def settings_of(path: Path) -> dict[str, str]:
    """Return the settings of a file of variables, or of a unit of systemd."""
    text = path.read_text(encoding="utf-8")
    return dict(re.findall(r"(?m)(?:^|[ =])(FATHOM_\w+)=(\S*)", text))
