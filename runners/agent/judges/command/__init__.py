"""The judge of command problems: build, test, benchmark."""
