"""Figures of boards."""
