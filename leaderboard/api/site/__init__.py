"""Plumbing of the API: authentication, bases, errors, schema."""
