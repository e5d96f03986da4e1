"""Conditions on chunks and their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on a field of a chunk or its document; search/filter/filters.py names fields and operators."""

    field: str
    operator: str
    value: str | int | float | tuple[str | int | float, ...]


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """Conditions joined by AND, OR or NOT. NOT is true when not all of them hold; an empty AND group is true."""

    operator: Literal["AND", "OR", "NOT"]
    filters: tuple[Filter | FilterGroup, ...]


Where: TypeAlias = "Filter | FilterGroup"
