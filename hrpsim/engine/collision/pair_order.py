# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order of two shapes in the search for contacts, which depends on geometry alone.

Contact reduction treats the two shapes differently. The order in which bodies were added must not
matter. The shape of the higher kind therefore comes first. Of two shapes of one kind, the larger
shape comes first. For two equal shapes, the pose of each in the frame of the other decides.
Afterwards contacts are converted to the original order.
"""

from hrpsim.engine.collision.mesh.solid_pair import SOLID_CODES
from hrpsim.engine.collision.primitives.contact_row import FEATURES
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Manifold, Shape
from hrpsim.engine.spatial.vector import transposed_times
from hrpsim.model.shapes.geometry import MESH, SPHERE

# Equal shapes that see each other alike to this part of their size are in a symmetric pose [1].
_ALIKE = 1e-9


@inlined_kernel
def is_turned(a: Shape, b: Shape, work: Manifold) -> bool:
    """Return whether contacts must be computed with shape b before shape a.

    Both shapes are placed in the MANIFOLD record `work`. If neither shape is a mesh, different
    kinds, planes and spheres have a fixed order.
    """
    if a.kind != b.kind:
        return b.kind == MESH
    if a.kind <= SPHERE:
        return False
    if a.radius != b.radius:
        return a.radius < b.radius
    if a.thickness != b.thickness:
        return a.thickness < b.thickness
    for r in range(3):
        if a.size[r] != b.size[r]:
            return a.size[r] < b.size[r]
    return _sees_less(work, _ALIKE * a.radius)


@inner_kernel
def _sees_less(work: Manifold, alike: float) -> bool:
    """Return whether the second of two equal shapes comes first, judged by their relative pose."""
    p, q = work.p_a, work.p_b
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    u0, u1, u2 = transposed_times(work.R_a, x, y, z)
    w0, w1, w2 = transposed_times(work.R_b, -x, -y, -z)
    d0, d1, d2 = u0 - w0, u1 - w1, u2 - w2
    if max(abs(d0), abs(d1), abs(d2)) <= alike:  # a half turn exchanges them: any will do
        d0, d1, d2 = x, y, z
    if abs(d0) >= abs(d1) and abs(d0) >= abs(d2):
        return d0 < 0.0
    return d1 < 0.0 if abs(d1) >= abs(d2) else d2 < 0.0


@inner_kernel
def turn_pair(work: Manifold) -> None:
    """Exchange the two shapes in a MANIFOLD record."""
    work.shape_a, work.shape_b = work.shape_b, work.shape_a
    for i in range(3):
        work.p_a[i], work.p_b[i] = work.p_b[i], work.p_a[i]
        for j in range(3):
            work.R_a[i, j], work.R_b[i, j] = work.R_b[i, j], work.R_a[i, j]


@inner_kernel
def turn_contacts(with_mesh: bool, count: int, work: Manifold) -> None:
    """Convert contacts that were computed with b before a to the order a, b, in place.

    with_mesh: whether one shape is a mesh. count: number of contacts.
    """
    codes = SOLID_CODES if with_mesh else FEATURES
    for k in range(count):
        work.feature[k] = turned_feature(work.feature[k], codes)
        for r in range(3):
            work.normal[k, r] = -work.normal[k, r]


@inlined_kernel
def turned_feature(feature: int, codes: int) -> int:
    """Return the feature code of a contact for the other order of its two shapes."""
    return (feature % codes) * codes + feature // codes
