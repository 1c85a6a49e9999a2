# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sine and cosine of one angle at once, without a library call. Robot joints need both.

The nearest multiple of pi/2 is subtracted from the angle, in two parts (Cody and Waite). The
polynomials of fdlibm (k_sin.c, k_cos.c) are evaluated at the remainder. Errors are at most one unit
in the last place of 1.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel

# Larger angles go to the mathematics library [rad]. Up to here multiples of the first part of
# pi/2, which has 33 bits, are exact.
_LARGEST = 1e5
_PER_QUARTER = 2.0 / math.pi
_QUARTER, _QUARTER_REST = 1.57079632673412561417e00, 6.07710050650619224932e-11


@inlined_kernel
def sine_cosine(angle: float) -> tuple[float, float]:
    """Return the sine and the cosine of `angle` [rad]."""
    if not abs(angle) <= _LARGEST:
        return math.sin(angle), math.cos(angle)
    turns = math.floor(angle * _PER_QUARTER + 0.5)
    r = (angle - turns * _QUARTER) - turns * _QUARTER_REST
    z = r * r
    sine = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    sine = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * sine)
    sine = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * sine)
    sine = r + r * z * sine
    cosine = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    cosine = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * cosine)
    cosine = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * cosine)
    half = 0.5 * z
    leading_terms = 1.0 - half
    cosine = leading_terms + (((1.0 - leading_terms) - half) + z * z * cosine)
    quarter = int(turns) & 3
    if quarter & 1:
        sine, cosine = cosine, -sine
    if quarter & 2:
        sine, cosine = -sine, -cosine
    return sine, cosine
