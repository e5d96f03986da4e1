"""Repositories of other machines: addresses that git may be given, and copies that git makes and keeps up to date."""
