"""Tables of organisers' work."""
