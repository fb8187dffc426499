"""What organisers see of releases: verification, revisions, rejudges, rounds, weights."""
