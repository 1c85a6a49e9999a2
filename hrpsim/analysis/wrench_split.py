# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Divide the external wrench between several fixed links.

The division minimises the sum of |f|^2 + |n|^2 / l^2, with the force f on each link and the moment
n about its origin. An optional condition keeps each centre of pressure in the outline of its link.
All wrenches here are along the world's axes, moment first. `total` is about the base's origin. A
*support* is a link that may be fixed (`hrpsim.analysis.records`).
"""

import math

from hrpsim.analysis.records import Support, SupportSample
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Indices, Mat3, Matrix, Records, Tensor, Vec6, Vector
from hrpsim.engine.dynamics.articulated import invert_symmetric

# The square of a violated condition has the weight 1 / _YIELDING relative to the norm.
# Contradictory conditions therefore have a solution, with the least violation.
_YIELDING = 1e-8
_VIOLATED = 1e-12  # relative to the size of the gradient
_ROW, _WRENCH, _IMAGE, _SOLVED = range(4)  # of `edges`
_GRADIENT, _MULTIPLIER, _TRIAL, _WORK = range(4)  # of `multipliers`


@inner_kernel
def _sum_norm(fixed: Indices, arms: Matrix, length: float, norm: Matrix) -> None:
    """Compute the matrix B (6, 6) of `divide_by_norm` as a sum over the fixed links."""
    for r in range(6):
        for k in range(6):
            norm[r, k] = 0.0
    for i in range(fixed.shape[0]):
        if fixed[i] != 0:
            x, y, z = arms[i, 0], arms[i, 1], arms[i, 2]
            l = length * length
            norm[0, 0] += l + y * y + z * z
            norm[1, 1] += l + x * x + z * z
            norm[2, 2] += l + x * x + y * y
            norm[1, 0] -= x * y
            norm[2, 0] -= x * z
            norm[2, 1] -= y * z
            norm[3, 1] += z
            norm[3, 2] -= y
            norm[4, 0] -= z
            norm[4, 2] += x
            norm[5, 0] += y
            norm[5, 1] -= x
            for r in range(3, 6):
                norm[r, r] += 1.0
    for r in range(6):
        for k in range(r):
            norm[k, r] = norm[r, k]


@inner_kernel
def divide_by_norm(
    fixed: Indices,
    arms: Matrix,
    length: float,
    norm: Matrix,
    norm_inverse: Matrix,
    total: Vector,
    shares_out: Matrix,
) -> None:
    """Divide a total wrench among the fixed links such that a norm of the wrenches is least.

    The forces are f_i = y_f + y_n x p_i and the moments n_i = l^2 y_n, with B y = total.

    Args:
        fixed: nonzero for each link that is fixed (s,).
        arms: p_i, origins of the links relative to the base's origin (s, 3) [m].
        length: l, which relates moments to forces [m].
        norm: B (6, 6), written.
        norm_inverse: inverse of B (6, 6), written.
        total: total wrench about the base's origin (6,) [Nm, N], moment first.
        shares_out: wrenches about the links' own origins (s, 6) [Nm, N], written. Zero for other
            links.
    """
    _sum_norm(fixed, arms, length, norm)
    invert_symmetric(norm, norm_inverse)
    for i in range(fixed.shape[0]):
        for r in range(6):
            shares_out[i, r] = 0.0
        if fixed[i] != 0:
            _add_image(norm_inverse, total, arms[i], length, 1.0, shares_out[i])


@inner_kernel
def _add_image(
    norm_inverse: Matrix, wrench: Vec6, arm: Vector, length: float, scale: float, share: Vector
) -> None:
    """Add to `share` the wrench on one link in the least-norm division of scale * `wrench`.

    arm (3,): origin of the link relative to the base's origin [m].
    """
    y0 = y1 = y2 = y3 = y4 = y5 = 0.0
    for k in range(6):
        w = scale * wrench[k]
        y0 += norm_inverse[0, k] * w
        y1 += norm_inverse[1, k] * w
        y2 += norm_inverse[2, k] * w
        y3 += norm_inverse[3, k] * w
        y4 += norm_inverse[4, k] * w
        y5 += norm_inverse[5, k] * w
    share[0] += length * length * y0
    share[1] += length * length * y1
    share[2] += length * length * y2
    share[3] += y3 + y1 * arm[2] - y2 * arm[1]
    share[4] += y4 + y2 * arm[0] - y0 * arm[2]
    share[5] += y5 + y0 * arm[1] - y1 * arm[0]


@inner_kernel  # many parameters: work arrays of the caller, because a kernel allocates nothing
def keep_pressure_inside(
    supports: Records[Support], vertices: Matrix, fixed: Indices, frames: Records[SupportSample],
    arms: Matrix, length: float, norm_inverse: Matrix, edges: Tensor, owners: Indices,
    coupling: Matrix, factor: Matrix, multipliers: Matrix, active: Indices, shares: Matrix,
) -> None:  # fmt: skip
    """Change `shares` until each centre of pressure is inside its outline.

    At the start, `shares` contains the division with the least norm. Each edge of each outline
    gives one condition a . w_i >= 0. Either the multiplier of a condition is zero, or the condition
    is an equality. This is an LCP in the multipliers, solved by an active set. frames (s,):
    SUPPORT_SAMPLE records with R of the links.
    """
    m = _list_edges(supports, vertices, fixed, frames, edges, owners)
    if _all_inside(edges, owners, m, shares, multipliers):
        return
    for r in range(m):
        _write_images(edges[r], arms[owners[r]], length, norm_inverse)
    for r in range(m):
        for s in range(m):
            coupling[r, s] = _coupling_of(edges[r], edges[s], owners[r] == owners[s])
        coupling[r, r] += _YIELDING * length * length
    _solve_complementarity(coupling, m, factor, multipliers, active)
    for r in range(m):
        force = multipliers[_MULTIPLIER, r]
        if force > 0.0:
            for k in range(6):
                shares[owners[r], k] += force * edges[r, _WRENCH, k]
            for i in range(fixed.shape[0]):
                if fixed[i] != 0:
                    _add_image(norm_inverse, edges[r, _IMAGE], arms[i], length, -force, shares[i])


@inner_kernel
def _edge_row(R: Mat3, a: Vector, b: Vector, height: float, row_out: Vector) -> None:
    """Write the row whose product with (n, f), in world axes, is f_z times a distance.

    The distance [m] is from the edge to the centre of pressure, positive inside. The centre of
    pressure on the outline's plane is x = (h f_x - n_y) / f_z, y = (n_x + h f_y) / f_z, in the
    link's frame. Points inward of the edge from a to b have u x + v y >= c.
    """
    dx, dy = b[0] - a[0], b[1] - a[1]
    scale = 1.0 / math.hypot(dx, dy)
    u, v = -dy * scale, dx * scale
    c = u * a[0] + v * a[1]
    for k in range(3):
        row_out[k] = v * R[k, 0] - u * R[k, 1]
        row_out[3 + k] = height * (u * R[k, 0] + v * R[k, 1]) - c * R[k, 2]


@inner_kernel
def _all_inside(
    edges: Tensor, owners: Indices, count: int, shares: Matrix, multipliers: Matrix
) -> bool:
    """Write the values of the conditions to row _GRADIENT of `multipliers`.

    Return whether all conditions are satisfied.
    """
    inside = True
    for r in range(count):
        wrench = shares[owners[r]]
        total = 0.0
        for k in range(6):
            total += edges[r, _ROW, k] * wrench[k]
        multipliers[_GRADIENT, r] = total
        inside = inside and total >= 0.0
    return inside


@inner_kernel
def _most_violated(A: Matrix, m: int, g: Vector, x: Vector, active: Indices, least: float) -> int:
    """Return the inactive condition with the smallest value of A x + g.

    Only values below `least` count. Returns -1 if there is none.
    """
    worst = -1
    for r in range(m):
        if active[r] == 0:
            slope = g[r]
            for s in range(m):
                slope += A[r, s] * x[s]
            if slope < least:
                worst, least = r, slope
    return worst


@inner_kernel
def _list_edges(
    supports: Records[Support],
    vertices: Matrix,
    fixed: Indices,
    frames: Records[SupportSample],
    edges: Tensor,
    owners: Indices,
) -> int:
    """Write the condition of each edge of each outline, and the support that owns the edge.

    Returns:
        the number of edges.
    """
    m = 0
    for i in range(fixed.shape[0]):
        begin, end = supports[i].vertex_begin, supports[i].vertex_end
        if fixed[i] != 0 and end > begin:
            before = end - 1
            for k in range(begin, end):
                _edge_row(
                    frames[i].R, vertices[before], vertices[k], supports[i].height,
                    edges[m, _ROW],
                )  # fmt: skip
                owners[m] = i
                before = k
                m += 1
    return m


@inner_kernel
def _write_images(edge: Matrix, arm: Vector, length: float, norm_inverse: Matrix) -> None:
    """Write three wrenches of an edge to the rows of `edge`.

    _WRENCH: the wrench on the link for a unit multiplier of the edge's condition. _IMAGE: the same
    wrench about the base's origin. _SOLVED: norm_inverse times _IMAGE.
    """
    row, wrench, image = edge[_ROW], edge[_WRENCH], edge[_IMAGE]
    for k in range(3):
        wrench[k] = length * length * row[k]
        wrench[3 + k] = row[3 + k]
    image[0] = wrench[0] + arm[1] * wrench[5] - arm[2] * wrench[4]
    image[1] = wrench[1] + arm[2] * wrench[3] - arm[0] * wrench[5]
    image[2] = wrench[2] + arm[0] * wrench[4] - arm[1] * wrench[3]
    for k in range(3):
        image[3 + k] = wrench[3 + k]
    for k in range(6):
        total = 0.0
        for c in range(6):
            total += norm_inverse[k, c] * image[c]
        edge[_SOLVED, k] = total


@inner_kernel
def _coupling_of(edge: Matrix, other: Matrix, have_one_owner: bool) -> float:
    """Return the change of an edge's condition per unit of another edge's multiplier."""
    total = 0.0
    for k in range(6):
        total -= edge[_SOLVED, k] * other[_IMAGE, k]
    if have_one_owner:
        for k in range(6):
            total += edge[_ROW, k] * other[_WRENCH, k]
    return total


@inner_kernel
def _solve_complementarity(
    A: Matrix, m: int, factor: Matrix, multipliers: Matrix, active: Indices
) -> None:
    """Find x >= 0 with A x + g >= 0 and x (A x + g) = 0, A symmetric positive definite.

    This is the active-set method of Lawson and Hanson. The most violated condition joins the active
    set. The active conditions are solved as equalities. A condition leaves the set if its
    multiplier would become negative.
    """
    g, x, trial = multipliers[_GRADIENT], multipliers[_MULTIPLIER], multipliers[_TRIAL]
    size = 0.0
    for r in range(m):
        active[r] = 0
        x[r] = 0.0
        size = max(size, abs(g[r]))
    for _ in range(3 * m):
        worst = _most_violated(A, m, g, x, active, -_VIOLATED * size)
        if worst < 0:
            return
        active[worst] = 1
        for _ in range(m):
            _solve_active(A, m, factor, g, active, multipliers[_WORK], trial)
            step, leaving = _first_to_leave(m, x, trial, active)
            for r in range(m):
                if active[r] != 0:
                    x[r] += step * (trial[r] - x[r])
            if leaving < 0:
                break
            x[leaving] = 0.0
            active[leaving] = 0


@inner_kernel
def _first_to_leave(m: int, x: Vector, trial: Vector, active: Indices) -> tuple[float, int]:
    """Return the largest step from x towards `trial` with all multipliers >= 0.

    Returns:
        (step as a fraction of `trial` - x, condition whose multiplier becomes 0, or -1).
    """
    step = 1.0
    leaving = -1
    for r in range(m):
        if active[r] != 0 and trial[r] <= 0.0:
            fraction = x[r] / (x[r] - trial[r]) if x[r] > trial[r] else 0.0
            if leaving < 0 or fraction < step:
                step, leaving = fraction, r
    return step, leaving


@inner_kernel
def _solve_active(
    A: Matrix, m: int, L: Matrix, g: Vector, active: Indices, work: Vector, x_out: Vector
) -> None:
    """Solve A x_out + g = 0 for the active conditions, by a Cholesky factorisation."""
    for i in range(m):
        if active[i] != 0:
            _factorise_row(A, i, L, active)
            total = -g[i]
            for k in range(i):
                if active[k] != 0:
                    total -= L[i, k] * work[k]
            work[i] = total / L[i, i]
    for i in range(m - 1, -1, -1):
        if active[i] != 0:
            total = work[i]
            for k in range(i + 1, m):
                if active[k] != 0:
                    total -= L[k, i] * x_out[k]
            x_out[i] = total / L[i, i]


@inner_kernel
def _factorise_row(A: Matrix, i: int, L: Matrix, active: Indices) -> None:
    """Write row i of the Cholesky factor of the active rows and columns of A."""
    for j in range(i + 1):
        if active[j] != 0:
            total = A[i, j]
            for k in range(j):
                if active[k] != 0:
                    total -= L[i, k] * L[j, k]
            L[i, j] = math.sqrt(total) if i == j else total / L[j, j]
