"""Mutants of a problem's reference: answers that do no work or less of it, made to show what a check accepts."""
