# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recover the base's motion from a link fixed to the world (Sugihara et al., eqs. 5 to 9)."""

from hrpsim.jit.compiled import inner_kernel
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.model.system import FIXED
from hrpsim.spatial.rotation import quaternion_from_rotation
from hrpsim.spatial.vector import matrix_times, placed_point


@inner_kernel
def base_from_fixed_link(forest, support, phase, link, kinematics, q, velocity, acceleration):
    """Write the base's part of q, and of the kernels' velocity and acceleration; and kinematics.

    The joints' parts are read. Seen from a base that rests at the origin, the fixed link has a
    pose (R, p) and its body a spatial velocity v. The base is where that pose becomes the one of
    `phase`, and moves at -v; its acceleration is what makes that of the body zero.

    link (3, 3): work memory for R.
    """
    for k in range(6):
        q[k] = 0.0
    q[6] = 1.0
    update_poses(forest, q, kinematics)
    _undo(forest, support.body, kinematics, 0.0, velocity)
    here, L, v = kinematics[support.body], support.R, velocity
    for b in range(3):
        link[0, b], link[1, b], link[2, b] = matrix_times(here.R, L[0, b], L[1, b], L[2, b])
    x, y, z = placed_point(here.R, here.p, support.p)
    R = kinematics[0].R  # of the base, from the link's columns
    for a in range(3):
        row = phase.R[a]
        R[a, 0], R[a, 1], R[a, 2] = matrix_times(link, row[0], row[1], row[2])
    x, y, z = matrix_times(R, x, y, z)
    q[0], q[1], q[2] = phase.p[0] - x, phase.p[1] - y, phase.p[2] - z
    quaternion_from_rotation(R, q[3:7])
    v[0], v[1], v[2] = matrix_times(R, v[0], v[1], v[2])
    v[3], v[4], v[5] = matrix_times(R, v[3], v[4], v[5])
    update_poses(forest, q, kinematics)
    update_velocities(forest, v, kinematics)
    a = acceleration
    _undo(forest, support.body, kinematics, 1.0, a)
    a[3] += v[1] * v[5] - v[2] * v[4]  # from the spatial acceleration to that of the origin
    a[4] += v[2] * v[3] - v[0] * v[5]
    a[5] += v[0] * v[4] - v[1] * v[3]


@inner_kernel
def _undo(forest, i, kinematics, bias, rates):
    """Write the base's part of `rates` (nv,) so that body i rests: -sum (S rate + bias c)."""
    for r in range(6):
        rates[r] = 0.0
    while forest.bodies[i].parent >= 0:
        body, here = forest.bodies[i], kinematics[i]
        rate = rates[body.v_index] if body.joint_type != FIXED else 0.0
        for r in range(6):
            rates[r] -= here.S[r] * rate + bias * here.c[r]
        i = body.parent
