"""What runs in the sandboxes of checker and contestant: the standard library, numpy or torch, and nothing else."""
