"""Finds near-duplicate code of different entrants: fingerprints of normalised code and their comparison."""
