"""Tables of submissions, samples and results."""
