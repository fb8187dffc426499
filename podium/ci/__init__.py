"""`podium evaluate` as a check of a continuous integration: JUnit, a summary in Markdown, annotations, a threshold."""
