"""Work that the site has done again by itself."""
