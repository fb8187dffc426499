"""The code that runs a set's file, in sandboxes alone. It uses the standard library and torch.

`model.py` is also part of every definition that an import writes.
"""
