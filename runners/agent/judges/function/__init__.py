"""The judge of function problems: a checker and a contestant in two sandboxes, a channel, and a clock between them."""
