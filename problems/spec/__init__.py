"""What a problem, a solution and a pack are: pydantic models and rules, free of Django."""
