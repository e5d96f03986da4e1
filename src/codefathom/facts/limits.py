"""Defaults that several rooms share. Pure."""

from __future__ import annotations

POLLING_INTERVAL_S = 1.0  # between two looks at a tree whose changes the system does not report
