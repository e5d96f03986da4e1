"""The OpenAPI document of the HTTP interface, without a server."""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory

from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig


def openapi_document() -> str:
    """Return the document as JSON: that of `/openapi.json`."""
    with TemporaryDirectory() as folder:
        described = create_app(ServerConfig(data_dir=folder, allowed_roots=())).openapi()
    return json.dumps(described, ensure_ascii=False, indent=1) + "\n"
