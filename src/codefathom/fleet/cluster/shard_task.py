"""A task of a machine of a cluster: it makes one shard on its own disk, with the code that does so on one machine, and
puts it into the store.

What it needs comes with it. It leaves nothing on the machine, and nobody sees what a killed one has begun.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import TypeAlias

from codefathom.config.settings import Settings
from codefathom.errors import FathomError, SourceError
from codefathom.fleet.cluster.code_word import code_word
from codefathom.fleet.cluster.shard_calls import packed
from codefathom.fleet.fleet_place import place_of_fleet
from codefathom.fleet.shard_store import StoreAddress
from codefathom.fleet.shard_stores import open_store
from codefathom.fleet.shards import SHARDS, BuiltShard, ShardOrder, build, folder_name
from codefathom.project.location import locate, user_cache_dir
from codefathom.source.revisions.git_tree import GitTree
from codefathom.source.scan import FileTree
from codefathom.stores.folder import Folder

_DESKS = "fleet-tasks"  # below the caches of the user of Ray


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A shard that is to be made on another machine."""

    order: ShardOrder
    fleet: str  # its name
    settings: Settings
    store: StoreAddress


@dataclass(frozen=True, slots=True)
class UnseenFile:
    """What a machine does not see, or sees as another file than whoever wants the shard."""

    path: str


@dataclass(frozen=True, slots=True)
class NoText:
    """There is no text in the files of a shard."""


TaskOutcome: TypeAlias = BuiltShard | NoText | UnseenFile | FathomError


def make_shard(word: str, message: bytes) -> bytes:
    """Return the packed outcome of a packed task; to whoever runs other code, the word of this one."""
    if word != code_word():
        return code_word().encode()  # plain, as `ShardActor.ask` says it
    try:
        return packed(_outcome(pickle.loads(message)))
    except FathomError as error:
        return packed(error)


def _outcome(task: ShardTask) -> TaskOutcome:
    if task.store.is_folder and not os.path.isdir(task.store.address):
        return UnseenFile(task.store.address)
    if unseen := _unseen(task.order):
        return UnseenFile(unseen)
    with _desk() as folder:
        place = place_of_fleet(locate(folder, task.settings, is_root=True), task.fleet)
        place = replace(place, state_dir=os.path.join(folder, "state"))
        store = open_store(task.store)
        # A task that was started again may have ended the first time.
        if earlier := store.find(folder_name(task.order, place)):
            return earlier
        shards = Folder(place.root).below(SHARDS)
        if task.order.before is not None:
            shards.make()
            store.bring(task.order.before.folder, task.order.parts, shards)
        built = build(task.order, place, lambda _: None)
        return NoText() if built is None else store.put(built, shards.below(built.shard.folder))


def _unseen(order: ShardOrder) -> str:
    """Return the path of a file that this machine does not see as it was listed, "" for none."""
    for file, _ in order.files:
        name, _, own = file.path.partition("/")
        tree = order.trees[name]
        try:
            status = tree.stat(own)
        except (OSError, SourceError):
            status = None
        if status is None or (status.size, status.mtime_ns) != (file.size, file.mtime_ns):
            return os.path.join(_folder_of(tree), own)
    return ""


def _folder_of(tree: FileTree) -> str:
    return tree.folder if isinstance(tree, GitTree) else getattr(tree, "root", "")


@contextmanager
def _desk() -> Iterator[str]:
    """Make a folder for one task; those of tasks that were killed on this machine go first."""
    above = os.path.join(user_cache_dir(), _DESKS)
    os.makedirs(above, mode=0o700, exist_ok=True)
    host = os.uname().nodename
    for name in os.listdir(above):
        own_host, _, rest = name.rpartition("=")
        if own_host == host and not _runs(rest.partition("-")[0]):
            shutil.rmtree(os.path.join(above, name), ignore_errors=True)
    with TemporaryDirectory(prefix=f"{host}={os.getpid()}-", dir=above, ignore_cleanup_errors=True) as folder:
        yield os.path.realpath(folder)


def _runs(process: str) -> bool:
    with suppress(ProcessLookupError, ValueError):
        try:
            os.kill(int(process), 0)
        except PermissionError:
            return True
        return True
    return False
