"""Other names of what is imported are those that a look at every import finds."""

from __future__ import annotations

from array import array

import pytest

from codefathom.search.graph.exports import DEFAULT
from codefathom.search.graph.import_texts import ImportTexts
from codefathom.search.graph.renamed_imports import RenamedImports, renamed
from codefathom.search.graph.resolve import Resolver
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.import_table import ImportTable

FORMS = (
    ImportForm("shop.core.shared as own", "", "python"),
    ImportForm("shop.core", "c", "python"),
    ImportForm("shop.core.shared", "other", "python"),
    ImportForm("shop.core.shared", "", "python"),
    ImportForm("shop.core", "*", "python"),
    ImportForm("./box", "Box as Crate, default as Main, * as every, Lid", "typescript"),
    ImportForm("crate::a::{self as first, b::{c as d, e}, f}", "", "rust"),
    ImportForm("crate::a:: { g as h }", "", "rust"),
    ImportForm("crate::in{pieces as whole}", "", "rust"),
    ImportForm("crate::in {pieces as whole2}", "", "rust"),
    ImportForm("a.b.{C => D, E => _}", "", "scala"),
    ImportForm("App\\Models\\{User as Member, Post}", "", "php"),
    ImportForm("example.com/app/lib", "l", "go"),
    ImportForm("a.b.C as D;", "", "java"),
)
TABLE = ImportTable.of(0, {form: array("q", [1]) for form in FORMS})


def test_the_names_are_those_that_a_look_at_every_import_finds() -> None:
    bindings = {one for form in FORMS for one in renamed(form) if one.original != DEFAULT}
    names = RenamedImports(ImportTexts(TABLE, Resolver(()))).names_of
    originals = {one.original for one in bindings}
    assert {"shared", "core", "Box", "a", "c", "g", "inpieces", "C", "User"} <= originals
    for original in originals:
        assert names(original) == {one.local for one in bindings if one.original == original}


@pytest.mark.parametrize("name", ["", "e", "Lid", DEFAULT, "nothing", "as", "{"])
def test_a_name_without_another_one_has_none(name: str) -> None:
    assert names_of(name) == set()


def names_of(name: str) -> set[str]:
    return set(RenamedImports(ImportTexts(TABLE, Resolver(()))).names_of(name))
