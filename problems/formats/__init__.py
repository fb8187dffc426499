"""Readers and writers of the formats that other systems use, free of Django."""
