"""Actions on entrants and teams."""
