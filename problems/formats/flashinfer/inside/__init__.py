"""The code of a definition that runs in sandboxes alone. It uses the standard library and torch."""
