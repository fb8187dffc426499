"""Makes solutions packs of the rollouts that verifiers has saved."""
