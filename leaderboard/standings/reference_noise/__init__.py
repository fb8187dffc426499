"""The noise of times, by what hidden references show."""
