"""The node's connection to the site over HTTP: client, outbox, problem store."""
