"""Graded results that were measured elsewhere."""
