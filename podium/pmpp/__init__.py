"""The commands `podium pmpp …`: tasks in the layout of PMPP."""
