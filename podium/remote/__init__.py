"""The commands that talk to a site."""
