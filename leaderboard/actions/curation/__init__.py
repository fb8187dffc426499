"""Actions of organisers on releases, tracks and decisions."""
