"""Actions on stored submissions and samples."""
