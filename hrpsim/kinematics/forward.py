"""Forward kinematics of a forest: where every body is and how it moves.

All spatial quantities are expressed along the world's axes, about the origin of the tree that the
body belongs to: the position of its first body. Inertias and forces then add without transforms,
and a robot far from the world's origin keeps its precision. Spatial vectors put the angular part
first (RBDA chapter 2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.compiled import kernel
from hrpsim.model.system import FREE, PRISMATIC, REVOLUTE
from hrpsim.spatial.rotation import rotation_from_quaternion


class Kinematics(NamedTuple):
    """Pose and motion of `n` bodies (outputs of the kernels below)."""

    origin: np.ndarray  # (n, 3) world position of the tree's origin, valid at roots [m]
    R: np.ndarray  # (n, 3, 3) R_world_body
    p: np.ndarray  # (n, 3) body origin relative to the tree's origin [m]
    S: np.ndarray  # (n, 6) motion of a unit joint rate; zero for FIXED and FREE
    v: np.ndarray  # (n, 6) spatial velocity
    c: np.ndarray  # (n, 6) velocity-product acceleration of the joint (RBDA eq. 7.34)


def new_kinematics(body_count: int) -> Kinematics:
    """Return zeroed arrays for `body_count` bodies."""
    n = body_count
    return Kinematics(
        origin=np.zeros((n, 3)),
        R=np.zeros((n, 3, 3)),
        p=np.zeros((n, 3)),
        S=np.zeros((n, 6)),
        v=np.zeros((n, 6)),
        c=np.zeros((n, 6)),
    )


@kernel
def update_poses(system, q, kinematics_out):
    """Write origin, R, p and S of every body for the configuration q."""
    origin, R, p, S = kinematics_out.origin, kinematics_out.R, kinematics_out.p, kinematics_out.S
    for i in range(system.parent.shape[0]):
        parent = system.parent[i]
        joint = system.joint_type[i]
        if joint == FREE:
            k = system.q_index[i]
            for a in range(3):
                origin[i, a] = q[k + a]
                p[i, a] = 0.0
            rotation_from_quaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6], R[i])
            continue
        L = system.placement_R[i]
        t = system.placement_p[i]
        if parent < 0:
            for a in range(3):
                origin[i, a] = t[a]
                p[i, a] = 0.0
                for b in range(3):
                    R[i, a, b] = L[a, b]
        else:
            P = R[parent]
            for a in range(3):
                x, y, z = P[a, 0], P[a, 1], P[a, 2]
                p[i, a] = p[parent, a] + x * t[0] + y * t[1] + z * t[2]
                R[i, a, 0] = x * L[0, 0] + y * L[1, 0] + z * L[2, 0]
                R[i, a, 1] = x * L[0, 1] + y * L[1, 1] + z * L[2, 1]
                R[i, a, 2] = x * L[0, 2] + y * L[1, 2] + z * L[2, 2]
        if joint == REVOLUTE:
            angle = q[system.q_index[i]]
            sine, cosine = math.sin(angle), math.cos(angle)
            for a in range(3):
                x, y = R[i, a, 0], R[i, a, 1]
                R[i, a, 0] = cosine * x + sine * y
                R[i, a, 1] = cosine * y - sine * x
            zx, zy, zz = R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]
            S[i, 0], S[i, 1], S[i, 2] = zx, zy, zz
            S[i, 3] = p[i, 1] * zz - p[i, 2] * zy
            S[i, 4] = p[i, 2] * zx - p[i, 0] * zz
            S[i, 5] = p[i, 0] * zy - p[i, 1] * zx
        elif joint == PRISMATIC:
            slide = q[system.q_index[i]]
            for a in range(3):
                p[i, a] += slide * R[i, a, 2]
                S[i, 3 + a] = R[i, a, 2]


@kernel
def update_velocities(system, velocity, kinematics_out):
    """Write v and c of every body for the kernels' generalised velocity; poses must be current."""
    S, v, c = kinematics_out.S, kinematics_out.v, kinematics_out.c
    for i in range(system.parent.shape[0]):
        joint = system.joint_type[i]
        parent = system.parent[i]
        if joint == FREE:
            k = system.v_index[i]
            for a in range(6):
                v[i, a] = velocity[k + a]
            continue
        if joint == REVOLUTE or joint == PRISMATIC:
            rate = velocity[system.v_index[i]]
        else:
            rate = 0.0
        sx, sy, sz = rate * S[i, 0], rate * S[i, 1], rate * S[i, 2]
        tx, ty, tz = rate * S[i, 3], rate * S[i, 4], rate * S[i, 5]
        if parent < 0:
            v[i, 0], v[i, 1], v[i, 2], v[i, 3], v[i, 4], v[i, 5] = sx, sy, sz, tx, ty, tz
            continue
        wx, wy, wz = v[parent, 0], v[parent, 1], v[parent, 2]
        lx, ly, lz = v[parent, 3], v[parent, 4], v[parent, 5]
        v[i, 0], v[i, 1], v[i, 2] = wx + sx, wy + sy, wz + sz
        v[i, 3], v[i, 4], v[i, 5] = lx + tx, ly + ty, lz + tz
        # v_parent x (S rate): the same as v x (S rate), for S x S = 0
        c[i, 0] = wy * sz - wz * sy
        c[i, 1] = wz * sx - wx * sz
        c[i, 2] = wx * sy - wy * sx
        c[i, 3] = wy * tz - wz * ty + ly * sz - lz * sy
        c[i, 4] = wz * tx - wx * tz + lz * sx - lx * sz
        c[i, 5] = wx * ty - wy * tx + lx * sy - ly * sx
