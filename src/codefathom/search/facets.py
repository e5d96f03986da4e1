"""What the places of a list have in common, counted by language, kind, folder and test. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codefathom.facts.paths import is_test
from codefathom.stores.conditions import field_named
from codefathom.types.hits import FACETS, NO_FACETS, Chunk, Facets
from codefathom.types.where import Filter, Where

_PROJECT, *_NAMES = FACETS


class FacetCounts:
    """Counts places by what they have in common."""

    def __init__(self, where: Where | None) -> None:
        """`where` is the condition that all of the places fulfil."""
        self._folders = _folders_in(where)
        self._of_path: dict[str, tuple[str, str]] = {}
        self._counts: tuple[Counter[str], ...] = tuple(Counter() for _ in _NAMES)

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """The counts by facet and value."""
        return {
            name: {value: n for value, n in counts.items() if value}
            for name, counts in zip(_NAMES, self._counts, strict=True)
        }

    def add(self, place: Chunk, kind: str) -> None:
        """Count a place; `kind` is the one that a filter compares."""
        for counts, value in zip(self._counts, self._values(place, kind), strict=True):
            counts[value] += 1

    def add_files(self, candidates: Iterable[Chunk]) -> None:
        """Count the files of some candidates, each once, and once with each kind that it is a place of."""
        paths: set[str] = set()
        pairs: set[tuple[str, str]] = set()
        for chunk in candidates:
            if chunk.path not in paths:
                paths.add(chunk.path)
                self.add(chunk, "")
            if (chunk.path, chunk.kind) not in pairs:
                pairs.add((chunk.path, chunk.kind))
                self._counts[1][chunk.kind] += 1

    def add_joined(
        self, candidates: Iterable[tuple[int, Chunk]], touching: Mapping[int, Sequence[int]], n_most_joined: int
    ) -> None:
        """Count the places of some candidates, as many as a list has that is kept to a value: in each of these lists
        those that touch are one place while it has few."""
        joined: dict[tuple[int, str], set[int]] = defaultdict(set)
        for key, chunk in candidates:
            neighbours = touching.get(key)
            if neighbours is None:
                self.add(chunk, chunk.kind)
                continue
            for number, value in enumerate(self._values(chunk, chunk.kind)):
                counts, before = self._counts[number], joined[number, value]
                counts[value] += 1
                if counts[value] <= n_most_joined + 1:
                    counts[value] -= sum(one in before for one in neighbours)
                    before.add(key)

    def _values(self, place: Chunk, kind: str) -> tuple[str, str, str, str]:
        facts = self._of_path.get(place.path)
        if facts is None:
            facts = self._of_path[place.path] = (_folder(place.path, self._folders), _flag(place.path))
        return place.language, kind, *facts


def joined_facets(each: Mapping[str, Facets], copies: Iterable[Chunk], *, is_whole: bool) -> Facets:
    """Return the facets of several projects as one, without these places, which stand there once more.

    In the list of one project its copies are there, so the facet of projects counts them.
    """
    if not any(facets.counts for facets in each.values()):
        return NO_FACETS
    sums: dict[str, Counter[str]] = {name: Counter() for name in _NAMES}
    for facets in each.values():
        for name in _NAMES:
            sums[name].update(facets.counts.get(name, {}))
    for chunk in copies:
        above = next((folder for folder in sums["dir"] if chunk.path.startswith(f"{folder}/")), "")
        for name, value in zip(_NAMES, (chunk.language, chunk.kind, above, _flag(chunk.path)), strict=True):
            sums[name].subtract([value])
    counts: dict[str, Mapping[str, int]] = {name: dict(+counted) for name, counted in sums.items()}
    counts[_PROJECT] = {name: n for name, facets in each.items() if (n := facets.n_places)}
    return Facets(counts, is_whole and all(facets.is_whole for facets in each.values()))


def _flag(path: str) -> str:
    return "true" if is_test(path) else "false"


def _folders_in(where: Where | None) -> tuple[str, ...]:
    """Return the folders to which a condition keeps a list, the deepest first."""
    return tuple(sorted(set(_folder_names(where)), key=lambda folder: -folder.count("/")))


def _folder_names(where: Where | None) -> Iterator[str]:
    if isinstance(where, Filter):
        if where.operator == "eq" and field_named(where.field).name == "dir":
            yield str(where.value).strip("/")
    elif where is not None and where.operator != "NOT":
        for part in where.filters:
            yield from _folder_names(part)


def _folder(path: str, folders: Sequence[str]) -> str:
    """Return the folder of a path that a list can be kept to: one step below those that it is kept to; "" for none."""
    above = next((folder for folder in folders if path.startswith(f"{folder}/")), "") if folders else ""
    step, _, rest = path[len(above) + 1 if above else 0 :].partition("/")
    return (f"{above}/{step}" if above else step) if rest else ""
