"""The protocol between the site and its nodes. It does not import Django."""
