"""Questions as values, and the protocol of all that answer them."""
