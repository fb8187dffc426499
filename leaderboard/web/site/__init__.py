"""Pages about the whole site, and what all pages share."""
