"""Tables of tracks and boards."""
