"""Prices in cents."""

FREE_SHIPPING_FROM = 5_000


def total_cents(items: list[tuple[str, int]]) -> int:
    """Return the sum of all prices."""
    return sum(cents for _, cents in items)


def discount(cents: int) -> int:
    """Return five per cent of large orders and nothing of small ones."""
    return cents // 20 if cents >= 10_000 else 0
