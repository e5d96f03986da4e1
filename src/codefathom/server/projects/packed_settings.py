"""Settings on the way to a process of the searches, which reads them only where it opens an index."""

from __future__ import annotations

import pickle
from typing import NamedTuple

from codefathom.config.settings import Settings


class PackedSettings(NamedTuple):
    """Settings as bytes: those of a project are made once, and sent with each of its questions."""

    pickled: bytes

    def read(self) -> Settings:
        """Return the settings."""
        settings: Settings = pickle.loads(self.pickled)
        return settings


def packed(settings: Settings) -> PackedSettings:
    """Return settings as bytes."""
    return PackedSettings(pickle.dumps(sendable(settings), protocol=pickle.HIGHEST_PROTOCOL))


def sendable(settings: Settings) -> Settings:
    """Return settings without their origin, which cannot be pickled, and is of no use elsewhere."""
    return settings._replace(origins={}, refused={})
