"""Challenges in the form of LeetGPU, read from the user's own checkout."""
