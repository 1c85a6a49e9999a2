# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Poses and velocities of many links at once."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from hrpsim.jit.compiled import entry_point, inlined_kernel, kernel
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forest import Forest
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.spatial.rotation import quaternion_from_rotation

# a link's frame in the body that carries it
LINK = np.dtype(
    [
        ("body", "i8"),  # -1: the world
        ("R", "f8", (3, 3)),
        ("p", "f8", (3,)),  # [m]
    ]
)


class LinkSources(NamedTuple):
    """The arrays that states of links are computed from."""

    forest: Forest
    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,) kernels' layout
    kinematics: np.ndarray  # (n,) KINEMATICS, work
    links: np.ndarray  # (k,) LINK
    rotation: np.ndarray  # (3, 3) work


class LinkReaders:
    """The kernels that read links, made ready for one scene when they are first used."""

    @cached_property
    def links(self) -> Reference:
        """The arrays that states of links are read from."""
        raise NotImplementedError

    @cached_property
    def read_poses(self):
        """Call with `links`, positions and orientations to be written."""
        return entry_point(read_link_poses, self.links, np.empty((0, 3)), np.empty((0, 4)))

    @cached_property
    def read_velocities(self):
        """Call with `links`, linear and angular velocities to be written."""
        return entry_point(read_link_velocities, self.links, np.empty((0, 3)), np.empty((0, 3)))


def link_records(frames) -> np.ndarray:
    """Return LINK records of frames: anything with `body`, `R` and `p`."""
    links = np.zeros(len(frames), dtype=LINK)
    for record, frame in zip(links, frames, strict=True):
        record["body"], record["R"], record["p"] = frame.body, frame.R, frame.p
    return links


@kernel
def read_link_poses(s, positions, orientations):
    """Write positions (k, 3) [m] and quaternions x y z w (k, 4) of the links, in the world."""
    update_poses(s.forest, s.q, s.kinematics)
    for k in range(s.links.shape[0]):
        place_link(s, s.links[k], s.rotation, positions[k])
        quaternion_from_rotation(s.rotation, orientations[k])
    return 0


@inlined_kernel
def place_link(s, link, R_out, position_out):
    """Write rotation (3, 3) and origin (3,) [m] of a LINK in the world; poses must be current."""
    L, t = link.R, link.p
    if link.body < 0:
        for r in range(3):
            position_out[r] = t[r]
            for c in range(3):
                R_out[r, c] = L[r, c]
        return
    here = s.kinematics[link.body]
    origin = s.kinematics[s.forest.bodies[link.body].root].origin
    R = here.R
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        position_out[r] = origin[r] + (here.p[r] + (x * t[0] + y * t[1] + z * t[2]))
        for c in range(3):
            R_out[r, c] = x * L[0, c] + y * L[1, c] + z * L[2, c]


@kernel
def read_link_velocities(s, linear, angular):
    """Write velocities of the links' origins (k, 3) [m/s] and angular ones (k, 3) [rad/s]."""
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.velocity, s.kinematics)
    for k in range(s.links.shape[0]):
        link = s.links[k]
        if link.body < 0:
            for r in range(3):
                linear[k, r] = angular[k, r] = 0.0
        else:
            _read_velocity(s.kinematics[link.body], link.p, linear[k], angular[k])
    return 0


@inlined_kernel
def _read_velocity(here, t, linear_out, angular_out):
    """Write how the point t of a body's frame moves, and how the body turns."""
    R, p, v = here.R, here.p, here.v
    x = p[0] + (R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2])
    y = p[1] + (R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2])
    z = p[2] + (R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2])
    linear_out[0] = v[3] + (v[1] * z - v[2] * y)
    linear_out[1] = v[4] + (v[2] * x - v[0] * z)
    linear_out[2] = v[5] + (v[0] * y - v[1] * x)
    for r in range(3):
        angular_out[r] = v[r]
