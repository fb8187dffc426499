"""The judges: one folder for each kind of problem that a node grades, and their registry."""
