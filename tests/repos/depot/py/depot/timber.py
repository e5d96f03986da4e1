from __future__ import annotations


def planks(length: int) -> int:
    """How many planks a trunk gives after logging, without the bark."""
    return length // 30
