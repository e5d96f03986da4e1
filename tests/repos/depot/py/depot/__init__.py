"""Crates, parcels and what is written about them."""

from depot.ledger import Ledger

__all__ = ["Ledger"]
