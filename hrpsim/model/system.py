# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The arrays that every dynamics kernel reads: a forest of rigid bodies with joints to parents.

A `System` describes one robot, or a whole world of robots and free bodies laid one after another. A
*body* is moved by one joint, and consists of a URDF link with all links fixed to it. Bodies are in
topological order (parent before child), and each tree is contiguous.

Every joint moves about or along the z axis of the joint frame. The body frame is the joint frame,
displaced by the motion of the joint. The body frame therefore differs from the URDF link frame by
the fixed placement in `Frame`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.model.readers.urdf.joint_motions import MOTIONS

FIXED, REVOLUTE, PRISMATIC, FREE = (motion.code for motion in MOTIONS)
JOINT_NQ = tuple(motion.q_count for motion in MOTIONS)
JOINT_NV = tuple(motion.v_count for motion in MOTIONS)


class System(NamedTuple):
    """Constants of a forest of `n` bodies with `nv` degrees of freedom.

    All arrays are C-contiguous. Integers are int64, the rest float64. `parent` is -1 for a body
    attached to the world. `placement_R`, `placement_p` place the joint frame in the parent's body
    frame (R_parent_joint, p_parent [m]). `inertia` is about `com`. Both are in the body frame.
    The configuration of a FREE body is x y z qx qy qz qw. The velocity in kernels is the angular
    velocity, then the velocity of the body origin, both along the world's axes.

    A ball joint is three successive REVOLUTE bodies about x, y and z. The three positions are the
    rotation vector [rad], the three rates the angular velocity along the axes of the moved body.
    All three bodies have the orientation after the whole rotation, so the axes never align.
    """

    parent: np.ndarray  # (n,)
    root: np.ndarray  # (n,) index of the first body of the tree
    joint_type: np.ndarray  # (n,) FIXED, REVOLUTE, PRISMATIC or FREE
    ball: np.ndarray  # (n,) 1, 2 or 3 for the three bodies of a ball joint, else 0
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


_INTEGERS = {"parent", "root", "joint_type", "ball", "q_index", "v_index", "dof_body", "mimic_dof"}
_SHAPES = {"placement_R": (3, 3), "placement_p": (3,), "com": (3,), "inertia": (3, 3)}


@dataclass
class Dof:
    """Constants of one degree of freedom, as in `System`. The defaults are for a free base."""

    dof_body: int
    rotor_inertia: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    velocity_limit: float = math.inf
    effort_limit: float = math.inf
    mimic_dof: int = -1
    mimic_ratio: float = 1.0
    mimic_offset: float = 0.0


def new_system(given: Mapping[str, ArrayLike], dofs: Iterable[Dof] = ()) -> System:
    """Return a `System` of copies in the documented types.

    Args:
        given: values of each array by name. Missing arrays are empty.
        dofs: degrees of freedom, whose arrays replace arrays in `given`.
    """
    columns = dict(given)
    if dofs := list(dofs):
        columns |= {field.name: [getattr(dof, field.name) for dof in dofs] for field in fields(Dof)}
    made = {}
    for name in System._fields:
        kind = np.int64 if name in _INTEGERS else np.float64
        array = np.array(columns.get(name, ()), dtype=kind, order="C")
        made[name] = np.ascontiguousarray(array.reshape(-1, *_SHAPES.get(name, ())))
    return System(**made)
