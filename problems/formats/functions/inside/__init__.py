"""Runs a problem's class inside a sandbox: draws inputs, computes expected outputs and compares answers.

Standard library and either numpy or torch only, Python 3.9 or newer: a sandbox shows this folder and nothing else of
Podium.
"""
