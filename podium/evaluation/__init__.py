"""Grades solutions on this machine without a site: the implementation of `podium evaluate`."""
