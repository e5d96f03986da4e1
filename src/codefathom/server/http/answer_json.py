"""Answers as JSON, as their schemas would write it."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_json


def as_json(value: Any) -> str:
    """Return a value as JSON. What cannot be written as UTF-8, such as bytes in the name of a file, becomes "?"."""
    try:
        content = to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:  # rare: the look at each text costs more than the JSON
        content = to_json(_sound(value), inf_nan_mode="null")
    return content.decode()


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_sound(name): _sound(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(item) for item in value]
    return value
