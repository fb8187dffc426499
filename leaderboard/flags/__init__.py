"""Flags: the rules in words, what each does to a standing now, and the organisers' queue."""
