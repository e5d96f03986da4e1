"""The JSON in the text of a model: bare, fenced, between sentences, cut off, or with a comma too many. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_OBJECT, _OBJECT_OR_LIST = re.compile(r"\{"), re.compile(r"[{\[]")
_COMMA_TOO_MANY = re.compile(r",(\s*[}\]])")
# A reply of nothing but brackets would be tried from each of them.
_MAX_FAILURES = 1_000


def items(text: str, key: str, sign: str) -> list[Any] | None:
    """Return the list under `key`, None if the text holds no such list.

    A list without the object around it counts too, and so do single objects with the key `sign`, such as the remains of
    a reply that was cut off. Of several lists the last one counts: earlier ones were thoughts of the model.
    """
    values = list(values_in(text)) or list(values_in(_COMMA_TOO_MANY.sub(r"\1", text)))
    objects = [value for value in values if isinstance(value, Mapping)]
    under_key: list[list[Any]] = [value[key] for value in objects if isinstance(value.get(key), list)]
    if under_key:
        return under_key[-1]
    bare: list[list[Any]] = [value for value in values if isinstance(value, list) and _all_like(value, sign)]
    single = [value for value in objects if sign in value]
    # An empty list may be no reply at all: code in a sentence has such brackets.
    return next((entries for entries in reversed(bare) if entries), None) or single or (bare[-1] if bare else None)


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, outermost only, whatever stands around them."""
    yield from _values(text, _OBJECT)


def values_in(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in a text, outermost only, whatever stands around them."""
    yield from _values(text, _OBJECT_OR_LIST)


def _all_like(entries: Sequence[Any], sign: str) -> bool:
    return all(isinstance(item, str | list) or (isinstance(item, Mapping) and sign in item) for item in entries)


def _values(text: str, begin: re.Pattern[str]) -> Iterator[Any]:
    """Yield each JSON value that begins so, is whole and does not lie in another one that is."""
    decoder = json.JSONDecoder(strict=False)  # models write line ends inside strings
    failures = 0
    start = begin.search(text)
    while start and failures < _MAX_FAILURES:
        end = start.start() + 1
        try:
            value, end = decoder.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            failures += 1
        start = begin.search(text, end)
