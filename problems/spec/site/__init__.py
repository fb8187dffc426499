"""A site's rules for a problem beyond its record's form: values that can work, within stated bounds.

`podium evaluate` reads records as ComputeEval does and applies none of this. Published releases that hold other values
are read and shown as they are.
"""
