# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Texts of files and messages on pages, which are written in markdown."""

_MARKS = "\\`*_{}[]()<>#+-!|&$~"


def plain(text: str) -> str:
    """Return a text that markdown shows letter by letter: no links, pictures or HTML.

    text: of a file, of a message, or of an error that quotes one.
    """
    return "".join(f"&#{ord(c)};" if c in _MARKS else c for c in " ".join(text.split()))
