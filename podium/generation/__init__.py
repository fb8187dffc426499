"""`podium generate`: asks a model for solutions and writes them as a solutions pack."""
