"""Orders: price them, then keep them."""

from dataclasses import dataclass, field

from shop.pricing import discount, total_cents
from shop.store.database import Database


@dataclass
class Order:
    """What a customer wants to buy."""

    customer: str
    items: list[tuple[str, int]] = field(default_factory=list)

    def add(self, article: str, cents: int) -> None:
        """Put one article into the order."""
        self.items.append((article, cents))

    def price(self) -> int:
        """Return what the order costs, discount included."""
        total = total_cents(self.items)
        return total - discount(total)


def place(database: Database, order: Order) -> str:
    """Store the order and return its number."""
    return database.insert("orders", customer=order.customer, cents=order.price())
