"""Scores, their uncertainty and ranks: pure functions of arrays, with numpy as the only package."""
