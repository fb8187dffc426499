"""`podium problems audit`: judges answers that do no work, and counts those that a problem's check accepts."""
