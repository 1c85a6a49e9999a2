# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of xacro's macros."""

from __future__ import annotations

import re

_PARAMETER = re.compile(r"\s*([^\s:=]+)\s*(:?=\s*(\^\|?)?)?")
_DEFAULT = re.compile(r"""\$\{[^}]*\}|\$\([^)]*\)|'[^']*'|"[^"]*"|[^\s'"$]+|\$""")


def macro_parameter(text: str) -> tuple[str, tuple[str | None, str | None] | None, str]:
    """Return the first parameter of <xacro:macro params=...>, (forwarded as, default), the rest.

    The default is None for a parameter that has none. In linear time, unlike xacro's own.
    """
    found = _PARAMETER.match(text)
    if found is None:
        words = text.split(None, 1)
        return words[0], None, words[1] if len(words) > 1 else ""
    name, assigned, forward = found.groups()
    if assigned is None:
        words = text.lstrip().split(None, 1)
        return words[0], None, words[1] if len(words) > 1 else ""
    position = found.end()
    while (part := _DEFAULT.match(text, position)) is not None:
        position = part.end()
    default = text[found.end() : position]
    return name, (name if forward else None, default or None), text[position:].lstrip()
