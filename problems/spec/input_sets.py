"""The field by which verifying a problem tells what is wrong with the number of a case's input sets."""

WRONG_SETS = "wrong_input_sets"
"""Why the reference's times do not justify it, in words. Absent if they do."""
