"""The code that runs a challenge, in sandboxes alone. It uses the standard library and torch."""
