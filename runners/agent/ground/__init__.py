"""The agent's lowest layer: errors, events, locks, native builds."""
