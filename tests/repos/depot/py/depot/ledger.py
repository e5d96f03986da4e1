from __future__ import annotations


class Ledger:
    """The book of all moves."""

    def __init__(self) -> None:
        self.moves: list[tuple[int, str]] = []

    def note(self, number: int, shelf: str) -> None:
        self.moves.append((number, shelf))

    def shelf_of(self, number: int) -> str:
        return next(shelf for moved, shelf in reversed(self.moves) if moved == number)
