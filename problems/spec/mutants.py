"""Fields by which verifying a problem tells, case by case, which wrong answers its check accepts."""

ACCEPTED = "accepted_mutants"
"""The wrong answers that the check accepts, in words, or `NONE`."""
NONE = "none"
DIFFERING = "differing_on_host"
"""The answers on which the check rules otherwise on the CPU than on the GPU, in words. Absent if it rules alike."""
ADMITS = "admits_precision"
"""The lowest precision below `fastest_dtype` whose results the check accepts."""
