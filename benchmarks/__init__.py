"""Timed comparisons with other engines: `python -m benchmarks`, or `hrpsim bench`."""
