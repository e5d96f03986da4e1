"""Optional parts: the table names each extra of the package, and an adapter says which one it needs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from codefathom.config.settings import StoreSettings
from codefathom.errors import SettingsError
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
from codefathom.system.adapters import VECTOR_STORES, Adapter, load
from codefathom.system.extras import EXTRAS, Extra, install_line

PYPROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))


def test_the_table_names_the_extras_of_the_package() -> None:
    assert EXTRAS.keys() == PYPROJECT["project"]["optional-dependencies"].keys()


def test_a_module_that_is_not_installed_is_named() -> None:
    assert Extra("nothing", ("json", "no_such_library")).missing() == ["no_such_library"]
    assert install_line("onnx") == "pip install 'codefathom[onnx]'"


def test_the_default_store_is_loaded_by_its_name() -> None:
    assert load("store.vectors", StoreSettings().vectors, VECTOR_STORES) is FlatVectorStore


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"store\.vectors cannot be 'none'") as error:
        load("store.vectors", "none", VECTOR_STORES)
    assert error.value.hint == f"choose one of {', '.join(VECTOR_STORES)}"


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_more.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SettingsError, match="needs the library 'no_such_library'") as error:
        load("store.vectors", "more", {"more": Adapter("needs_more:Store", "more")})
    assert error.value.hint == "pip install 'codefathom[more]'"
