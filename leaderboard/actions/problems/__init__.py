"""Actions on the problems of draft releases."""
