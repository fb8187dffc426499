"""Pages of entrants and teams."""
