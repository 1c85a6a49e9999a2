# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The arrays that every dynamics kernel reads: a forest of rigid bodies joined to their parents.

A `System` describes one robot, or a whole world of robots and free bodies laid one after another.
A *body* is moved by one joint: a URDF link with everything fixed to it. Bodies are in topological
order (parent before child), and each tree is contiguous.

Every joint moves about or along the z axis of its own frame. The body frame is this joint frame
after the motion. The body frame therefore differs from the URDF link frame by the fixed placement
in `Frame`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.model.readers.urdf.joint_motions import MOTIONS

FIXED, REVOLUTE, PRISMATIC, FREE = (motion.code for motion in MOTIONS)
JOINT_NQ = tuple(motion.q_count for motion in MOTIONS)
JOINT_NV = tuple(motion.v_count for motion in MOTIONS)


class System(NamedTuple):
    """Constants of a forest of `n` bodies with `nv` degrees of freedom.

    All arrays are C-contiguous. Integers are int64, the rest float64. `parent` is -1 for a body
    attached to the world. `placement_R`, `placement_p` place the joint frame in the parent's body
    frame (R_parent_joint, p_parent [m]). `inertia` is about `com`. Both are in the body frame.
    The configuration of a FREE body is x y z qx qy qz qw. Its velocity in kernels is the angular
    velocity, then the velocity of the body origin, both along the world's axes.
    """

    parent: np.ndarray  # (n,)
    root: np.ndarray  # (n,) index of the first body of the tree
    joint_type: np.ndarray  # (n,) FIXED, REVOLUTE, PRISMATIC or FREE
    q_index: np.ndarray  # (n,)
    v_index: np.ndarray  # (n,)
    placement_R: np.ndarray  # (n, 3, 3)
    placement_p: np.ndarray  # (n, 3) [m]
    mass: np.ndarray  # (n,) [kg]
    com: np.ndarray  # (n, 3) [m]
    inertia: np.ndarray  # (n, 3, 3) [kg m^2]
    dof_body: np.ndarray  # (nv,) body that the degree of freedom moves
    rotor_inertia: np.ndarray  # (nv,) reflected through the gear [kg m^2] or [kg]
    stiffness: np.ndarray  # (nv,) [Nm/rad] or [N/m]
    rest: np.ndarray  # (nv,) position where the spring is slack [rad] or [m]
    damping: np.ndarray  # (nv,) [Nms/rad] or [Ns/m]
    friction: np.ndarray  # (nv,) dry friction [Nm] or [N]
    lower: np.ndarray  # (nv,) [rad] or [m], -inf without a limit
    upper: np.ndarray  # (nv,)
    velocity_limit: np.ndarray  # (nv,) [rad/s] or [m/s], inf without a limit
    effort_limit: np.ndarray  # (nv,) [Nm] or [N], inf without a limit
    mimic_dof: np.ndarray  # (nv,) degree of freedom that leads this one, -1 for none
    mimic_ratio: np.ndarray  # (nv,) q = ratio q_leader + offset
    mimic_offset: np.ndarray  # (nv,)


def integer_array(values) -> np.ndarray:
    """Return a C-contiguous int64 copy."""
    return np.array(values, dtype=np.int64, order="C")


def real_array(values, shape=None) -> np.ndarray:
    """Return a C-contiguous float64 copy of `shape`. Empty input keeps its rank."""
    array = np.array(values, dtype=np.float64, order="C")
    return array if shape is None else np.ascontiguousarray(array.reshape(shape))
