"""Defaults that several rooms share. Pure."""

from __future__ import annotations

POLLING_INTERVAL_S = 1.0  # between two looks at a tree whose changes the system does not report
LARGE_PROJECT = 2_000  # files; what is shared by all questions is made here before anybody asks for it
