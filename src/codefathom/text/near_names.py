"""A name that is not there → those that are spelled like it, for the remedy of an error. Pure."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_COMPARED = 100  # characters of a wrong name


def near_names(name: str, names: Iterable[str], *, most: int = 3) -> list[str]:
    """Return the names that are most like a wrong one, the nearest first; the case of letters does not count."""
    from difflib import get_close_matches  # noqa: PLC0415  only for a wrong name

    by_lower: dict[str, list[str]] = {}
    for known_name in sorted(names):
        by_lower.setdefault(known_name.lower(), []).append(known_name)
    near = get_close_matches(name[:_MOST_COMPARED].lower(), by_lower, n=most, cutoff=0.65)
    return [own for lower in near for own in by_lower[lower]][:most]
