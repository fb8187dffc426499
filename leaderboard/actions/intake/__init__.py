"""Actions that take solutions in."""
