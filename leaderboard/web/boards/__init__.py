"""Pages of boards and releases."""
