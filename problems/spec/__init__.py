"""Problems, solutions and packs: pydantic models and rules, free of Django."""
