"""Organisers' view of releases: verification, revisions, rejudges, rounds, weights."""
