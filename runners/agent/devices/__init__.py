"""The NVIDIA devices of this machine: discovery, health, sharing and golden programs."""
