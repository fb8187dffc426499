"""Tells people that a submission has ended: by mail, by webhook and in a feed."""
