"""Customers and how they sign in."""

import hashlib
import hmac

from shop.store.database import Database


class AccountError(Exception):
    """The name or the password is wrong."""


def authenticate(database: Database, name: str, password: str) -> str:
    """Return the customer's id when name and password belong together."""
    row = database.find("customers", name=name)
    if row is None or not hmac.compare_digest(row["digest"], password_digest(password, row["salt"])):
        raise AccountError(name)
    return row["id"]


def password_digest(password: str, salt: str) -> str:
    """Return a slow hash of the password."""
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), 100_000).hex()
