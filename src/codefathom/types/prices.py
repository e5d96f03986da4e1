"""What tokens cost."""

from __future__ import annotations

from typing import NamedTuple


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency; 0.0 if a price is not known."""

    prompt: float = 0.0
    completion: float = 0.0
    is_free: bool = False  # both prices are known, and they are 0

    def cost(self, usage: tuple[int, int]) -> float | None:
        """Return the cost of tokens sent and received; None if no price is known or no token was counted."""
        if not (self.is_free or self.prompt or self.completion) or not any(usage):
            return None
        n_sent, n_received = usage
        return round((n_sent * self.prompt + n_received * self.completion) / 1e6, 9)


NO_PRICES = Prices()
