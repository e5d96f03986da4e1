"""Shards in a bucket of S3, or of a service that speaks like one; needs the extra `s3`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from codefathom.errors import IndexingError, SettingsError
from codefathom.facts.reasons import SHARD_FILE_MISSING, Note
from codefathom.fleet.shard_parts import RECORD, ShardPart, digest_of, part_file
from codefathom.fleet.shard_store import MOST_RECORD_BYTES, damaged, new_shard, read_record, record_of, write_part
from codefathom.fleet.shards import BuiltShard
from codefathom.stores.folder import Folder
from codefathom.stores.write_errors import writing_error
from codefathom.system.extras import install_line

_PIECE = 1 << 20
_TRIED_S = 30.0  # for one request, with its repetitions


class ObjectStore:
    """Shards as objects below a prefix: `NAME/DIGEST/FILE`, and last `NAME/shard.signed`.

    The digest is that of all files, so two machines that make one shard at the same time mix none of theirs.
    """

    def __init__(self, url: str, key: bytes) -> None:
        """Keys, region and endpoint come from the environment, as the tools of the service read them.

        Raises SettingsError.
        """
        try:
            import obstore
            import obstore.exceptions
            import obstore.store
        except ModuleNotFoundError as error:
            raise SettingsError(
                f"search.fleet_store = {url!r} needs the library {error.name!r}, which is not installed",
                hint=install_line("s3"),
            ) from error
        self._obstore, self._url, self._key = obstore, url, key
        self._missing = obstore.exceptions.NotFoundError, FileNotFoundError
        self._taken = obstore.exceptions.AlreadyExistsError
        self._failed = obstore.exceptions.BaseError
        with self._store_errors("open"):
            self._store = obstore.store.from_url(
                url,
                retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=_TRIED_S)},
            )

    def names(self) -> set[str]:
        """See `ShardStore`."""
        ending = f"/{RECORD}"
        with self._store_errors("list"):
            pages = self._obstore.list(self._store)
            return {
                meta["path"].removesuffix(ending) for page in pages for meta in page if meta["path"].endswith(ending)
            }

    def find(self, name: str) -> BuiltShard | None:
        """See `ShardStore`."""
        with self._store_errors("read"):
            try:
                reply = self._obstore.get(self._store, f"{name}/{RECORD}")
            except self._missing:
                return None
            if reply.meta["size"] > MOST_RECORD_BYTES:
                return None
            return read_record(bytes(reply.bytes()), name, self._key)

    def put(self, built: BuiltShard, source: Folder) -> BuiltShard:
        """See `ShardStore`."""
        name = built.shard.folder
        if earlier := self.find(name):
            return earlier
        files, record = _files(name, built.parts), record_of(built, self._key)
        with self._store_errors("write"):
            for part in built.parts:
                with part_file(source, part.name).open() as stream:
                    self._obstore.put(self._store, f"{files}/{part.name}", stream)
            try:
                self._obstore.put(self._store, f"{name}/{RECORD}", record, mode="create")
            except self._taken:
                if faster := self.find(name):  # whoever was faster stays: it may be read already
                    if _files(name, faster.parts) != files:
                        self._remove_below(files)
                    return faster
                self._obstore.put(self._store, f"{name}/{RECORD}", record)
        return built

    def bring(self, name: str, parts: Collection[ShardPart], target: Folder) -> None:
        """See `ShardStore`."""
        try:
            with self._store_errors("read"), new_shard(target, name) as folder:
                files = _files(name, parts)
                for part in parts:
                    write_part(folder, name, part, self._pieces(name, files, part))
        except OSError as error:
            raise writing_error("cannot keep a shard", target, error) from error

    def _pieces(self, name: str, files: str, part: ShardPart) -> Iterator[bytes]:
        try:
            reply = self._obstore.get(self._store, f"{files}/{part.name}")
        except self._missing as error:
            raise damaged(name, Note(SHARD_FILE_MISSING, {"path": part.name})) from error
        yield from map(bytes, reply.stream(min_chunk_size=_PIECE))

    def remove(self, name: str) -> None:
        """See `ShardStore`."""
        with self._store_errors("write"):
            self._remove_below(name)

    def _remove_below(self, prefix: str) -> None:
        pages = list(self._obstore.list(self._store, prefix=prefix))
        paths = [meta["path"] for page in pages for meta in page]
        for path in sorted(paths, key=lambda path: not path.endswith(RECORD)):  # without a record there is no shard
            self._obstore.delete(self._store, path)

    @contextmanager
    def _store_errors(self, action: str) -> Iterator[Any]:
        try:
            yield
        except self._failed as error:
            first = str(error).strip().partition("\n")[0].partition(": <?xml")[0]
            raise IndexingError(
                f"cannot {action} the store of shards {self._url!r}: {first}",
                hint="see that the bucket is there, and that AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and "
                "AWS_ENDPOINT_URL are set on each machine as it needs them",
            ) from error


def _files(name: str, parts: Collection[ShardPart]) -> str:
    return f"{name}/{digest_of(parts)}"
