"""Plumbing of the site: environment, limits of requests, logs, triggers, backups."""
