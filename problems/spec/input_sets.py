"""The field by which verifying a problem tells what is wrong with the number of a case's input sets."""

WRONG_SETS = "wrong_input_sets"
"""The key of the reason why the reference's times do not justify the number of sets. Absent if they do."""
