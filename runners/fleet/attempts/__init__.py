"""Attempts: claims, leases, uploads and reports."""
