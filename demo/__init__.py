"""The whole product on one machine: `make demo` runs this package."""
