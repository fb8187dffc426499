"""How the site's worker packs uploads: the `podium` command in a process of its own, watched and bounded."""
