# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions shared by commands: arguments for xacro, printing a report, remedies."""

import argparse
import json
import math
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from hrpsim.common.errors import HrpsimError, ModelWarning

# How to install packages that only some commands need.
ROS_REMEDY = (
    "pip install 'hrpsim[ros,record,plot]', or source a ROS 2 and pip install 'hrpsim[record,plot]'"
)
BAG_REMEDY = "pip install 'hrpsim[record,plot]'"


def pairs(texts: Sequence[str], option: str = "--xacro", sign: str = ":=") -> dict[str, str]:
    """Parse the texts of a repeated option NAME:=VALUE. `sign` replaces `:=`."""
    result = {}
    for text in texts:
        name, separator, value = text.partition(sign)
        if not separator:
            raise HrpsimError(f"{option} must be NAME{sign}VALUE, got {text!r}")
        result[name] = value
    return result


def refuse_options(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """End with a usage error if any of these options is given, such as "domain-id"."""
    for name in names:
        value = getattr(options, name.replace("-", "_"))
        if value is not None and value is not False:
            options.parser.error(f"--{name} {why}")


def show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """Print a warning. A warning about a model is printed without Python's line of code."""
    if issubclass(category, ModelWarning):
        text = f"hrpsim: warning: {message}\n"
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line)
    (file or sys.stderr).write(text)


def print_json(data: Any) -> None:
    """Print data as JSON. NaN and infinities become null."""
    print(json.dumps(_finite(data), indent=2, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts as columns. The last column is not padded."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    for row in rows:
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths)), row[-1]]))


def print_report(report: dict, as_json: bool) -> None:
    """Print a report as JSON, or as readable lines."""
    if as_json:
        print_json(report)
        return
    for key, value in report.items():
        print(f"{key}:{_text_of(value)}")


def _text_of(value: Any) -> str:
    """Return a value as the text after a key, on the same line or on indented lines below."""
    if isinstance(value, dict) and value:
        return "".join(f"\n  {name}: {item}" for name, item in value.items())
    if isinstance(value, list):
        texts = list(map(str, value))
        if any(" " in text for text in texts):  # texts rather than names
            return "".join(f"\n  {text}" for text in texts)
        return f" {', '.join(texts)}"
    return f" {value:.6g}" if isinstance(value, float) else f" {value}"
