"""Command problems: their record, the rules of their workspaces, and where they are skipped."""
