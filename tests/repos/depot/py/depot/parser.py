from __future__ import annotations


def read_line(line: str) -> tuple[int, str]:
    """Parse a line of the old paper: the number, then the shelf."""
    number, _, shelf = line.partition(" ")
    return int(number), shelf.strip()
