"""The field by which a judge tells why a case that is timed on the track has no time: a reason of the solution's."""

NO_TIME = "no_time"
"""The reason in words, for everybody. The case then counts 1 in the sample's speedup. Absent if the case has a time."""
