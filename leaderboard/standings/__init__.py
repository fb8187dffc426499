"""Computes scores and ranked rows from results."""
