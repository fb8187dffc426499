"""Actions on accounts."""
