"""A question → hits."""
