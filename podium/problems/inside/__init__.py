"""The code that runs a set's files one by one, in sandboxes alone. It uses the standard library."""
