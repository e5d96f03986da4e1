"""Optional parts of the product: each is an extra of the package, which brings the libraries that it needs.

`fathom doctor` lists them. Nothing here imports a library; the adapters do, when they are used.
"""

from __future__ import annotations

import importlib.util
from typing import NamedTuple

from codefathom.facts.languages import EXTRACTIONS


class Extra(NamedTuple):
    """A group of optional libraries."""

    gives: str  # for a user
    modules: tuple[str, ...]  # as they are imported

    def missing(self) -> list[str]:
        """Return the modules that are not installed."""
        return [module for module in self.modules if importlib.util.find_spec(module) is None]


_READERS = tuple(how.library for how in EXTRACTIONS.values() if how.library)
EXTRAS = {
    "tokens": Extra("exact counts of tokens instead of estimates", ("quicktok", "tokenizers")),
    "web": Extra("HTML pages as documents (`fathom ask --url`)", ("html_to_markdown",)),
    "documents": Extra(
        "PDF and Word files as documents of a project",
        _READERS,
    ),
    "keyring": Extra("keys of providers from the keyring of this system", ("keyring",)),
    "onnx": Extra("embedding and reranking models from a folder on this disk", ("onnxruntime", "tokenizers")),
    "faiss": Extra("vectors in FAISS (`store.vectors = faiss`)", ("faiss",)),
    "duckdb": Extra("vectors in DuckDB (`store.vectors = duckdb`)", ("duckdb",)),
    "qdrant": Extra("vectors in Qdrant (`store.vectors = qdrant`)", ("qdrant_client",)),
    "postgres": Extra("vectors in PostgreSQL with pgvector (`store.vectors = postgres`)", ("psycopg",)),
    "team": Extra("signed snapshots of an index (`fathom export --snapshot`, `team.keys`)", ("cryptography",)),
    "watch": Extra("changed files are noticed at once (`fathom index --watch`)", ("watchfiles",)),
    "server": Extra("the web page and the HTTP API (`fathom serve`)", ("fastapi", "h11", "uvicorn")),
    "mcp": Extra("tools for coding agents over HTTP (`fathom serve` at /mcp)", ("mcp", "mcp_types")),
    "oidc": Extra("people sign in with OpenID Connect (`server.oidc_issuer`)", ("cryptography", "jwt")),
    "lsp": Extra("answers for editors (`fathom lsp`)", ("lsprotocol", "pygls")),
    "cluster": Extra("shards of fleets on the machines of a Ray cluster (`--cluster`)", ("ray",)),
    "s3": Extra("shards of fleets in a bucket of S3 (`search.fleet_store`)", ("obstore",)),
    "telemetry": Extra("spans of the server for OpenTelemetry", ("opentelemetry",)),
}


def install_line(name: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'codefathom[{name}]'"
