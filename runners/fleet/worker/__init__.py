"""The site's worker: signs of life, locks and sweeping."""
