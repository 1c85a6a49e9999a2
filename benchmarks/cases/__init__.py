"""The cases; each file has a CASE."""
