"""Pages that take solutions in."""
