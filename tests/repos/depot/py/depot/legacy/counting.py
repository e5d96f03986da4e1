from __future__ import annotations


def count_crates(shelves: dict[str, list[int]]) -> int:
    """Count the crates on all shelves. Count crates shelf by shelf, and count each of the crates once."""
    count = 0
    for crates in shelves.values():
        for crate in crates:
            count += 1 if crate else 0
    return count
