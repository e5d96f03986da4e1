"""What the gateway of a fleet and the actors of a cluster send each other. Both run the same code."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from codefathom.errors import FathomError
from codefathom.facts.reasons import Note
from codefathom.fleet.manifest import Manifest, Repository, Shard
from codefathom.fleet.shard_parts import ShardPart
from codefathom.fleet.shard_store import StoreAddress


class VectorsPart(NamedTuple):
    """The vectors of one model in a shard."""

    folder: str  # below that of the shard
    dimensions: int


@dataclass(frozen=True, slots=True)
class ShardCall:
    """One look into one shard: a method of its catalogue, or of its vectors, with its arguments."""

    slot: int
    method: str
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    vectors: VectorsPart | None = None  # None: the catalogue


@dataclass(frozen=True, slots=True)
class ShardReply:
    """What came of a call."""

    value: Any = None
    error: FathomError | None = None
    problem: Note | None = None  # why the shard cannot be asked at all
    away: Note | None = None  # why it cannot be asked now


class ShardList(NamedTuple):
    """The shards of one generation of a fleet, as its manifest lists them: all that opening them needs."""

    root: str  # of the fleet
    identity: str
    generation: int
    listed: tuple[Shard, ...]
    files: Mapping[int, Sequence[ShardPart]]  # by slot
    store: StoreAddress | None = None  # where they are found; None: in the folder of the fleet, which all machines see

    @classmethod
    def of(cls, manifest: Manifest, store: StoreAddress | None) -> ShardList:
        """Return the list of a manifest, with the shards that it does not show: an actor opens each for all who ask.

        Who sees a part of the fleet asks for the shards of this part alone.
        """
        shards = tuple(manifest.all_shards())
        return cls(manifest.root, manifest.fleet_identity, manifest.generation, shards, manifest.all_parts(), store)

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells this list from others."""
        return f"{self.root} {self.store.address if self.store else ''}", self.identity, self.generation

    def folder_of(self, slot: int) -> str:
        """Return the name of the folder of a shard, which says what it holds."""
        return next(shard.folder for shard in self.listed if shard.slot == slot)

    @property
    def sight(self) -> None:
        """None: all that is listed."""

    def shards(self) -> list[Shard]:
        """Return the shards, by slot."""
        return list(self.listed)

    def parts(self) -> Mapping[int, Sequence[ShardPart]]:
        """Return the files of the shards by slot, as they were written."""
        return self.files

    def repositories(self) -> list[Repository]:
        """Return nothing: whoever opens shards need not know what is in them."""
        return []

    def names_of(self, slot: int) -> bytes:
        """Return nothing: names are looked up by the gateway."""
        return b""


LOOKS = "looks"  # the method that opens a shard and counts the looks into it


class LookCount(NamedTuple):
    """The looks into a shard since its actor began."""

    n_calls: int
    seconds: float


class ShardState(NamedTuple):
    """Who can be asked for a shard, and what they were asked."""

    n_holders: int
    n_answering: int
    n_calls: int  # looks into it, by the holders that answered
    seconds: float


@dataclass(frozen=True, slots=True)
class ShardMessage:
    """Calls of one question to one actor."""

    fleet: tuple[str, str, int]  # the key of its list
    calls: tuple[ShardCall, ...]
    shards: ShardList | None = None  # where the actor has said that it does not know the list


class ListNeeded(NamedTuple):
    """An actor that has just begun, or a fleet that has just been switched: the list of shards has to be sent."""


def plain(value: Any) -> Any:
    """Return a value that can be sent: what can only be walked through becomes a list."""
    return list(cast(Iterable[Any], value)) if isinstance(value, Iterator | MappingView) else value


def packed(value: object) -> bytes:
    """Return a value as it is sent."""
    stream = BytesIO()
    pickler = pickle.Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _REDUCED
    pickler.dump(value)
    return stream.getvalue()


def _frozen(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _reduced(mapping: MappingProxyType[Any, Any]) -> tuple[Callable[[dict[Any, Any]], Any], tuple[dict[Any, Any]]]:
    return _frozen, (dict(mapping),)


# Settings have some of these.
_REDUCED: dict[type, Callable[[Any], Any]] = {**copyreg.dispatch_table, MappingProxyType: _reduced}
