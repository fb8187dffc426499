"""Stores submissions, evaluations and results as rows, without a check of who asks; the actions check."""
