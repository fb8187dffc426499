"""Tables of entrants and teams."""
