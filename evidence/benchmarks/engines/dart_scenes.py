# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scenes in dart: standing robot, pile of cubes, beam. Default (Dantzig) contact solver."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.engines.urdf import plain_urdf
from evidence.benchmarks.standing_engine import FRICTION, Touching

NAME = "dart"
_FLOOR = 40.0  # edge [m]


def dart_module():
    """Return the module dartpy, or None if it is not installed."""
    try:
        import dartpy
    except ImportError:
        return None
    return dartpy


def new_world(dart, time_step: float, gravity=(0.0, 0.0, -9.80665), sleeping=False):
    world = dart.simulation.World()
    deactivation = world.getDeactivationOptions()
    deactivation.mEnabled = sleeping
    world.setDeactivationOptions(deactivation)
    world.setTimeStep(time_step)
    world.setGravity(list(gravity))
    detector = dart.collision.BulletCollisionDetector()  # with FCL, boxes have fewer contact points
    world.getConstraintSolver().setCollisionDetector(detector)
    return world


def isometry(dart, position):
    pose = dart.math.Isometry3()
    pose.set_translation(list(position))
    return pose


def coat(shape, friction: float, restitution: float = 0.0) -> None:
    """Give a shape node collision properties with a friction coefficient and a restitution."""
    shape.createCollisionAspect()
    shape.createDynamicsAspect()
    shape.getDynamicsAspect().setFrictionCoeff(friction)
    if restitution:
        shape.getDynamicsAspect().setRestitutionCoeff(restitution)


def set_friction(skeleton, friction: float) -> None:
    """Set the friction coefficient of all shapes of a skeleton that was loaded from a file."""
    for k in range(skeleton.getNumBodyNodes()):
        for shape in skeleton.getBodyNode(k).getShapeNodes():
            if shape.getDynamicsAspect() is not None:
                shape.getDynamicsAspect().setFrictionCoeff(friction)


def add_floor(dart, world, edge: float, friction: float, restitution: float = 0.0) -> None:
    """Add a fixed box with its upper face at height 0.

    edge: length and width of the box [m].
    """
    floor = dart.dynamics.Skeleton("floor")
    joint, body = floor.createWeldJointAndBodyNodePair()
    shape = dart.dynamics.BoxShape([edge, edge, 0.2])
    coat(body.createShapeNode(shape), friction, restitution)
    joint.setTransformFromParentBodyNode(isometry(dart, (0.0, 0.0, -0.1)))
    world.addSkeleton(floor)


def add_free(dart, world, name, shape, mass, moments, position, friction, restitution=0.0):
    """Add a free body at rest as a separate skeleton, and return the body.

    If friction is None, the body has no contacts.
    """
    skeleton = dart.dynamics.Skeleton(name)
    joint, body = skeleton.createFreeJointAndBodyNodePair()
    node = body.createShapeNode(shape)
    if friction is not None:
        coat(node, friction, restitution)
    body.setInertia(dart.dynamics.Inertia(mass, [0, 0, 0], np.diag(moments)))
    joint.setPositions(np.concatenate([np.zeros(3), position]))
    world.addSkeleton(skeleton)
    return body


def load_robot(dart, model, name: str = "robot"):
    """Return a new skeleton of a model, and pairs of its joints with the model's joints."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(plain_urdf(model.urdf), encoding="utf-8")
        robot = dart.utils.DartLoader().parseSkeleton(str(path))
    robot.setName(name)
    joints = [robot.getJoint(k) for k in range(1, robot.getNumJoints())]
    return robot, [(j, model.joint(j.getName())) for j in joints if j.getNumDofs() == 1]


def place_robot(robot, joints, q) -> None:
    """Place a skeleton with a free base at rest in the configuration q."""
    for joint, described in joints:
        joint.setPosition(0, q[described.q_index])
    turn = Rotation.from_quat(q[3:7]).as_rotvec()
    robot.getJoint(0).setPositions(np.concatenate([turn, q[:3]]))


def state_of(robot, joints, model):
    """Return q and v of a skeleton.

    joints: pairs of dart's joints with the model's joints.
    """
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    base = robot.getBodyNode(0)
    pose = base.getWorldTransform()
    R = np.array(pose.rotation())
    q[:3], q[3:7] = pose.translation(), Rotation.from_matrix(R).as_quat()
    v[:3], v[3:6] = R.T @ base.getLinearVelocity(), R.T @ base.getAngularVelocity()
    for joint, described in joints:
        q[described.q_index], v[described.v_index] = joint.getPosition(0), joint.getVelocity(0)
    return q, v


class DartStanding:
    """The standing robot in dart, on rigid feet. Servos are dart's joint springs (implicit)."""

    def __init__(self, dart, model, q) -> None:
        self.name, self.model = NAME, model
        self.robot, self._joints = load_robot(dart, model)
        for joint, described in self._joints:
            kp, kd = model.gains.get(described.name, (0.0, 0.0))
            joint.setSpringStiffness(0, kp)
            joint.setDampingCoefficient(0, kd + model.system.damping[described.v_index])
        place_robot(self.robot, self._joints, q)
        self.aim(q)
        set_friction(self.robot, FRICTION)
        self.world = new_world(dart, 1e-3)
        add_floor(dart, self.world, _FLOOR, FRICTION)
        self.world.addSkeleton(self.robot)

    def step(self, count: int) -> None:
        """Make `count` steps, with one call for each step."""
        for _ in range(count):
            self.world.step()

    def aim(self, q) -> None:
        """Set the rest positions of the joint springs to the configuration q."""
        for joint, described in self._joints:
            joint.setRestPosition(0, q[described.q_index])

    def state(self):
        """Return q (nq,) and v (nv,)."""
        return state_of(self.robot, self._joints, self.model)

    def touching(self) -> Touching:
        """Return the contacts of the last step, with the forces of the floor on the robot."""
        contacts = self.world.getLastCollisionResult().getContacts()
        forces = np.array([c.force for c in contacts]).reshape(-1, 3)
        forces *= np.sign(forces[:, 2:]) + (forces[:, 2:] == 0.0)
        return Touching(
            np.array([c.point for c in contacts]).reshape(-1, 3),
            np.array([c.penetrationDepth for c in contacts]),
            forces,
        )


def dart_cubes(dart, edge, mass, positions, quaternions, friction, sleeping=False):
    """Return (step(n), deepest(), places()) of cubes on the floor, each a separate skeleton.

    deepest() returns the deepest penetration of all contacts [m]. places() returns the centres (n,
    3) [m]. With `sleeping`, cubes that have rested for half a second are deactivated, which is
    dart's default.
    """
    world = new_world(dart, 1e-3, sleeping=sleeping)
    add_floor(dart, world, _FLOOR, friction)
    bodies = [
        _add_cube(dart, world, edge, mass, p, o, friction, f"cube{k}")
        for k, (p, o) in enumerate(zip(positions, quaternions))
    ]

    def step(count) -> None:
        for _ in range(count):
            world.step()

    def deepest():
        contacts = world.getLastCollisionResult().getContacts()
        return max((c.penetrationDepth for c in contacts), default=0.0)

    return step, deepest, lambda: _places(bodies)


def _places(bodies) -> np.ndarray:
    return np.array([body.getWorldTransform().translation() for body in bodies])


def _add_cube(dart, world, edge, mass, position, quaternion, friction, name):
    moments = [mass * edge**2 / 6.0] * 3
    shape = dart.dynamics.BoxShape([edge] * 3)
    body = add_free(dart, world, name, shape, mass, moments, position, friction)
    turn = Rotation.from_quat(quaternion).as_rotvec()
    body.getSkeleton().getJoint(0).setPositions(np.concatenate([turn, position]))
    return body


def dart_beam(dart, edge: float, mass: float, time_step: float, positions, gravity):
    """Return (world, positions()) of cubes welded in a row, with the first welded to the world."""
    world = new_world(dart, time_step, gravity)
    ends = (0.0, 0.0, 0.0, 1.0)
    bodies = [
        _add_cube(dart, world, edge, mass, p, ends, None, f"cube{k}")
        for k, p in enumerate(positions)
    ]
    solver = world.getConstraintSolver()
    solver.addConstraint(dart.constraint.WeldJointConstraint(bodies[0]))
    for a, b in pairwise(bodies):
        solver.addConstraint(dart.constraint.WeldJointConstraint(a, b))
    return world, lambda: _places(bodies)
