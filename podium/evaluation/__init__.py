"""Grades solutions on this machine, without a site: what stands behind `podium evaluate`."""
