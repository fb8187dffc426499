"""Results as readers see them: logs, failures, times, rates and provenance."""
