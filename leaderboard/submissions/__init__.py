"""Stored samples as files, packs and texts."""
