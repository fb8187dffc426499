"""Packs what organisers upload to a site, for the site's worker."""
