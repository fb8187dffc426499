"""Accounts: signing in, quotas, and the data kept of each."""
