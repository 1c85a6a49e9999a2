# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts: `MjData.contact`, `mj_contactForce`, `MjData.cfrc_ext`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bridges.mujoco.native import missing, package
from hrpsim.world.world import World

_UNSEEN = ("mjGEOM_PLANE", "mjGEOM_HFIELD", "mjGEOM_SDF")  # shapes that links cannot have


class MjContact(NamedTuple):
    """A contact point. The rows of `frame` are the normal from geom1 to geom2, and two tangents."""

    geom1: int
    geom2: int
    dist: float  # negative inside [m]
    pos: np.ndarray  # (3,) [m]
    frame: np.ndarray  # (9,)
    force: np.ndarray  # on geom2 along the rows of the frame (3,) [N]
    torque: np.ndarray  # on geom2 about the rows of the frame (3,) [Nm]
    friction: np.ndarray  # (5,) two tangents, spin and rolling about two axes, as MuJoCo has them
    dim: int
    exclude: int = 0

    @property
    def geom(self) -> np.ndarray:
        """Both geoms (2,)."""
        return np.array([self.geom1, self.geom2])

    def __getattr__(self, name: str) -> Any:
        """Refuse the other fields of mujoco.MjContact by name."""
        if hasattr(package().MjContact, name):
            raise missing(f"MjContact.{name}", f"there are {', '.join((*self._fields, 'geom'))}")
        raise AttributeError(name)


class Contacts(list[MjContact]):
    """The contacts of a step. A field of all contacts is an array, such as `contact.geom`."""

    def __getattr__(self, name: str) -> np.ndarray:
        """Return a field of all contacts (n, ...)."""
        if name.startswith("_"):
            raise AttributeError(name)
        if not hasattr(MjContact, name) and hasattr(package().MjContact, name):
            raise missing(f"MjContact.{name}", f"there are {', '.join(MjContact._fields)}, geom")
        return np.array([getattr(contact, name) for contact in self])


class ContactGeoms:
    """Maps the shapes of a world to the geoms of the MJCF from which the world was made."""

    def __init__(self, m, world: World) -> None:
        statics = {
            re.sub(r"[^\w.-]", "_", m.geom(geom).name) or f"geom{geom}": geom
            for geom in reversed(range(m.ngeom))
        }
        left = _geoms_by_link(m)
        self._geoms = np.array(
            [
                statics.get(link, -1) if entity == "world" else next(left.get(link, iter(())), -1)
                for entity, link in world.reader.table.owners
            ],
            dtype=int,
        )
        self._body_of_geom = np.append(m.geom_bodyid, 0)  # the world's body for -1
        self._root = m.body_rootid
        self._friction, self._priority = m.geom_friction, m.geom_priority
        self._dim, self._pair_dim = m.geom_condim, m.pair_dim
        self._pairs = {
            tuple(sorted(pair)): k
            for k, pair in enumerate(zip(m.pair_geom1.tolist(), m.pair_geom2.tolist()))
        }
        self._pair_friction = m.pair_friction

    def contacts(self, world: World) -> Contacts:
        """Return the contacts of the last step.

        A contact touches or transmits force, as in MuJoCo.
        """
        arrays = world.contact_arrays()
        is_closed = (arrays.gaps <= 0.0) | arrays.forces.any(axis=1)
        for name in ("points", "normals", "forces", "gaps"):
            setattr(arrays, name, getattr(arrays, name)[is_closed])
        records = world.reader.contacts.whole.contacts[: len(is_closed)][is_closed]
        on, by = self._geoms[records["shape_a"]], self._geoms[records["shape_b"]]
        sign = np.where(on < by, -1.0, 1.0)[:, None]  # forces and normals: on the second
        frames = _frames_along(sign * arrays.normals)
        forces = np.einsum("nij,nj->ni", frames, sign * arrays.forces)
        torques = np.einsum("nij,nj->ni", frames, sign * _moments(world, records))
        columns = arrays.points, frames.reshape(-1, 9), forces, torques
        pairs = np.minimum(on, by).tolist(), np.maximum(on, by).tolist()
        frictions, dims = self._frictions(*pairs)
        return Contacts(
            map(MjContact, *pairs, arrays.gaps.tolist(), *columns, frictions, dims.tolist())
        )

    def _frictions(self, first: list[int], second: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return friction coefficients (n, 5) and condim (n,) of pairs of geoms, as in MuJoCo."""
        lead = (self._priority[first] - self._priority[second])[:, None]
        frictions, dims = (
            np.where(lead > 0, a, np.where(lead < 0, b, np.maximum(a, b)))
            for a, b in ((of[first], of[second]) for of in (self._friction, self._dim[:, None]))
        )
        frictions, dims = frictions[:, [0, 0, 1, 2, 2]], dims[:, 0]
        for k, pair in enumerate(zip(first, second) if self._pairs else ()):
            if pair in self._pairs:
                number = self._pairs[pair]
                frictions[k], dims[k] = self._pair_friction[number], self._pair_dim[number]
        return frictions, dims

    def external_wrenches(self, contacts: Contacts, native, applied: np.ndarray) -> np.ndarray:
        """Return the wrenches of contacts and xfrc_applied on the bodies, MuJoCo's cfrc_ext (n, 6).

        Each row has the torque about the centre of mass of the body's kinematic tree, then the
        force.

        applied: xfrc_applied.
        """
        wrenches = np.zeros((len(self._root), 6))
        centres = native.subtree_com[self._root]
        if contacts:
            frames, points = contacts.frame.reshape(-1, 3, 3), contacts.pos
            forces = np.einsum("nij,ni->nj", frames, contacts.force)
            torques = np.einsum("nij,ni->nj", frames, contacts.torque)
            for geoms, sign in ((contacts.geom1, -1.0), (contacts.geom2, 1.0)):
                bodies = self._body_of_geom[geoms]
                moments = np.cross(points - centres[bodies], forces) + torques
                np.add.at(wrenches, bodies, sign * np.hstack([moments, forces]))
        for body in np.flatnonzero(applied.any(axis=1)):
            force, torque = applied[body, :3], applied[body, 3:]
            wrenches[body, :3] += torque + np.cross(native.xipos[body] - centres[body], force)
            wrenches[body, 3:] += force
        wrenches[0] = 0.0  # zero for the world, as in MuJoCo
        return wrenches


def touch_sensors(m) -> list[tuple[int, int]]:
    """Return (index in sensordata, site) for each touch sensor of a mujoco.MjModel."""
    kind = package().mjtSensor.mjSENS_TOUCH
    return [
        (int(m.sensor_adr[k]), int(m.sensor_objid[k]))
        for k in range(m.nsensor)
        if m.sensor_type[k] == kind
    ]


def touch_forces(m, data, sensors: list[tuple[int, int]], contacts: Contacts) -> None:
    """Write the sum of normal forces [N] through the zone of each touch sensor, as MuJoCo does.

    A force counts if its line of action meets the zone.

    data: a mujoco.MjData with poses.
    """
    for at, site in sensors:
        body, total = m.site_bodyid[site], 0.0
        place = data.site_xpos[site], data.site_xmat[site], m.site_size[site]
        for contact in contacts:
            bodies = m.geom_bodyid[contact.geom1], m.geom_bodyid[contact.geom2]
            if body in bodies and contact.force[0] > 0.0:
                ray = contact.frame[:3] * (-1.0 if body == bodies[1] else 1.0)
                if _meets(m, site, place, contact.pos, ray):
                    total += contact.force[0]
        data.sensordata[at] = total


def _meets(m, site: int, place: tuple, point: np.ndarray, ray: np.ndarray) -> bool:
    """Return whether a ray intersects the zone of a site.

    Args:
        m: a mujoco.MjModel.
        site: index of the site.
        place: position (3,), rotation (9,) and size (3,) of the site.
        point: start of the ray in the world (3,) [m].
        ray: direction of the ray (3,).
    """
    return package().mju_rayGeom(*place, point, ray, int(m.site_type[site])) >= 0.0


def _geoms_by_link(m):
    """Return iterators over the colliding geoms of each link, in the order of its shapes."""
    unseen = [int(getattr(package().mjtGeom, name)) for name in _UNSEEN]
    paired = {*map(int, m.pair_geom1), *map(int, m.pair_geom2)}
    geoms_of: dict[str, list[int]] = {}
    for geom in range(m.ngeom):
        body = int(m.geom_bodyid[geom])
        solid = m.geom_contype[geom] or m.geom_conaffinity[geom] or geom in paired
        if body and solid and m.geom_type[geom] not in unseen:
            geoms_of.setdefault(m.body(body).name or f"body{body}", []).append(geom)
    return {link: iter(geoms) for link, geoms in geoms_of.items()}


def _moments(world: World, records: np.ndarray) -> np.ndarray:
    """Return the moments of torsional and rolling friction (n, 3) [Nm] on the first shapes.

    records: CONTACT records (n,).
    """
    scene, result = world.scene, np.zeros((len(records), 3))
    if scene.settings["turning_friction"][0]:
        key = ["shape_a", "shape_b", "feature"]
        moments = scene.collision.moments[: scene.counts[0]["moment_count"]]
        by_key = dict(zip(moments[key].tolist(), moments["impulse"] / world.time_step, strict=True))
        for k, triple in enumerate(records[key].tolist()):
            result[k] = by_key.get(triple, 0.0)
    return result


def _frames_along(normals: np.ndarray) -> np.ndarray:
    """Return frames (n, 3, 3) whose first rows are the given unit vectors (n, 3)."""
    steep = np.abs(normals[:, 1]) >= 0.5
    others = np.where(steep[:, None], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    first = others - np.sum(others * normals, axis=1, keepdims=True) * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([normals, first, np.cross(normals, first)], axis=1)
