"""Small operations on vectors of any length."""

from __future__ import annotations

from hrpsim.compiled import inner_kernel


@inner_kernel
def copy_vector(source, target_out):
    """Copy `source` (n,) over `target_out` (n,); slice assignment would make room for overlaps."""
    for k in range(source.shape[0]):
        target_out[k] = source[k]
