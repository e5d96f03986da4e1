"""Events of a streamed reply: one JSON object each. Anything else becomes an error that quotes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from codefathom.errors import ProviderError
from codefathom.text.foreign_json import read_json

# The errors raised when an event is read whose shape does not follow the protocol.
WRONG_SHAPE = (AttributeError, TypeError, ValueError, KeyError, OverflowError)


class Events(NamedTuple):
    """Reads the events of one model."""

    name: str  # of the model
    sayable: Callable[[str], str]  # takes keys and control characters out of a text of the server
    hint: str = ""  # the remedy when the server reports an error

    def read(self, data: str) -> Mapping[str, Any]:
        """Return the event in a text. Raises ProviderError if it is not an event, or reports an error."""
        try:
            event = read_json(data)
        except ValueError as error:
            raise self.wrong(data, "something that is not JSON") from error
        if not isinstance(event, Mapping):
            raise self.wrong(data)
        if event.get("error"):
            raise ProviderError(f"{self.name} failed: {self.sayable(_words(event['error']))}", hint=self.hint)
        return event

    def wrong(self, data: str, what: str = "something that is not an event") -> ProviderError:
        """Return the error for a text that a server sent instead of an event."""
        return ProviderError(f"{self.name} sent {what}: {self.sayable(data)!r}", hint="ask again")

    def broken_off(self) -> ProviderError:
        """Return the error for a stream that ended before its reply."""
        return ProviderError(f"{self.name} broke off in the middle of a reply", hint="ask again")


def plain(value: object) -> str:
    """Return a text of an event; "" for anything else that stands in its place."""
    return value if isinstance(value, str) else ""


def _words(error: object) -> str:
    """Return the message of an error, without the object around it."""
    return str((error.get("message") if isinstance(error, Mapping) else "") or error)
