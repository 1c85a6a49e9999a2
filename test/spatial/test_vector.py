# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Products of vectors and matrices in kernels are those of numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.spatial.vector import (
    dot,
    dot_spatial,
    matrix_times,
    placed_point,
    speed_along,
    transposed_times,
    triple_product,
)

number = st.floats(-3.0, 3.0, allow_subnormal=False)
vectors = arrays(np.float64, 3, elements=number)
twists = arrays(np.float64, 6, elements=number)
matrices = arrays(np.float64, (3, 3), elements=number)


@kernel
def products(M, a, b, c, v, w, out):
    out[0], out[1], out[2] = matrix_times(M, a[0], a[1], a[2])
    out[3], out[4], out[5] = transposed_times(M, a[0], a[1], a[2])
    out[6], out[7], out[8] = placed_point(M, b, a)
    out[9] = dot(a, b)
    out[10] = dot_spatial(v, w)
    out[11] = triple_product(a, b, c)
    out[12] = speed_along(v, b, c)


@given(matrices, vectors, vectors, vectors, twists, twists)
def test_products_are_those_of_numpy(M, a, b, c, v, w):
    """Law: M a, M' a, b + M a, a . b, v . w, a . (b x c), and (v_lin + v_ang x b) . c."""
    out = np.empty(13)
    products(M, a, b, c, v, w, out)
    speed = (v[3:] + np.cross(v[:3], b)) @ c
    numbers = [a @ b, v @ w, a @ np.cross(b, c), speed]
    expected = np.concatenate([M @ a, M.T @ a, b + M @ a, numbers])
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
