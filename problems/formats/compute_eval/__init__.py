"""ComputeEval's formats: packs, graded rows, summaries, timing and replies."""
