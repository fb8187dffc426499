"""The code in the sandboxes of checker and contestant. It uses the standard library, numpy or torch, and nothing
else."""
