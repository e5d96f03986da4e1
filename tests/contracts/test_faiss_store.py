"""FAISS keeps the contract, exact and in cells."""

from __future__ import annotations

from tests.contracts.candidate_stores import StoreContract

from codefathom.stores.vectors.candidates import CandidateStore, StoreSetup
from codefathom.stores.vectors.faiss_vectors import FaissStore


class TestExact(StoreContract):
    def connect(self, setup: StoreSetup) -> CandidateStore:
        return FaissStore(setup)


class TestInCells(StoreContract):
    least_recall = 0.25  # the rows have no order, and a tenth of the cells is looked into

    def connect(self, setup: StoreSetup) -> CandidateStore:
        return FaissStore(setup._replace(options=setup.options._replace(exact=False)), least_in_cells=200)
