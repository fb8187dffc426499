"""Questions as people write them: JSON lines with the fields of pmpp-eval's, and a few of Podium's own."""
