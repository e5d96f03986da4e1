"""Answers as JSON, as their schemas would write it, and texts that UTF-8 can write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json


def as_json(value: Any) -> str:
    """Return a value as JSON. What cannot be written as UTF-8, such as bytes in the name of a file, becomes "?"."""
    try:
        content = to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:  # rare: the look at each text costs more than the JSON
        content = to_json(sound(value), inf_nan_mode="null")
    return content.decode()


def sound(value: Any) -> Any:
    """Return a value in which each text can be written as UTF-8: what cannot becomes "?"."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {sound(name): sound(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sound(item) for item in value]
    return value
