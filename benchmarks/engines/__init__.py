"""The same scenes in other engines; what is not installed is left out."""
