"""Entrants: their names and what they declare."""
