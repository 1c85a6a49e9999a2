"""Commands of `hrpsim` that are more than a page; each file adds its own parser."""
