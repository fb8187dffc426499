"""The kinds of problems that the site settles itself, without a node."""
