"""A server that speaks S3, from moto, on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest


class S3Server:
    """Buckets in memory."""

    def __init__(self, endpoint: str) -> None:
        import boto3

        self.variables: Mapping[str, str] = {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ALLOW_HTTP": "true",
        }
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
        self._client: Any = boto3.client("s3", endpoint_url=endpoint, **keys)

    def new_bucket(self) -> str:
        """Make a bucket, and return its name."""
        bucket = f"shards-{os.urandom(4).hex()}"
        self._client.create_bucket(Bucket=bucket)
        return bucket

    def names(self, bucket: str) -> list[str]:
        """Return the names of all objects of a bucket, 1,000 at most."""
        return [item["Key"] for item in self._client.list_objects_v2(Bucket=bucket).get("Contents", [])]

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
    moto = pytest.importorskip("moto.server", reason="pip install 'moto[s3,server]'")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield S3Server(f"http://{host}:{port}")
    finally:
        server.stop()
