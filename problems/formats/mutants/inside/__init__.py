"""Code of mutants that runs in sandboxes alone. It uses the standard library and what the reference loads."""
