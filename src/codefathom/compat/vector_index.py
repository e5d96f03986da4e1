"""The tables `[vector_index.*]` of a settings file, as users of an editor's vector index have them. No state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codefathom.errors import SettingsError
from codefathom.text.near_names import near_names

TABLE = "vector_index"
# Names in these tables, and the settings that they are here.
VECTOR_INDEX_SETTINGS: Mapping[str, str] = {
    "enabled": "store.vectors",
    "qdrant.url": "store.url",
    "qdrant.collection_name": "store.collection",
    "qdrant.timeout_seconds": "store.timeout_s",
    "processing.batch_size": "embed.batch",
    "processing.max_concurrent_files": "index.workers",
    "processing.chunk_size_range": "chunk.target_chars",
    "files.supported_extensions": "source.required_exts",
    "files.ignore_patterns": "source.ignore",
    "search.default_max_results": "search.limit",
    "search.default_min_score": "search.min_similarity",
    "search.cache_ttl_seconds": "server.cache_ttl_s",
    "search.enable_result_cache": "server.cache_ttl_s",
}
_CHECKED = ("qdrant.api_key", "vectors.size", "vectors.distance")


def settings_of(table: object, path: str) -> Iterator[tuple[str, object, str]]:
    """Yield setting, value and origin for each name in the tables; with `enabled = false`, nothing of the store.

    Raises SettingsError for a name that they do not have, and for what cannot be as they say.
    """
    values = dict(_names(table, ""))
    for name in values:
        if name not in VECTOR_INDEX_SETTINGS and name not in _CHECKED:
            near = near_names(name, [*VECTOR_INDEX_SETTINGS, *_CHECKED], most=1)
            raise SettingsError(
                f"{path}: {f'{TABLE}.{name}'.rstrip('.')} is not a setting",
                hint=f"did you mean {TABLE}.{near[0]}?" if near else "docs/stores.md lists those of Qdrant",
            )
    _check(values, path)
    is_cached = values.get("search.enable_result_cache", True)
    values.pop("search.enable_result_cache" if is_cached is True else "search.cache_ttl_seconds", None)
    is_enabled = values.setdefault("enabled", True) is not False
    for name, value in values.items():
        setting = VECTOR_INDEX_SETTINGS.get(name, "")
        if setting and (is_enabled or not setting.startswith("store.")):
            yield setting, _value(name, value), f"{path}: {TABLE}.{name}"


def _names(table: object, begin: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(table, dict):
        yield begin.rstrip("."), table
        return
    for name, value in table.items():
        yield from _names(value, f"{begin}{name}.")


def _check(values: Mapping[str, Any], path: str) -> None:
    if values.get("qdrant.api_key"):
        raise SettingsError(
            f"{path}: {TABLE}.qdrant.api_key is a key, and keys are not read from files",
            hint="remove this line, and set the environment variable QDRANT_API_KEY",
        )
    distance = values.get("vectors.distance", "Cosine")
    if str(distance).lower() != "cosine":
        raise SettingsError(
            f"{path}: {TABLE}.vectors.distance cannot be {str(distance)[:40]!r}", hint="only Cosine is compared by"
        )


def _value(name: str, value: Any) -> object:
    if name == "enabled":
        return "qdrant" if value is True else value
    if name == "processing.chunk_size_range":  # smaller pieces are grouped, larger ones split: none is left out
        return value[-1] if isinstance(value, list) and value else value
    if name == "search.enable_result_cache":
        return 0 if value is False else value
    return value
