"""The NVIDIA devices of this machine: what they are, how they fare, and what keeps them honest."""
