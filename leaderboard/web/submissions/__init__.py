"""Pages of submissions and samples."""
