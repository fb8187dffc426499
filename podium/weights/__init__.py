"""Weights of groups of problems, calibrated from pass rates."""
