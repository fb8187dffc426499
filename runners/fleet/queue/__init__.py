"""The queue: jobs as rows, and their messages in the broker."""
