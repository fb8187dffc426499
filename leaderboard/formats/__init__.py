"""How the site writes dates, by language."""
