"""Tables of accounts."""
