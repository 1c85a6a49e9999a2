# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parse JSON of bounded size and depth."""

from __future__ import annotations

import json
from typing import Any

from hrpsim.common import limits


def parse_json(text: str | bytes) -> Any:
    """Return the content of a JSON text.

    Raises:
        ValueError: the text is no JSON, has more than JSON_VALUES values, or nests too deep.
    """
    marks = (b"[", b"{", b",") if isinstance(text, bytes) else ("[", "{", ",")
    if sum(text.count(mark) for mark in marks) > limits.JSON_VALUES:  # type: ignore[arg-type]
        raise ValueError(f"its JSON has {limits.excess('JSON_VALUES', 'values')}")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON has too many nested levels") from None
    except UnicodeDecodeError as cause:
        raise ValueError(f"its JSON is not text: {cause.reason}") from cause
