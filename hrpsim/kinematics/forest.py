"""The constants of a forest of bodies as the kernels read them: a record a body, one a joint axis.

Records keep what is used together side by side in memory, and give kernels array strides that
are known when they are compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.model.system import JOINT_NV, System

BODY = np.dtype(
    [
        ("parent", "i8"),  # -1 for a body that hangs on the world
        ("root", "i8"),
        ("joint_type", "i8"),
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
        ("q_index", "i8"),  # of a joint's position; -1 for a degree of freedom of a FREE body
        ("rotor_inertia", "f8"),
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
    """Fields as in hrpsim.model.system.System, gathered into records."""

    bodies: np.ndarray  # (n,) BODY
    dofs: np.ndarray  # (nv,) DOF
    order: np.ndarray  # (n,) bodies, parents first, tree by tree: see `breadth_first`


def forest_of(system: System) -> Forest:
    """Return the records of a system."""
    bodies = np.zeros(len(system.parent), dtype=BODY)
    for name in BODY.names:
        bodies[name] = getattr(system, name)
    dofs = np.zeros(len(system.dof_body), dtype=DOF)
    dofs["body"] = system.dof_body
    for name in DOF.names[2:]:
        dofs[name] = getattr(system, name)
    dofs["q_index"] = -1
    for body in bodies:
        if JOINT_NV[body["joint_type"]] == 1:
            dofs["q_index"][body["v_index"]] = body["q_index"]
    return Forest(bodies, dofs, breadth_first(bodies["parent"], bodies["root"]))


def breadth_first(parent: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return the bodies of each tree by their depth.

    Bodies that follow each other are then on different limbs, and a processor works on several
    at once; along a limb each would wait for the one before.
    """
    depth = np.zeros(len(parent), dtype=np.int64)
    for body, above in enumerate(parent):
        if above >= 0:
            depth[body] = depth[above] + 1
    return np.lexsort((depth, root)).astype(np.int64)
