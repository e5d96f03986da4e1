"""A server that speaks S3: one of moto on this machine, or a service that is named in the environment.

With `FATHOM_TEST_S3=http://127.0.0.1:8080`, `FATHOM_TEST_S3_KEY` and `FATHOM_TEST_S3_SECRET` the tests make buckets at
a service, and leave them there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

_PAGE = 10  # names in an answer of moto; a service gives up to 1,000


class S3Server:
    """Its buckets."""

    def __init__(self, endpoint: str, key: str = "test", secret: str = "test") -> None:
        import boto3

        self.endpoint = endpoint
        self.is_service = key != "test"
        self.variables: Mapping[str, str] = {
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ALLOW_HTTP": "true",
        }
        keys = {"aws_access_key_id": key, "aws_secret_access_key": secret, "region_name": "us-east-1"}
        self._client: Any = boto3.client("s3", endpoint_url=endpoint, **keys)

    def new_bucket(self) -> str:
        """Make a bucket, and return its name."""
        bucket = f"shards-{os.urandom(4).hex()}"
        self._client.create_bucket(Bucket=bucket)
        return bucket

    def names(self, bucket: str) -> list[str]:
        """Return the names of all objects of a bucket."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def put(self, bucket: str, name: str, content: bytes) -> None:
        """Write an object."""
        self._client.put_object(Bucket=bucket, Key=name, Body=content)

    def delete(self, bucket: str, name: str) -> None:
        """Remove an object."""
        self._client.delete_object(Bucket=bucket, Key=name)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server during the block. Skips the test where moto or obstore is not installed."""
    pytest.importorskip("obstore", reason="pip install 'codefathom[s3]'")
    if address := os.environ.get("FATHOM_TEST_S3"):
        yield S3Server(address, os.environ["FATHOM_TEST_S3_KEY"], os.environ["FATHOM_TEST_S3_SECRET"])
        return
    moto = pytest.importorskip("moto.server", reason="pip install 'moto[s3,server]'")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    pages = pytest.MonkeyPatch()
    pages.setenv("MOTO_S3_DEFAULT_MAX_KEYS", str(_PAGE))
    try:
        host, port = server.get_host_and_port()
        yield S3Server(f"http://{host}:{port}")
    finally:
        pages.undo()
        server.stop()
