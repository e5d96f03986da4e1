"""TLS by the server itself: connections, limits, and files that cannot be used."""

from __future__ import annotations

import json
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.proxies import certificate, program
from tests.waiting import LONG_S

from codefathom.errors import SettingsError
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig, TlsFiles
from codefathom.server.tls import tls_context

from .conftest import serving


def test_requests_and_events_are_encrypted(config: ServerConfig, tmp_path: Path, shop: Path) -> None:
    pem, key = certificate(tmp_path)
    config = replace(config, tls=TlsFiles(str(pem), str(key)))
    with serving(create_app(config)) as address:
        secure = address.replace("http://", "https://")
        trusted = ssl.create_default_context(cafile=str(pem))
        with httpx.Client(base_url=secure, verify=trusted, timeout=LONG_S) as client:
            assert client.get("/health").status_code == 200
            assert client.get("/version/").headers["location"] == f"{secure}/version"
            project = client.post("/projects", json={"path": str(shop)}).raise_for_status().json()["id"]
            with client.stream("POST", f"/projects/{project}/index") as answer:
                events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]
            assert events[-1]["type"] == "done"
        with pytest.raises(httpx.TransportError):  # not in the clear
            httpx.get(f"{address}/health", timeout=LONG_S)
        with pytest.raises(httpx.ConnectError, match=r"(?i)certificate"):  # the certificate is really looked at
            httpx.get(f"{secure}/health", timeout=LONG_S)


def _no_key(folder: Path) -> tuple[Path | str, Path | str]:
    return certificate(folder)[0], ""


def _no_certificate(folder: Path) -> tuple[Path | str, Path | str]:
    return "", certificate(folder)[1]


def _missing(folder: Path) -> tuple[Path | str, Path | str]:
    return folder / "gone.pem", certificate(folder)[1]


def _folder(folder: Path) -> tuple[Path | str, Path | str]:
    return certificate(folder)[0], folder


def _of_another(folder: Path) -> tuple[Path | str, Path | str]:
    return certificate(folder)[0], certificate(folder, "other")[1]


def _exchanged(folder: Path) -> tuple[Path | str, Path | str]:
    pem, key = certificate(folder)
    return key, pem


def _no_pem(folder: Path) -> tuple[Path | str, Path | str]:
    pem, _ = certificate(folder)
    (folder / "odd.key").write_text("SECRET-OF-THE-KEY")
    return pem, folder / "odd.key"


def _with_password(folder: Path) -> tuple[Path | str, Path | str]:
    pem, key = certificate(folder)
    words = ["pkey", "-in", str(key), "-aes128", "-passout", "pass:x", "-out", str(folder / "locked.key")]
    subprocess.run([program("openssl"), *words], check=True, capture_output=True, timeout=LONG_S)
    return pem, folder / "locked.key"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (_no_key, "server.tls_certificate is set without server.tls_key"),
        (_no_certificate, "server.tls_key is set without server.tls_certificate"),
        (_missing, "gone.pem"),
        (_folder, "server.tls_key: cannot read"),
        (_of_another, "does not belong to the certificate"),
        (_exchanged, "server.tls_certificate: there is no usable certificate"),
        (_no_pem, "server.tls_key: there is no usable private key"),
        (_with_password, "locked.key"),
    ],
)
def test_files_that_cannot_be_used_are_named(
    files: Callable[[Path], tuple[Path | str, Path | str]], said: str, tmp_path: Path
) -> None:
    pem, key = map(str, files(tmp_path))
    with pytest.raises(SettingsError) as raised:
        tls_context(TlsFiles(pem, key))
    shown = f"{raised.value} {raised.value.hint}"
    assert said in shown
    assert raised.value.hint
    for path in tmp_path.glob("*.key"):  # nothing of a key is shown
        assert not [line for line in path.read_text().splitlines() if "-----" not in line and line in shown]
