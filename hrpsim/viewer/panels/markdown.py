# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Escape texts of files and messages for pages, which show markdown."""

_MARKS = "\\`*_{}[]()<>#+-!|&$~"


def plain(text: str) -> str:
    """Return a text in which markdown finds no links, pictures or HTML.

    text: of a file, of a message, or of an error that quotes one.
    """
    return "".join(f"&#{ord(c)};" if c in _MARKS else c for c in " ".join(text.split()))
