"""Tasks in the layout of PMPP: a folder each with a Makefile, a skeleton, a reference and tests."""
