# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recover the base's motion from a link fixed to the world (Sugihara et al., eqs. 5 to 9)."""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inner_kernel
from hrpsim.model.system import PRISMATIC, REVOLUTE
from hrpsim.spatial.rotation import quaternion_from_rotation


@inner_kernel
def base_from_fixed_link(forest, support, phase, turn, walk, q, velocity, acceleration):
    """Write the base's part of q, and of the kernels' velocity and acceleration.

    The joints' parts are read. From the fixed link, whose spatial velocity and acceleration are
    zero, the motion of one joint after the other is subtracted up to the base:
    v_parent = v - S rate,  a_parent = a - S rate' - v_parent x S rate,
    all along the world's axes and about the origin of the fixed link.
    """
    R, L = turn, support.R
    for a in range(3):
        for b in range(3):
            R[a, b] = phase.R[a, 0] * L[b, 0] + phase.R[a, 1] * L[b, 1] + phase.R[a, 2] * L[b, 2]
    t = support.p
    px = -(R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2])
    py = -(R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2])
    pz = -(R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2])
    v, w = walk[0], walk[1]
    for r in range(6):
        v[r] = w[r] = 0.0
    i = support.body
    while forest.bodies[i].parent >= 0:
        body = forest.bodies[i]
        joint = body.joint_type
        if joint == REVOLUTE:
            angle = q[body.q_index]
            sine, cosine = math.sin(angle), math.cos(angle)
            for a in range(3):
                x, y = R[a, 0], R[a, 1]
                R[a, 0] = cosine * x - sine * y
                R[a, 1] = sine * x + cosine * y
            x, y, z = R[0, 2], R[1, 2], R[2, 2]
            k = body.v_index
            _undo(v, w, x, y, z, py * z - pz * y, pz * x - px * z, px * y - py * x,
                  velocity[k], acceleration[k])  # fmt: skip
        elif joint == PRISMATIC:
            slide = q[body.q_index]
            x, y, z = R[0, 2], R[1, 2], R[2, 2]
            px, py, pz = px - slide * x, py - slide * y, pz - slide * z
            k = body.v_index
            _undo(v, w, 0.0, 0.0, 0.0, x, y, z, velocity[k], acceleration[k])
        L, t = body.placement_R, body.placement_p
        for a in range(3):
            x, y, z = R[a, 0], R[a, 1], R[a, 2]
            R[a, 0] = x * L[0, 0] + y * L[0, 1] + z * L[0, 2]
            R[a, 1] = x * L[1, 0] + y * L[1, 1] + z * L[1, 2]
            R[a, 2] = x * L[2, 0] + y * L[2, 1] + z * L[2, 2]
        px -= R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2]
        py -= R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2]
        pz -= R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2]
        i = body.parent
    _write_base(phase, R, px, py, pz, v, w, q, velocity, acceleration)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _undo(v, a, sx, sy, sz, tx, ty, tz, rate, rate_change):
    """Turn the motion of a body into that of its parent, S = (sx .. tz)."""
    dx, dy, dz = rate * sx, rate * sy, rate * sz
    ex, ey, ez = rate * tx, rate * ty, rate * tz
    v[0], v[1], v[2] = v[0] - dx, v[1] - dy, v[2] - dz
    v[3], v[4], v[5] = v[3] - ex, v[4] - ey, v[5] - ez
    wx, wy, wz, lx, ly, lz = v[0], v[1], v[2], v[3], v[4], v[5]
    a[0] -= rate_change * sx + wy * dz - wz * dy
    a[1] -= rate_change * sy + wz * dx - wx * dz
    a[2] -= rate_change * sz + wx * dy - wy * dx
    a[3] -= rate_change * tx + wy * ez - wz * ey + ly * dz - lz * dy
    a[4] -= rate_change * ty + wz * ex - wx * ez + lz * dx - lx * dz
    a[5] -= rate_change * tz + wx * ey - wy * ex + lx * dy - ly * dx


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _write_base(phase, R, px, py, pz, v, a, q, velocity, acceleration):
    """Write pose and motion of the base, about its own origin."""
    q[0], q[1], q[2] = phase.p[0] + px, phase.p[1] + py, phase.p[2] + pz
    quaternion_from_rotation(R, q[3:7])
    wx, wy, wz = v[0], v[1], v[2]
    lx = v[3] + wy * pz - wz * py
    ly = v[4] + wz * px - wx * pz
    lz = v[5] + wx * py - wy * px
    velocity[0], velocity[1], velocity[2] = wx, wy, wz
    velocity[3], velocity[4], velocity[5] = lx, ly, lz
    acceleration[0], acceleration[1], acceleration[2] = a[0], a[1], a[2]
    acceleration[3] = a[3] + a[1] * pz - a[2] * py + wy * lz - wz * ly
    acceleration[4] = a[4] + a[2] * px - a[0] * pz + wz * lx - wx * lz
    acceleration[5] = a[5] + a[0] * py - a[1] * px + wx * ly - wy * lx
