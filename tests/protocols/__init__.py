"""Servers that speak the protocols of providers, for the contract tests."""
