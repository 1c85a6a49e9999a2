# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read a USD stage by usd-core. The functions run in the child process of `bounded_child.py`.

Only this module imports pxr. The result has plain numbers in SI units, with z up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from pxr import Gf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade

from hrpsim.common import limits
from hrpsim.model.readers.robot_data import free_name
from hrpsim.model.readers.usd import stage_filters, stage_joints, stage_notes
from hrpsim.model.readers.usd.stage_data import (
    BodyPrim,
    JointPrim,
    MaterialPrim,
    ShapePrim,
    StageData,
)

_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # takes y to z
_X_UP = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
# What an error of usd-core says of its own source.
_INTERNAL = re.compile(r"Error in '.*?' at line \d+ in file \S+ : | matching pxrInternal\S+")
_UP = {"Y": _Y_UP, "X": _X_UP}
_KINDS = {
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsFixedJoint": "fixed",
    "PhysicsSphericalJoint": "spherical",
    "PhysicsDistanceJoint": "distance",
    "PhysicsJoint": "d6",
}
_ROUND = ("Cylinder", "Capsule", "Cone")
_SIZES: dict[str, tuple[str, ...]] = {"Cube": ("Size",), "Sphere": ("Radius",), "Plane": ()}
_SIZES |= dict.fromkeys(_ROUND, ("Radius", "Height"))
_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
_STEPS = ("newton:timeStepsPerSecond", "physxScene:timeStepsPerSecond")  # of a scene [Hz]
_GRAVITY_SWITCHES = ("newton:gravityEnabled", "mjc:flag:gravity")
_EARTH = 9.81  # gravity of a scene that states no magnitude [m/s^2]
_COMPACT = ((0, 3, 4), (3, 1, 5), (4, 5, 2))  # places of newton:inertia in the matrix


def read_stage(path: str) -> StageData:
    """Return the bodies, joints and shapes of a stage. Raises ValueError for a faulty stage."""
    try:
        stage = Usd.Stage.Open(path)
    except Tf.ErrorException as cause:
        raise ValueError(_INTERNAL.sub("", str(cause)).strip()) from None
    return _Reader(stage).read()


def _of_prim(read: Callable[[Any], None], prim: Any) -> None:
    """Call `read(prim)`. Raise ValueError with the path of a prim that cannot be read."""
    try:
        read(prim)
    except (ArithmeticError, LookupError, TypeError, ValueError) as cause:
        path, text = str(prim.GetPath()), str(cause)
        if isinstance(cause, TypeError):
            text = f"a value is missing or of another type ({text})"
        raise ValueError(text if path in text else f"{path}: {text}") from None


def _scale_free(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) nearest to the columns of an affine map (4, 4)."""
    if not np.isfinite(matrix).all():
        raise ValueError("its placement has a number that is not finite")
    columns = matrix[:3, :3]
    columns = columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    if np.linalg.det(columns) < 0.0:
        columns = columns * (1.0, 1.0, -1.0)
    u, _, v = np.linalg.svd(columns)
    return u @ v


class _Reader:
    def __init__(self, stage: Any) -> None:
        self.stage = stage
        self.length = float(UsdGeom.GetStageMetersPerUnit(stage))
        self.kilogram = float(UsdPhysics.GetStageKilogramsPerUnit(stage))
        self.up = _UP.get(str(UsdGeom.GetStageUpAxis(stage)), np.eye(3))
        self.cache = UsdGeom.XformCache()
        self.data = StageData()
        self.bodies: dict[str, BodyPrim] = {}
        self.materials: dict[str, str] = {}  # names by paths
        self.owners: dict[str, str] = {}  # of shapes that collide: body, or the shape itself

    def read(self) -> StageData:
        """Return the bodies, joints and shapes of the stage."""
        prims = stage_filters.all_prims(self.stage)
        if len(prims) > limits.XML_ELEMENTS:
            raise ValueError(limits.excess("XML_ELEMENTS", "prims"))
        root = self.stage.GetDefaultPrim()
        self.data.name = root.GetName() if root else "stage"
        for prim in prims:
            if prim.HasAPI(UsdPhysics.RigidBodyAPI):
                _of_prim(self._body, prim)
        for prim in prims:
            if prim.IsA(UsdPhysics.Joint):
                _of_prim(self._joint, prim)
            elif prim.IsA(UsdGeom.Gprim):
                _of_prim(self._shape, prim)
            else:
                self._note_unread(prim)
            self.data.notes += stage_notes.unread(prim)
        self._read_filters(prims)
        self.data.missing = stage_notes.missing(self.stage)
        return self.data

    def _read_filters(self, prims: list[Any]) -> None:
        """Read the pairs of bodies that never collide."""
        self.data.apart = stage_filters.filtered_owners(self.stage, prims, self.owners)
        if self.data.apart:
            self.data.notes += stage_filters.part_of_a_body(self.stage, prims, self.owners)
        moving = frozenset(path for path, body in self.bodies.items() if not body.is_kinematic)
        self.data.apart += stage_filters.jointed_owners(prims, self.owners, moving)
        for path in stage_filters.quiet_bodies(prims, self.bodies):
            self.bodies[path].meets_itself = False

    def _note_unread(self, prim: Any) -> None:
        kind, name = str(prim.GetTypeName()), prim.GetName()
        if prim.IsA(UsdPhysics.Scene):
            self._scene(prim)
        elif prim.HasAPI(UsdPhysics.CollisionAPI):
            self.data.notes.append((f"collision of {kind}", "not read: a shape is needed", name))
        elif kind.startswith("Mjc"):
            self.data.notes.append((kind, "not read", name))

    def _scene(self, prim: Any) -> None:
        scene, self.data.scene = UsdPhysics.Scene(prim), prim.GetName()
        stated = np.array(self._value(scene.GetGravityDirectionAttr(), (0.0,) * 3), dtype=float)
        length = np.linalg.norm(stated)
        down = self.up @ stated / length if length > 0.0 else np.array([0.0, 0.0, -1.0])
        magnitude = float(self._value(scene.GetGravityMagnitudeAttr(), -math.inf))
        magnitude = magnitude * self.length if magnitude >= 0.0 else _EARTH
        for switch in map(prim.GetAttribute, _GRAVITY_SWITCHES):
            if switch and switch.HasAuthoredValue() and not switch.Get():
                magnitude = 0.0
        self.data.gravity = tuple((magnitude * down).tolist())
        step = prim.GetAttribute("mjc:option:timestep")
        if step and float(step.Get() or 0.0) > 0.0:
            self.data.time_step = float(step.Get())
        for rate in map(prim.GetAttribute, _STEPS):
            if rate and float(rate.Get() or 0.0) > 0.0:
                self.data.time_step = 1.0 / float(rate.Get())

    def _material(self, prim: Any) -> tuple[str, float]:
        """Return the name of a shape's physics material ("" for none), and its density."""
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        if not material or not material.GetPrim().HasAPI(UsdPhysics.MaterialAPI):
            return "", 0.0
        path, api = str(material.GetPath()), UsdPhysics.MaterialAPI(material.GetPrim())
        if path not in self.materials:
            taken = {"default", *self.data.materials}
            name = self.materials[path] = free_name(material.GetPrim().GetName(), taken)
            surface = MaterialPrim(
                float(self._value(api.GetStaticFrictionAttr(), 0.0)),
                float(self._value(api.GetDynamicFrictionAttr(), 0.0)),
                float(self._value(api.GetRestitutionAttr(), 0.0)),
            )
            if not (
                all(0.0 <= value < math.inf for value in surface) and surface.restitution <= 1.0
            ):
                raise ValueError(f"{path}: friction must be >= 0, and restitution from 0 to 1")
            self.data.materials[name] = surface
        return self.materials[path], self._density(api)

    def _world(self, prim: Any) -> np.ndarray:
        """Return the affine map (4, 4) from a prim to the world, in metres with z up."""
        matrix = np.array(self.cache.GetLocalToWorldTransform(prim), dtype=np.float64).T
        result = np.eye(4)
        result[:3, :3] = self.up @ matrix[:3, :3] * self.length
        result[:3, 3] = self.up @ matrix[:3, 3] * self.length
        return result

    def _body(self, prim: Any) -> None:
        world = self._world(prim)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = _scale_free(world), world[:3, 3]
        body = BodyPrim(str(prim.GetPath()), prim.GetName(), pose)
        mass = UsdPhysics.MassAPI(prim)
        body.mass = self._value(mass.GetMassAttr(), 0.0) * self.kilogram
        body.density = self._density(mass)
        center = np.array(self._value(mass.GetCenterOfMassAttr(), (-math.inf,) * 3), dtype=float)
        if np.isfinite(center).all():
            body.center = (np.linalg.inv(pose) @ world @ np.append(center, 1.0))[:3]
        moments = np.array(self._value(mass.GetDiagonalInertiaAttr(), (0.0,) * 3), dtype=float)
        if moments.any():
            axes = self._value(mass.GetPrincipalAxesAttr(), Gf.Quatf(1.0))
            R = _rotation(axes) if axes.GetLength() > 0.0 else np.eye(3)
            unit = self.kilogram * self.length**2
            body.inertia = R @ np.diag(moments * unit) @ R.T
        compact = prim.GetAttribute("newton:inertia")
        if compact and len(compact.Get() or ()) == 6:
            moments = np.array(compact.Get(), dtype=float)[np.array(_COMPACT)]
            body.inertia = moments * self.kilogram * self.length**2
        body.gravity_compensation = self._compensation(prim)
        rigid = UsdPhysics.RigidBodyAPI(prim)
        body.is_kinematic = bool(self._value(rigid.GetKinematicEnabledAttr(), False))
        for velocity in (rigid.GetVelocityAttr(), rigid.GetAngularVelocityAttr()):
            if any(self._value(velocity, ())):
                self.data.notes.append((f"{velocity.GetName()} of a body", "not set", body.name))
        self.bodies[body.path] = body
        self.data.bodies.append(body)

    def _compensation(self, prim: Any) -> float:
        """Return the fraction of a body's weight that gravity compensation carries."""
        if self._value(prim.GetAttribute("physxRigidBody:disableGravity"), False):
            return 1.0
        return float(self._value(prim.GetAttribute("mjc:gravcomp"), 0.0))

    def _density(self, api: Any) -> float:
        """Return the density of a mass or of a material, 0 without one."""
        density = self._value(api.GetDensityAttr(), 0.0)
        return float(density) * self.kilogram / self.length**3

    @staticmethod
    def _value(attribute: Any, default: Any) -> Any:
        value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
        return default if value is None else value

    def _owner(self, prim: Any) -> str:
        """Return the path of the body that a prim belongs to, "" for the world."""
        while prim and not prim.IsPseudoRoot():
            if str(prim.GetPath()) in self.bodies:
                return str(prim.GetPath())
            prim = prim.GetParent()
        return ""

    def _end(self, joint: Any, side: int) -> tuple[str, np.ndarray]:
        """Return the body of one side of a joint, and the joint's frame (4, 4) in the body."""
        relation, position, rotation = (
            (joint.GetBody0Rel(), joint.GetLocalPos0Attr(), joint.GetLocalRot0Attr()),
            (joint.GetBody1Rel(), joint.GetLocalPos1Attr(), joint.GetLocalRot1Attr()),
        )[side]
        targets = relation.GetTargets()
        prim = self.stage.GetPrimAtPath(targets[0]) if targets else None
        if targets and not prim:
            raise ValueError(f"{joint.GetPath()}: there is no body {targets[0]}")
        world = self._world(prim if prim else self.stage.GetPseudoRoot())
        p = np.array(self._value(position, (0.0,) * 3), dtype=float)
        frame = np.eye(4)
        frame[:3, :3] = _scale_free(world) @ _rotation(self._value(rotation, Gf.Quatf(1.0)))
        frame[:3, 3] = (world @ np.append(p, 1.0))[:3]
        owner = self._owner(prim) if prim else ""
        base = self.bodies[owner].pose if owner else np.eye(4)
        return owner, np.linalg.inv(base) @ frame

    def _joint(self, prim: Any) -> None:
        joint, name = UsdPhysics.Joint(prim), prim.GetName()
        if not bool(self._value(joint.GetJointEnabledAttr(), True)):
            self.data.notes.append(("joint that is not enabled", "left out", name))
            return
        kind = _KINDS.get(str(prim.GetTypeName()), str(prim.GetTypeName()))
        (body0, frame0), (body1, frame1) = self._end(joint, 0), self._end(joint, 1)
        joint_prim = JointPrim(name, kind, body0, body1, frame0, frame1)
        if kind in ("revolute", "prismatic", "spherical"):
            axis = prim.GetAttribute("physics:axis").Get() or "X"
            joint_prim.axis = "XYZ".index(str(axis))
        if kind in ("revolute", "prismatic"):
            dof = ("rot" if kind == "revolute" else "trans") + "XYZ"[joint_prim.axis]
            low, high = (prim.GetAttribute(f"physics:{end}Limit") for end in ("lower", "upper"))
            joint_prim.limits[dof] = self._range(dof, low, high)
            for drive in ("angular", "linear"):
                self._drive(prim, joint_prim, drive, dof)
        for dof in _DOFS:
            if prim.HasAPI(UsdPhysics.LimitAPI, dof):
                limit = UsdPhysics.LimitAPI(prim, dof)
                joint_prim.limits[dof] = self._range(dof, limit.GetLowAttr(), limit.GetHighAttr())
            self._drive(prim, joint_prim, dof, dof)
        self._read_properties(prim, joint_prim)
        self.data.joints.append(joint_prim)

    def _read_properties(self, prim: Any, found: JointPrim) -> None:
        """Read the properties beyond USD's schema, and note unread properties of MuJoCo."""
        found.path, found.mimic = str(prim.GetPath()), stage_joints.mimic_of(prim, self.length)
        turns = found.kind != "prismatic"
        found.properties = stage_joints.properties_of(prim, turns, self.length, self.kilogram)
        for label in stage_joints.unread_of(prim, found.mimic is not None):
            self.data.notes.append((f"{label} of a joint", "not read", found.name))

    def _range(self, dof: str, low: Any, high: Any) -> tuple[float, float]:
        """Return the values of two attributes [rad or m], -inf and inf for missing values."""
        unit = math.radians(1.0) if dof.startswith("rot") else self.length
        ends = self._value(low, -math.inf), self._value(high, math.inf)
        return float(ends[0]) * unit, float(ends[1]) * unit

    def _drive(self, prim: Any, joint: JointPrim, name: str, dof: str) -> None:
        if not prim.HasAPI(UsdPhysics.DriveAPI, name):
            return
        drive = UsdPhysics.DriveAPI(prim, name)
        turns = dof.startswith("rot")
        force = self.kilogram * self.length ** (2 if turns else 1)
        rate = force * math.degrees(1.0) if turns else self.kilogram
        kp = self._value(drive.GetStiffnessAttr(), 0.0) * rate
        kd = self._value(drive.GetDampingAttr(), 0.0) * rate
        most = self._value(drive.GetMaxForceAttr(), math.inf)
        if str(self._value(drive.GetTypeAttr(), "force")) == "acceleration" and (kp or kd):
            self.data.notes.append(("drive of accelerations", "no gains", joint.name))
            kp = kd = 0.0
        for attribute in (drive.GetTargetPositionAttr(), drive.GetTargetVelocityAttr()):
            if self._value(attribute, 0.0):
                self.data.notes.append(("target of a drive", "not set", joint.name))
        joint.drives[dof] = float(kp), float(kd), float(most) * force

    def _shape(self, prim: Any) -> None:
        name = prim.GetName()
        is_solid = prim.HasAPI(UsdPhysics.CollisionAPI) and bool(
            self._value(UsdPhysics.CollisionAPI(prim).GetCollisionEnabledAttr(), True)
        )
        is_seen = str(UsdGeom.Imageable(prim).ComputePurpose()) in ("default", "render")
        kind = str(prim.GetTypeName())
        if not is_solid and not (is_seen and kind in ("Mesh", "Cube", "Sphere", *_ROUND)):
            return
        owner = self._owner(prim)
        base = self.bodies[owner].pose if owner else np.eye(4)
        shape = ShapePrim(name, kind, owner, np.linalg.inv(base) @ self._world(prim))
        shape.is_solid, shape.is_seen = is_solid, is_seen
        if kind == "Mesh":
            self._mesh(prim, shape)
        elif kind in _SIZES:
            _read_sizes(prim, shape)
        else:
            self.data.notes.append((f"collision of {kind}", "left out", name))
            return
        shape.mass = self._value(UsdPhysics.MassAPI(prim).GetMassAttr(), 0.0) * self.kilogram
        shape.density = self._density(UsdPhysics.MassAPI(prim))
        path = str(prim.GetPath())
        shape.owner = owner or path
        if is_solid:
            self.owners[path] = shape.owner
            shape.material, shape.material_density = self._material(prim)
        color = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get()
        if color:
            shape.color = (*(float(part) for part in color[0]), 1.0)
        self.data.shapes.append(shape)

    def _mesh(self, prim: Any, shape: ShapePrim) -> None:
        mesh = UsdGeom.Mesh(prim)
        points = _array(mesh.GetPointsAttr(), np.float64).reshape(-1, 3)
        counts = _array(mesh.GetFaceVertexCountsAttr(), np.int64)
        indices = _array(mesh.GetFaceVertexIndicesAttr(), np.int64)
        if counts.sum() != len(indices) or (counts < 0).any():
            raise ValueError(
                f"{prim.GetPath()}: faceVertexCounts and faceVertexIndices do not fit each other"
            )
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(points):
            raise ValueError(f"{prim.GetPath()}: faces name vertices that do not exist")
        if len(points) > limits.MESH_ELEMENTS or len(indices) > 4 * limits.MESH_ELEMENTS:
            raise ValueError(
                f"{prim.GetPath()}: {limits.excess('MESH_ELEMENTS', 'vertices or triangles')}"
            )
        faces = _fans(counts, indices)
        if str(mesh.GetOrientationAttr().Get()) == "leftHanded":
            faces = faces[:, ::-1]
        shape.points, shape.faces = points, faces
        if prim.HasAPI(UsdPhysics.MeshCollisionAPI):
            api = UsdPhysics.MeshCollisionAPI(prim)
            shape.approximation = str(self._value(api.GetApproximationAttr(), "none"))


def _rotation(quaternion: Any) -> np.ndarray:
    """Return R (3, 3) of a quaternion of USD, which need not be of unit length."""
    w, (x, y, z) = quaternion.GetReal(), quaternion.GetImaginary()
    length = math.sqrt(w * w + x * x + y * y + z * z)
    if not length > 0.0:
        return np.eye(3)
    w, x, y, z = (part / length for part in (w, x, y, z))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _array(attribute: Any, kind: type) -> np.ndarray:
    """Return the value of an attribute, empty without a value."""
    return np.array(attribute.Get() or (), dtype=kind)


def _read_sizes(prim: Any, shape: ShapePrim) -> None:
    """Read the sizes and the axis of a primitive."""
    form = getattr(UsdGeom, shape.kind)(prim)
    sizes = (getattr(form, f"Get{size}Attr")() for size in _SIZES[shape.kind])
    shape.sizes = tuple(float(size.Get()) for size in sizes)
    if hasattr(form, "GetAxisAttr"):
        shape.axis = "XYZ".index(str(form.GetAxisAttr().Get()))


def _fans(counts: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the triangles (m, 3) of convex polygons, given corners (n,) and vertices of each."""
    starts = np.cumsum(counts) - counts
    parts = [np.zeros((0, 3), dtype=np.int64)]
    for corner in range(1, int(counts.max(initial=0)) - 1):
        at = starts[counts > corner + 1]
        parts.append(np.stack([indices[at], indices[at + corner], indices[at + corner + 1]], 1))
    return np.concatenate(parts)
