from __future__ import annotations

from typing import cast

import pytest

from codefathom.search.question.definitions import heads_of
from codefathom.stores.catalog.readers import Symbols
from codefathom.stores.catalog.records import DefinitionPlace


class Names:
    """The one question that is asked of a catalogue."""

    def __init__(self, *places: DefinitionPlace) -> None:
        self._places = places

    def definitions(self, name: str, *, limit: int) -> list[DefinitionPlace]:
        return [one for one in self._places if one.name.lower() == name.lower()][:limit]


def place(kind: str, name: str = "Box", line: int = 1) -> DefinitionPlace:
    return DefinitionPlace("box.x", kind, name, line)


@pytest.mark.parametrize(
    ("places", "heads"),
    [
        ([place("method"), place("class"), place("module")], [place("class")]),
        ([place("type"), place("struct"), place("variable")], [place("struct")]),
        ([place("function"), place("module")], [place("module")]),
        ([place("function"), place("constant")], [place("function"), place("constant")]),
        ([place("class", line=1), place("class", line=9)], [place("class", line=1), place("class", line=9)]),
        ([place("class", "box"), place("function", "Box")], [place("function", "Box")]),  # in its very case
        ([place("class", "box"), place("function", "BOX")], [place("class", "box")]),
        ([place("section")], []),  # a heading defines nothing
        ([], []),
    ],
)
def test_the_head_of_a_name(places: list[DefinitionPlace], heads: list[DefinitionPlace]) -> None:
    assert heads_of("Box", cast(Symbols, Names(*places))) == heads
