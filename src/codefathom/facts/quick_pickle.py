"""Values that go from process to process quickly. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self


class QuickPickle:
    """The base of a frozen dataclass that is pickled as its type and its fields.

    Python's own way asks each value for the list of its fields, which takes several times as long (Python 3.11).
    """

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        """Return what makes an equal value."""
        return type(self), tuple([getattr(self, name) for name in self.__match_args__])
