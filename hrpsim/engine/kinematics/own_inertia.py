# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The smallest inertia that each joint moves. Implicit steps need it for the joint's damper.

The smallest inertia is the inertia of the joint's link and rotor, unless the link is light. A light
link models a detail of a joint, such as the plates of a rubber bush or the axes of a universal
joint. The joint then moves the bodies that the link carries. With the joint-space inertia M, the
joint moves the inertia 1 / (M^-1)_kk if all other joints are free. If any other joint is locked,
the inertia is larger.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.model.system import FREE, JOINT_NV, PRISMATIC

# Share of the mass that it carries, its own included, below which a link is light.
_LIGHT = 0.05
# Part of the diagonal of M that is added to it, so that what moves without inertia has some.
_LEAST = 1e-9


class OwnInertia(NamedTuple):
    """Smallest inertias of degrees of freedom [kg m^2 or kg], and derivatives. 0 at free bodies."""

    inertia: np.ndarray  # (nv,)
    by_body: np.ndarray  # (nv, n) for a relative change of a body's mass and inertia
    by_rotor: np.ndarray  # (nv, nv) for a change of a rotor's inertia


def own_inertia(bodies: np.ndarray, dofs: np.ndarray) -> OwnInertia:
    """Return the smallest inertia that each joint moves.

    For light links, the inertia is evaluated with springs relaxed and all other joints at zero. If
    zero is outside a joint's limits, the nearer limit is used.

    Args:
        bodies: records of the bodies of a forest (n,).
        dofs: records of the degrees of freedom of the forest (nv,).
    """
    single = np.flatnonzero([JOINT_NV[kind] == 1 for kind in bodies["joint_type"].tolist()])
    at, rotor = bodies["v_index"][single], dofs["rotor_inertia"]
    inertia, by_rotor = np.zeros(len(dofs)), np.zeros((len(dofs), len(dofs)))
    by_body = np.zeros((len(dofs), len(bodies)))
    by_body[at, single], by_rotor[at, at] = _of_links(bodies[single]), 1.0
    inertia[at] = rotor[at] + by_body[at, single]
    light = single[bodies["mass"][single] < _LIGHT * _carried(bodies)[single]]
    for root in np.unique(bodies["root"][light]):
        tree = np.flatnonzero(bodies["root"] == root)
        columns, motions, inertias = _tree_at_rest(bodies, dofs, tree)
        inverse = _inverse(_joint_space(motions, inertias, rotor[columns]))
        for i in light[bodies["root"][light] == root]:
            k = bodies["v_index"][i]
            response = inverse[np.flatnonzero(columns == k)[0]]
            seen = 1.0 / response[columns == k][0]
            if seen <= inertia[k]:
                continue
            moved = motions @ (seen * response)
            inertia[k] = seen
            by_body[k], by_rotor[k] = 0.0, 0.0
            by_body[k, tree] = np.einsum("nr,nrc,nc->n", moved, inertias, moved)
            by_rotor[k, columns] = (seen * response) ** 2
    return OwnInertia(inertia, by_body, by_rotor)


def _of_links(bodies: np.ndarray) -> np.ndarray:
    """Return each link's inertia about the joint's z axis, or the mass for a prismatic joint."""
    mass, (x, y, _) = bodies["mass"], bodies["com"].T
    turned = bodies["inertia"][:, 2, 2] + mass * (x * x + y * y)
    return np.where(bodies["joint_type"] == PRISMATIC, mass, turned)


def _carried(bodies: np.ndarray) -> np.ndarray:
    """Return the mass (n,) of the subtree of each body."""
    carried = bodies["mass"].copy()
    for i in range(len(bodies) - 1, -1, -1):
        if bodies["parent"][i] >= 0:
            carried[bodies["parent"][i]] += carried[i]
    return carried


def _tree_at_rest(
    bodies: np.ndarray, dofs: np.ndarray, tree: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return degrees of freedom, Jacobians and inertias of a tree of t bodies.

    Velocities are spatial, about the origin of the root, angular part first.

    Returns:
        (indices of the m degrees of freedom, Jacobians (t, 6, m), spatial inertias (t, 6, 6)).
    """
    counts = [JOINT_NV[kind] for kind in bodies["joint_type"][tree].tolist()]
    first = np.concatenate(([0], np.cumsum(counts)))
    columns = np.concatenate(
        [bodies["v_index"][i] + np.arange(count) for i, count in zip(tree, counts)]
    ).astype(np.int64)
    motions, inertias = np.zeros((len(tree), 6, len(columns))), np.zeros((len(tree), 6, 6))
    places: list[tuple[np.ndarray, np.ndarray]] = []
    for number, i in enumerate(tree.tolist()):
        body, at = bodies[i], first[number]
        R, p = np.eye(3), np.zeros(3)
        if body["joint_type"] == FREE:
            motions[number, :, at : at + 6] = np.eye(6)
        else:
            if body["parent"] >= 0:
                above = body["parent"] - tree[0]
                R, p = places[above]
                motions[number] = motions[above]
            R, p = R @ body["placement_R"], p + R @ body["placement_p"]
            if counts[number] == 1:
                position = _resting(dofs[body["v_index"]])
                if body["joint_type"] == PRISMATIC:
                    p = p + position * R[:, 2]
                    motions[number, 3:, at] = R[:, 2]
                else:
                    c, s = np.cos(position), np.sin(position)
                    motions[number, :3, at] = R[:, 2]
                    motions[number, 3:, at] = np.cross(p, R[:, 2])
                    R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        places.append((R, p))
        inertias[number] = _placed(body, R, p)
    return columns, motions, inertias


def _resting(dof: np.void) -> float:
    """Return the position of a joint at which inertias are evaluated."""
    if dof["stiffness"] > 0.0:
        return float(dof["rest"])
    return float(min(max(0.0, dof["lower"]), dof["upper"]))


def _placed(body: np.void, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the spatial inertia (6, 6) of a body about the origin of the frame of R and p."""
    x, y, z = p + R @ body["com"]
    cross, mass = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), body["mass"]
    out = np.empty((6, 6))
    out[:3, :3] = R @ body["inertia"] @ R.T - mass * cross @ cross
    out[:3, 3:], out[3:, :3], out[3:, 3:] = mass * cross, -mass * cross, mass * np.eye(3)
    return out


def _joint_space(motions: np.ndarray, inertias: np.ndarray, rotor: np.ndarray) -> np.ndarray:
    """Return the joint-space inertia (m, m) of a tree."""
    momenta = inertias @ motions
    return np.einsum("trk,trl->kl", motions, momenta) + np.diag(rotor)


def _inverse(M: np.ndarray) -> np.ndarray:
    """Return the inverse of a joint-space inertia (m, m) with a little added to the diagonal."""
    diagonal = np.diag(M)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = scale[:, None] * M * scale + np.diag(np.full(len(M), _LEAST))
    return scale[:, None] * np.linalg.inv(scaled) * scale
