"""`podium reproduce`: judges a published sample again on this machine and compares."""
