"""Prints the OpenAPI document of the HTTP interface, without a server: `python -m codefathom.server`."""

from __future__ import annotations

import json
import sys
from tempfile import TemporaryDirectory

from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig


def document() -> str:
    """Return the OpenAPI document as JSON."""
    with TemporaryDirectory() as folder:
        described = create_app(ServerConfig(data_dir=folder, allowed_roots=())).openapi()
    return json.dumps(described, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
