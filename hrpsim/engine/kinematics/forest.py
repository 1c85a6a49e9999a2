# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constants of a forest of bodies for the kernels: one record for each body and joint axis.

Fields that are used together are adjacent in memory. Array strides are known at compile time.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, constant
from hrpsim.engine.kinematics.own_inertia import own_inertia
from hrpsim.model.system import FREE, JOINT_NV, System

BODY = np.dtype(
    [
        ("parent", "i8"),  # parent body; -1: the world
        ("root", "i8"),
        ("joint_type", "i8"),
        ("ball", "i8"),  # 1, 2 or 3 for the bodies of a ball joint (hrpsim.model.system), else 0
        ("q_index", "i8"),
        ("v_index", "i8"),
        ("placement_R", "f8", (3, 3)),
        ("placement_p", "f8", (3,)),
        ("mass", "f8"),
        ("com", "f8", (3,)),
        ("inertia", "f8", (3, 3)),
    ]
)

DOF = np.dtype(
    [
        ("body", "i8"),
        ("q_index", "i8"),  # index of the joint position in q; -1: FREE body
        ("rotor_inertia", "f8"),
        ("own_inertia", "f8"),  # smallest inertia that the joint moves (.own_inertia)
        ("turns_freely", "i8"),  # 1: single body of a tree, with the origin at the centre of mass
        ("stiffness", "f8"),
        ("rest", "f8"),
        ("damping", "f8"),
        ("friction", "f8"),
        ("lower", "f8"),
        ("upper", "f8"),
        ("velocity_limit", "f8"),
        ("effort_limit", "f8"),
        ("mimic_dof", "i8"),
        ("mimic_ratio", "f8"),
        ("mimic_offset", "f8"),
    ]
)


class Forest(NamedTuple):
    """The fields of hrpsim.model.system.System, gathered into records for the kernels."""

    bodies: np.ndarray = constant(
        "each body: inertia, joint, place in its tree",
        BODY,
        Axis.BODY,
        refers={
            "parent": Axis.BODY,
            "root": Axis.BODY,
            "q_index": Axis.POSITION,
            "v_index": Axis.DOF,
        },
    )
    dofs: np.ndarray = constant(
        "each degree of freedom: limits, springs, friction",
        DOF,
        Axis.DOF,
        refers={"body": Axis.BODY, "q_index": Axis.POSITION, "mimic_dof": Axis.DOF},
    )
    order: np.ndarray = constant(
        "bodies, parents first, tree by tree: see `breadth_first`", "i8", Axis.BODY
    )
    joints: np.ndarray = constant(
        "degrees of freedom of joints, then none: see `joints_first`", "i8", Axis.DOF
    )


def forest_of(system: System) -> Forest:
    """Return the records of a system."""
    bodies = np.zeros(len(system.parent), dtype=BODY)
    for name in BODY.names:
        bodies[name] = getattr(system, name)
    dofs = np.zeros(len(system.dof_body), dtype=DOF)
    dofs["body"] = system.dof_body
    for name in set(DOF.names) & set(System._fields) - {"q_index"}:
        dofs[name] = getattr(system, name)
    dofs["q_index"] = -1
    kinds, children = (
        bodies["joint_type"],
        np.bincount(system.parent[system.parent >= 0], minlength=len(bodies)),
    )
    single = np.flatnonzero([JOINT_NV[kind] == 1 for kind in kinds.tolist()])
    dofs["q_index"][bodies["v_index"][single]] = bodies["q_index"][single]
    dofs["own_inertia"] = own_inertia(bodies, dofs).inertia
    alone = (kinds == FREE) & (children == 0) & ~bodies["com"].any(axis=1)
    for dof in bodies["v_index"][alone]:
        dofs["turns_freely"][dof : dof + 6] = 1
    order = breadth_first(bodies["parent"], bodies["root"])
    return Forest(bodies, dofs, order, joints_first(dofs["q_index"]))


def joints_first(q_index: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom of joints, padded with nv to the length nv.

    A loop over joints stops at the first nv, and so skips the records of free bodies.
    """
    count = len(q_index)
    joints = np.full(count, count, dtype=np.int64)
    joint_dofs = np.flatnonzero(q_index >= 0)
    joints[: len(joint_dofs)] = joint_dofs
    return joints


def breadth_first(parent: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return the bodies of each tree, ordered by depth.

    Consecutive bodies are then mostly on different limbs, so that the processor computes several in
    parallel. Along a limb, each body depends on its predecessor.
    """
    depth: list[int] = []
    for above in parent.tolist():
        depth.append(depth[above] + 1 if above >= 0 else 0)
    return np.lexsort((depth, root)).astype(np.int64)
