# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pairs of links, whichever is named first."""

from __future__ import annotations

Pair = tuple[str, str]


def pair_of(a: str, b: str) -> Pair:
    """Return two names in their order."""
    return (a, b) if a <= b else (b, a)
