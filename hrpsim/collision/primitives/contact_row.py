# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One row of a contact manifold, and the codes that name the features of the shapes that touch."""

import numpy as np

from hrpsim.jit.compiled import inner_kernel

MAX_POINTS = 8
MAX_MESH_POINTS = 32

# Constants passed to kernels are numpy integers: numba compiles a function once more for
# every plain integer constant it is called with.
NO_POINTS = np.int64(0)

# A feature is a number below FEATURES on each shape; the identity of a contact is the pair of them.
# Boxes: vertices 0..7 (bit k set: positive side of axis k), edges 8..19, any face SURFACE.
# Capsules, generatrices of cylinders: ends END + 0 (negative z), END + 1, between them SURFACE.
# Cylinders: fixed points of the rim 0..3 (negative z cap) and 4..7, rim crossings CROSSING + 0..3.
FEATURES = np.int64(64)
BOX_EDGE = np.int64(8)
END = np.int64(20)
CROSSING = np.int64(22)
SURFACE = np.int64(62)
NEAREST = np.int64(63)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def write_contact(k, x, y, z, nx, ny, nz, gap, code_a, code_b, out):
    """Write contact `k` (point [m], unit normal from b to a, gap [m], features); return k + 1."""
    out.point[k, 0] = x
    out.point[k, 1] = y
    out.point[k, 2] = z
    out.normal[k, 0] = nx
    out.normal[k, 1] = ny
    out.normal[k, 2] = nz
    out.gap[k] = gap
    out.feature[k] = code_a * FEATURES + code_b
    return k + 1
