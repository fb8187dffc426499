"""Figures of problems and results."""
