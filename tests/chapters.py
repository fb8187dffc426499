"""The published weights of PMPP-eval's 18 chapters of coding tasks, and the fail counts that give them."""

CHAPTERS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 20, 21]
PROBLEMS = [2, 3, 1, 3, 1, 1, 3, 2, 3, 1, 5, 6, 4, 2, 2, 4, 6, 4]
FAILED = [9, 5, 10, 16, 5, 5, 30, 2, 9, 11, 102, 46, 28, 10, 14, 59, 92, 52]
"""Fail counts of 27 samples a problem."""
PUBLISHED = [
    0.537768, 0.277310, 1.043361, 0.614373, 0.583731, 0.583731, 1.043361, 0.216026, 0.399879,
    1.135287, 1.999393, 0.828867, 0.767583, 0.583731, 0.767583, 1.480010, 1.533634, 1.319140,
]  # fmt: skip
