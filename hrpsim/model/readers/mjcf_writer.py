# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write MJCF of a `RobotData` by MuJoCo's MjSpec, and note what is not written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.common.extras import missing_package
from hrpsim.common.foreign.xml_text import xml_root
from hrpsim.model.readers import robot_data
from hrpsim.model.readers.robot_data import (
    WORLD_LINK,
    JointData,
    LinkData,
    Notes,
    ShapeData,
    note_unwritten,
)
from hrpsim.model.readers.urdf_writer import exact_text
from hrpsim.model.shapes.placement import IDENTITY, Placement, quaternion_of

MeshName = Callable[[robot_data.MeshData | robot_data.MeshFile], str]
_LOOPS = ("ball", "fixed")
_Exact = dict[tuple[str, str], dict[str, Any]]  # numbers by tag and name: attribute, values
_VISUAL_GROUP, _COLLISION_GROUP = 2, 3


def write_mjcf(
    robot: robot_data.RobotData, mesh_name: MeshName, assets: Mapping[str, bytes]
) -> tuple[str, list[str]]:
    """Return the text of an MJCF, and lines on elements that are not written.

    A chain of links without mass and the link below become one body with several joints.

    Args:
        robot: the robot.
        mesh_name: returns the name of the file of each mesh, relative to the MJCF.
        assets: contents of these files, scaled.

    Raises:
        ModelError: MuJoCo cannot compile the robot, or a joint has a type that MJCF does not have.
        MissingPackageError: the package mujoco is missing.
    """
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise missing_package("writing MJCF", error) from error
    writer = _Writer(mujoco, robot, mesh_name)
    try:
        spec = writer.spec()
        spec.assets = dict(assets)
        spec.compile()
        return _with_all_digits(spec.to_xml(), writer.exact), writer.notes.lines()
    except (ValueError, mujoco.FatalError) as cause:
        raise ModelError(
            f"robot {robot.name!r}: MuJoCo does not accept the MJCF: {cause}"
        ) from cause


def _with_all_digits(text: str, exact: _Exact) -> str:
    """Restore all digits of the numbers in an MJCF. MuJoCo writes only six digits."""
    root = xml_root(text, "<mjcf>", ModelError)
    for element in root.iter():
        owner = element.getparent() if element.tag == "inertial" else element
        values = exact.get((element.tag, owner.get("name", "") if owner is not None else ""))
        if values is None:
            continue
        if "fullinertia" in values:
            for replaced in ("quat", "diaginertia"):
                element.attrib.pop(replaced, None)
        for key, numbers in values.items():
            element.set(key, exact_text(np.ravel(numbers)))
    return etree.tostring(root, pretty_print=True, encoding="unicode")


class _Writer:
    def __init__(self, mujoco: Any, robot: robot_data.RobotData, mesh_name: MeshName) -> None:
        self.mujoco, self.robot, self.mesh_name = mujoco, robot, mesh_name
        self.notes = Notes()
        self.below: dict[str, list[JointData]] = {name: [] for name in robot.links}
        for joint in robot.joints.values():
            self.below[joint.parent].append(joint)
        self.meshes: dict[str, str] = {}
        self.exact: _Exact = {}

    def spec(self) -> Any:
        """Return the MjSpec of the robot."""
        spec = self.mujoco.MjSpec()
        spec.modelname = self.robot.name
        spec.compiler.degree = False
        self.made = spec
        robot = self.robot
        if robot.root == WORLD_LINK:
            self._children(spec.worldbody, WORLD_LINK, IDENTITY)
            self._shapes(spec.worldbody, robot.links[WORLD_LINK])
        else:
            body = spec.worldbody.add_body(name=robot.root)
            body.add_freejoint(name=robot.free_joint_name("root"))
            self._body(body, robot.root)
        for joint in robot.joints.values():
            self._actuator(joint)
            if joint.mimic is not None:
                self._mimic(joint)
        for loop in robot.connections:
            self._loop(loop)
        note_unwritten(robot, robot.all_sensors(), self.notes, "not written")
        return spec

    def _body(self, body: Any, link: str) -> None:
        """Write the properties of a link to its body, and add the bodies below."""
        data = self.robot.links[link]
        if data.inertial is not None:
            mass, center, moments = data.inertial
            body.explicitinertial = True
            body.mass, body.ipos = mass, center
            xx, yy, zz = np.diagonal(moments)
            full = [xx, yy, zz, moments[0, 1], moments[0, 2], moments[1, 2]]
            body.fullinertia = full
            numbers = {"mass": mass, "pos": center, "fullinertia": full}
            self.exact["inertial", link] = numbers
        else:
            body.explicitinertial = True  # shapes have no mass
        if data.gravity_compensation:
            body.gravcomp = data.gravity_compensation
        self._shapes(body, data)
        self._children(body, link, IDENTITY)

    def _children(self, body: Any, link: str, at: Placement) -> None:
        """Add the bodies below a link whose frame is `at` in the body."""
        for joint in self.below[link]:
            chain, place = [(joint, at.then(joint.origin))], at.then(joint.origin)
            while self._is_between(joint.child):
                (joint,) = self.below[joint.child]
                place = place.then(joint.origin)
                chain.append((joint, place))
            child = body.add_body(name=joint.child, **self._placed("body", joint.child, place))
            for member, frame in chain:
                self._joint(child, member, place.inverse().then(frame))
            self._body(child, joint.child)

    def _is_between(self, link: str) -> bool:
        """Return whether a link is a massless intermediate between two joints."""
        data = self.robot.links[link]
        is_empty = data.inertial is None and not data.collisions and not data.visuals
        return is_empty and [joint.type != "floating" for joint in self.below[link]] == [True]

    def _joint(self, body: Any, joint: JointData, frame: Placement) -> None:
        """Add a joint, whose frame is `frame` in the body with all joints at zero."""
        kinds = self.mujoco.mjtJoint
        if joint.type == "fixed":
            return
        if joint.type == "floating":
            body.add_freejoint(name=joint.name)
            return
        if joint.ball:
            if joint.ball == 1:
                self._ball(body, joint, frame)
            return
        turns = joint.type in ("revolute", "continuous")
        if not turns and joint.type != "prismatic":
            self.robot.fail(joint, f"MJCF has no joint of the type {joint.type!r}")
        axis = frame.R @ np.array(joint.axis)
        made = body.add_joint(name=joint.name, pos=frame.p, axis=axis)
        numbers = self.exact["joint", joint.name] = {"pos": frame.p, "axis": axis}
        made.type = kinds.mjJNT_HINGE if turns else kinds.mjJNT_SLIDE
        if math.isinf(joint.lower) and math.isinf(joint.upper):
            made.limited = False
        else:
            made.limited = True
            made.range = [max(joint.lower, -1e10), min(joint.upper, 1e10)]
            numbers["range"] = made.range
        made.damping = _first(made.damping, joint.damping)
        made.frictionloss, made.armature = joint.friction, joint.rotor_inertia
        made.stiffness = _first(made.stiffness, joint.stiffness)
        made.springref = joint.rest
        numbers |= {"damping": joint.damping, "frictionloss": joint.friction}
        numbers |= {"armature": joint.rotor_inertia}
        numbers |= {"stiffness": joint.stiffness, "springref": joint.rest}
        if 0.0 < joint.effort < math.inf:
            made.actfrclimited = True
            made.actfrcrange = numbers["actuatorfrcrange"] = [-joint.effort, joint.effort]
        if 0.0 < joint.velocity < math.inf:
            self.notes.add("velocity limit of a joint", "MJCF has none", joint.name)

    def _ball(self, body: Any, joint: JointData, frame: Placement) -> None:
        """Add a ball joint, of which `joint` is the first part."""
        name = joint.name.removesuffix("_x")
        made = body.add_joint(name=name, pos=frame.p, type=self.mujoco.mjtJoint.mjJNT_BALL)
        made.damping = _first(made.damping, joint.damping)
        made.frictionloss, made.armature = joint.friction, joint.rotor_inertia
        made.stiffness = _first(made.stiffness, joint.stiffness)
        numbers = {"damping": joint.damping, "frictionloss": joint.friction}
        numbers |= {"armature": joint.rotor_inertia, "stiffness": joint.stiffness}
        self.exact["joint", name] = numbers | {"pos": frame.p}

    def _placed(self, tag: str, name: str, place: Placement) -> dict[str, np.ndarray]:
        """Return position and quaternion of an element, and remember all of their digits."""
        x, y, z, w = quaternion_of(place.R)
        numbers = {"pos": place.p, "quat": np.array([w, x, y, z])}
        self.exact[tag, name] = dict(numbers)
        return numbers

    def _shapes(self, body: Any, link: LinkData) -> None:
        for k, shape in enumerate(link.visuals):
            geom = self._geom(body, f"{link.name}_visual_{k}", shape)
            geom.contype = geom.conaffinity = 0
            geom.group = _VISUAL_GROUP
            if shape.color is not None:
                geom.rgba = (*shape.color[:3], *(shape.color[3:] or (1.0,)))
        for k, shape in enumerate(link.collisions):
            self._geom(body, f"{link.name}_{k}", shape).group = _COLLISION_GROUP
        if link.material is not None:
            why = "friction is of pairs of materials. Geoms have MuJoCo's default"
            self.notes.add("material", why, link.material)

    def _geom(self, body: Any, name: str, shape: ShapeData) -> Any:
        kinds = self.mujoco.mjtGeom
        placed = self._placed("geom", name, shape.placement)
        geom = body.add_geom(name=name, mass=0.0, **placed)
        geom.type = getattr(kinds, f"mjGEOM_{shape.kind.upper()}")
        if shape.kind == "mesh":
            assert shape.mesh is not None
            geom.meshname = self._mesh(self.mesh_name(shape.mesh))
        elif shape.kind == "box":
            geom.size = [0.5 * size for size in shape.size]
        else:
            radius, *length = shape.size
            geom.size = [radius, *(0.5 * value for value in length), 0.0, 0.0][:3]
        return geom

    def _mesh(self, file: str) -> str:
        if file not in self.meshes:
            self.meshes[file] = f"mesh_{len(self.meshes)}"
            mesh = self.made.add_mesh(name=self.meshes[file], file=file)
            mesh.inertia = self.mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # open ones, too
        return self.meshes[file]

    def _actuator(self, joint: JointData) -> None:
        """Add a servo for gains, or a motor for a commanded effort."""
        if joint.actuator:
            self.notes.add("model of an actuator", "not written", joint.name)
        if joint.gains is None and joint.name not in self.robot.commanded:
            return
        made = self.made.add_actuator(name=joint.name, target=joint.name)
        made.trntype = self.mujoco.mjtTrn.mjTRN_JOINT
        if joint.gains is not None:
            kp, kd = joint.gains
            made.set_to_position(kp=kp, kv=kd)
            exact = {"gainprm": np.array([kp]), "biasprm": np.array([0.0, -kp, -kd])}
            self.exact["general", joint.name] = exact
        else:
            made.set_to_motor()

    def _mimic(self, joint: JointData) -> None:
        assert joint.mimic is not None
        leader, ratio, offset = joint.mimic
        name = f"{joint.name} follows {leader}"  # other than the name of the joint
        equality = self.made.add_equality(name=name, name1=joint.name, name2=leader)
        equality.type = self.mujoco.mjtEq.mjEQ_JOINT
        data = np.zeros(len(equality.data))
        data[:2] = offset, ratio
        equality.data = data
        self.exact["joint", name] = {"polycoef": np.array([offset, ratio, 0.0, 0.0, 0.0])}

    def _loop(self, loop: robot_data.ConnectionData) -> None:
        if loop.kind not in _LOOPS:
            self.notes.add(f"connection {loop.kind}", "MJCF has none", loop.name)
            return
        equality = self.made.add_equality(name=loop.name)
        ends = []
        for k, (link, frame) in enumerate(zip(loop.links, loop.frames, strict=True)):
            site = f"{loop.name}_{k}"
            body = self.made.worldbody if link == WORLD_LINK else self.made.body(link)
            if body is None:
                self.notes.add("connection to a link between two joints", "left out", loop.name)
                self.made.delete(equality)
                return
            body.add_site(name=site, **self._placed("site", site, frame))
            ends.append(site)
        kinds = self.mujoco.mjtEq
        equality.type = kinds.mjEQ_CONNECT if loop.kind == "ball" else kinds.mjEQ_WELD
        equality.objtype = self.mujoco.mjtObj.mjOBJ_SITE
        equality.name1, equality.name2 = ends


def _first(present: Any, value: float) -> Any:
    """Return a number for a scalar field of MuJoCo, or [number, 0, ...] for an array field."""
    if np.ndim(present) == 0:
        return value
    return [value, *np.zeros(len(present) - 1)]
