# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Escape texts from files and messages for the pages, which render markdown."""

_MARKS = "\\`*_{}[]()<>#+-!|&$~"


def plain(text: str) -> str:
    """Escape a text, so that markdown finds no links, pictures or HTML."""
    return "".join(f"&#{ord(c)};" if c in _MARKS else c for c in " ".join(text.split()))
