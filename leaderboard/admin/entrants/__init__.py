"""Admin pages of entrants and people."""
