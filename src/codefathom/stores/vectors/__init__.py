"""The view of meaning."""
