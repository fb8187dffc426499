"""Function problems: their record, its manifest, and the rules and starter code that follow from the signature."""
