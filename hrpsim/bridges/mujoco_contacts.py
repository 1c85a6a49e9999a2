# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's names that the facade has, and contacts: `MjData.contact`, `mj_contactForce`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.world.world import World

_UNSEEN = ("mjGEOM_PLANE", "mjGEOM_HFIELD", "mjGEOM_SDF")  # no shapes of links
# Functions of the state alone, which MuJoCo computes from what the facade keeps up to date.
FUNCTIONS = frozenset(
    (
        *("mj_jac", "mj_jacBody", "mj_jacBodyCom", "mj_jacDot", "mj_jacGeom", "mj_jacPointAxis"),
        *("mj_jacSite", "mj_jacSubtreeCom", "mj_fullM", "mj_mulM", "mj_mulM2", "mj_addM"),
        *("mj_solveM", "mj_solveM2", "mj_rne", "mj_angmomMat", "mj_applyFT", "mj_geomDistance"),
        *("mj_objectVelocity", "mj_differentiatePos", "mj_integratePos", "mj_normalizeQuat"),
        *("mj_local2Global", "mj_getTotalmass", "mj_ray", "mj_multiRay", "mj_insideSite"),
        *("mj_name2id", "mj_id2name"),
        *("mj_printModel", "mj_printFormattedModel", "mj_saveLastXML", "mj_saveModel"),
        *("mj_sizeModel", "mj_version", "mj_versionString", "mj_loadAllPluginLibraries"),
        *("mj_loadPluginLibrary", "mj_defaultOption", "mj_defaultVisual", "mj_defaultSolRefImp"),
    )
)
# What a field of MjData needs computed of qpos and qvel; what needs more includes what needs less,
# but for sensors, which poses alone do not include.
STATE, SENSORS, POSES, VELOCITIES, DYNAMICS = range(5)
_BY_NEED = {
    STATE: (
        *("time", "qpos", "qvel", "qacc", "ctrl", "qfrc_applied", "xfrc_applied", "userdata"),
        *("actuator_force", "qfrc_actuator", "mocap_pos", "mocap_quat"),
    ),
    POSES: (
        *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat"),
        *("site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir"),
        *("subtree_com", "cdof", "cinert", "ten_length", "ten_J", "ten_wrapadr", "ten_wrapnum"),
        *("wrap_xpos", "actuator_length", "actuator_moment", "moment_colind", "moment_rowadr"),
        *("moment_rownnz", "cfrc_ext"),
    ),
    SENSORS: ("sensordata",),
    VELOCITIES: ("subtree_linvel", "subtree_angmom", "cdof_dot", "cvel"),
    DYNAMICS: (
        *("crb", "qM", "M", "qfrc_bias", "qfrc_passive", "qfrc_spring", "qfrc_damper"),
        "qfrc_gravcomp",
    ),
}
NEEDS = {name: need for need, names in _BY_NEED.items() for name in names}
# Methods of MjData that return the fields of an object of a name or number.
OBJECTS = frozenset(
    (
        *("actuator", "body", "cam", "camera", "geom", "jnt", "joint", "light", "sensor", "site"),
        *("ten", "tendon"),
    )
)
FIELDS = OBJECTS.union(NEEDS)  # of MjData, valid after each step


class MissingNameError(HrpsimError, AttributeError):
    """A name of MuJoCo that the facade does not have."""


def missing(name: str, cure: str) -> MissingNameError:
    """Return the error of a missing name."""
    return MissingNameError(f"{name} is not in hrpsim.bridges.mujoco: {cure}")


def on_natives(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of MuJoCo that also takes the facade's models and data."""

    def native(value):
        return value.for_mujoco() if hasattr(value, "for_mujoco") else value

    def call(*arguments, **named):
        return function(
            *map(native, arguments), **{name: native(value) for name, value in named.items()}
        )

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


class NamedObject:
    """The fields of one object, returned by `data.body(name)`. Each is computed when it is read."""

    def __init__(self, view: Any, lend: Callable[[int, Any], Any]):
        self._view, self._lend = view, lend

    def __getattr__(self, name: str) -> Any:
        """Return a field of the object. The field `data` belongs to sensors."""
        need = NEEDS.get(name, SENSORS if name == "data" else STATE)
        return self._lend(need, getattr(self._view, name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field of the object."""
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            setattr(self._view, name, value)

    def __repr__(self) -> str:
        self._lend(DYNAMICS, None)
        return repr(self._view)


class FixedArray(np.ndarray):
    """An array of a model. Writing raises an error, because the write would have no effect."""

    def __setitem__(self, index, value) -> None:
        raise HrpsimError(
            "a field of MjModel cannot be written to: hrpsim's world was made of the file; change "
            "the file or the text (MjModel.from_xml_string), and opt.timestep, opt.gravity here"
        )


def fixed(value: Any) -> Any:
    """Return a value of a model, or a read-only view of an array."""
    if not isinstance(value, np.ndarray):
        return value
    view = value.view(FixedArray)
    view.flags.writeable = False
    return view


class MjContact(NamedTuple):
    """A contact point. The rows of `frame` are the normal from geom1 to geom2, and two tangents."""

    geom1: int
    geom2: int
    dist: float  # negative inside [m]
    pos: np.ndarray  # (3,) [m]
    frame: np.ndarray  # (9,)
    force: np.ndarray  # on geom2 along the rows of the frame (3,) [N]
    dim: int = 3

    @property
    def geom(self) -> np.ndarray:
        """Both geoms (2,)."""
        return np.array([self.geom1, self.geom2])


class Contacts(list[MjContact]):
    """The contacts of a step. Fields are also arrays, as in MuJoCo: `contact.geom`."""

    def __getattr__(self, name: str) -> np.ndarray:
        """Return a field of all contacts (n, ...)."""
        if name.startswith("_") or not hasattr(MjContact, name):
            raise AttributeError(name)
        return np.array([getattr(contact, name) for contact in self])


class ContactGeoms:
    """The map from shapes of a world to geoms of the world's MJCF."""

    def __init__(self, m, world: World):
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
        self._body_of_geom = np.append(m.geom_bodyid, 0)  # the world's of -1
        self._root = m.body_rootid

    def contacts(self, world: World) -> Contacts:
        """Return the contacts of the last step."""
        found = world.contact_arrays()
        records = world.reader.contacts.whole.contacts[: len(found)]
        on, by = self._geoms[records["shape_a"]], self._geoms[records["shape_b"]]
        sign = np.where(on < by, -1.0, 1.0)[:, None]  # forces and normals: on the second
        frames = _frames_along(sign * found.normals)
        forces = np.einsum("nij,nj->ni", frames, sign * found.forces)
        columns = found.points, frames.reshape(-1, 9), forces
        pairs = np.minimum(on, by).tolist(), np.maximum(on, by).tolist()
        return Contacts(map(MjContact, *pairs, found.gaps.tolist(), *columns))

    def external_wrenches(self, contacts: Contacts, native) -> np.ndarray:
        """Return the wrench of contacts and xfrc_applied on each body, as MuJoCo's cfrc_ext (n, 6).

        Torque about the centre of mass of the body's tree, then force.
        """
        wrenches = np.zeros((len(self._root), 6))
        centres = native.subtree_com[self._root]
        if contacts:
            frames, points = contacts.frame.reshape(-1, 3, 3), contacts.pos
            forces = np.einsum("nij,ni->nj", frames, contacts.force)
            for geoms, sign in ((contacts.geom1, -1.0), (contacts.geom2, 1.0)):
                bodies = self._body_of_geom[geoms]
                moments = np.cross(points - centres[bodies], forces)
                np.add.at(wrenches, bodies, sign * np.hstack([moments, forces]))
        for body in np.flatnonzero(native.xfrc_applied.any(axis=1)):
            force, torque = native.xfrc_applied[body, :3], native.xfrc_applied[body, 3:]
            wrenches[body, :3] += torque + np.cross(native.xipos[body] - centres[body], force)
            wrenches[body, 3:] += force
        wrenches[0] = 0.0  # the world's own, as in MuJoCo
        return wrenches


def _geoms_by_link(m):
    """Return iterators over the geoms that collide, by link, in the order of the link's shapes."""
    import mujoco

    unseen = [int(getattr(mujoco.mjtGeom, name)) for name in _UNSEEN]
    paired = {*map(int, m.pair_geom1), *map(int, m.pair_geom2)}
    found: dict[str, list[int]] = {}
    for geom in range(m.ngeom):
        body = int(m.geom_bodyid[geom])
        solid = m.geom_contype[geom] or m.geom_conaffinity[geom] or geom in paired
        if body and solid and m.geom_type[geom] not in unseen:
            found.setdefault(m.body(body).name or f"body{body}", []).append(geom)
    return {link: iter(geoms) for link, geoms in found.items()}


def _frames_along(normals: np.ndarray) -> np.ndarray:
    """Return frames (n, 3, 3) with the given unit vectors (n, 3) as first rows."""
    steep = np.abs(normals[:, 1]) >= 0.5
    others = np.where(steep[:, None], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    first = others - np.sum(others * normals, axis=1, keepdims=True) * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([normals, first, np.cross(normals, first)], axis=1)
