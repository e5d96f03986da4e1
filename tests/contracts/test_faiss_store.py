"""FAISS keeps the contract, exact and in cells."""

from __future__ import annotations

from pathlib import Path

from tests.contracts.candidate_stores import StoreContract

from codefathom.stores.vectors.candidates import CandidateStore, Change, Label, StoreSetup, Within
from codefathom.stores.vectors.faiss_vectors import FaissStore


class TestExact(StoreContract):
    def connect(self, setup: StoreSetup) -> CandidateStore:
        return FaissStore(setup)


class TestInCells(StoreContract):
    least_recall = 0.25  # the rows have no order, and a tenth of the cells is looked into

    def connect(self, setup: StoreSetup) -> CandidateStore:
        return FaissStore(setup._replace(options=setup.options._replace(exact=False)), least_in_cells=200)


def test_another_value_of_exact_holds_when_the_store_is_prepared(tmp_path: Path) -> None:
    """Until then it says how its file was made, whatever the settings have become."""
    contract = TestExact()
    setup = contract._setup(tmp_path)

    def store(exact: bool) -> FaissStore:
        return FaissStore(setup._replace(options=setup.options._replace(exact=exact)), least_in_cells=200)

    points = contract._points({key: key for key in range(300)})
    store(True).apply(Change(points, (), True, Label("owner", 1)))
    query = bytes([127] * contract.dimensions)
    nearest = store(True).candidates(query, 5, Within())
    for exact in (False, True):
        changed = store(exact)
        assert changed.is_exact is not exact
        changed.prepare()
        assert (changed.is_exact, store(exact).is_exact) == (exact, exact)
        assert (changed.count(), changed.label()) == (300, Label("owner", 1))
    assert store(True).candidates(query, 5, Within()) == nearest
