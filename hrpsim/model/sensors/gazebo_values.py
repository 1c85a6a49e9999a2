# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Texts, numbers and noise in a <sensor> of Gazebo."""

from __future__ import annotations

import math

from hrpsim.model.readers.urdf.document import Document

NOISE_TYPES = ("gaussian", "none")
_AXES = ("x", "y", "z")


def noise_of_axes(
    document: Document, sensor, kind: str, quantities: tuple[str, str, str, str]
) -> dict[str, tuple[float, ...]]:
    """Return standard deviations of noise and bias, and means of the bias, of six values.

    Args:
        document: the description.
        sensor: element <sensor>.
        kind: element in <sensor> with the noise.
        quantities: elements of the first and the last three values, with the names in SDF 1.4.
    """
    noise, bias, bias_mean = [], [], []
    first, last, *olds = quantities
    for new, old in zip((first, last), olds):
        for axis in _AXES:
            at = f"{kind}/{new}/{axis}/noise"
            if sensor.find(at) is None:
                at = f"{kind}/{old}"
            values = [
                number_of(document, sensor, text_of(sensor, f"{at}/{tag}", "0"))
                for tag in ("stddev", "bias_mean", "bias_stddev")
            ]
            if _is_silent(sensor.find(at)) or _is_silent(sensor.find(f"{kind}/noise")):
                values = [0.0, 0.0, 0.0]
            noise.append(abs(values[0]))
            bias_mean.append(values[1])
            bias.append(abs(values[2]))
    return {"noise": tuple(noise), "bias": tuple(bias), "bias_mean": tuple(bias_mean)}


def deviation_of(noise) -> str:
    """Return the standard deviation of a <noise>, "0" without noise."""
    return "0" if noise is None or _is_silent(noise) else text_of(noise, "stddev", "0")


def _is_silent(noise) -> bool:
    """Return whether a <noise> declares no noise, or a kind that is not simulated."""
    return noise is not None and noise_type(noise) != NOISE_TYPES[0]


def noise_type(noise) -> str:
    """Return the type of a <noise>, an attribute or an element. The default is gaussian."""
    return (noise.get("type") or text_of(noise, "type", NOISE_TYPES[0])).strip()


def text_of(element, path: str, default: str) -> str:
    """Return the text at a path in an element."""
    return (element.findtext(path) or "").strip() or default


def number_of(document: Document, element, text: str) -> float:
    """Return one finite number. Raises ModelError, which names the element."""
    return numbers_of(document, element, text, 1)[0]


def numbers_of(document: Document, element, text: str, count: int) -> list[float]:
    """Return `count` finite numbers. Raises ModelError, which names the element."""
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        needed = "one number" if count == 1 else f"{count} numbers"
        document.fail(element, f"{text!r}: must be {needed}")
    return numbers
