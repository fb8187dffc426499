"""`podium questions`: checks and packs files of questions."""
