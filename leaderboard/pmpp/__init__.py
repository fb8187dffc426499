"""The routes of PMPP's evaluation server, so that its client grades on this site. Served by a process of its own."""
