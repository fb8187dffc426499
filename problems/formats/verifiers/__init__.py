"""Reads the files in which verifiers keeps the rollouts of an evaluation."""
