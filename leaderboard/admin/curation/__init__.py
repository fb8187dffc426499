"""Admin pages of organisers' work on releases."""
