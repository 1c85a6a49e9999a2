# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The suite's scenes in Drake: discrete, SAP, hydroelastic boxes, balls with point contact.

Drake has no restitution. PD control uses joint actuators, which SAP integrates implicitly.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np

from evidence.benchmarks.engines.urdf import plain_urdf
from evidence.benchmarks.simbenchmark.engines import Unable
from evidence.benchmarks.simbenchmark.robots import FRICTION, RobotScene
from evidence.benchmarks.simbenchmark.scenes import FLOOR, GRAVITY, Scene, State

# Drake takes the harmonic mean of both: 0.4 of floor and box, 0.8 of box and ball.
_ROLLING = {FLOOR: 0.8 / 3.0, "box": 0.8, "ball": 0.8}
_MODULUS = 1e8  # elastic modulus of boxes [Pa]


class Drake:
    """Makes the scenes of the suite in this engine."""

    def __init__(self) -> None:
        import pydrake.all

        self.drake = pydrake.all

    def loose(self, scene: Scene, time_step: float) -> DrakeBodies:
        """Return the bodies of the scene in the initial state."""
        if scene.restitution > 0.0:
            raise Unable("no restitution")
        return DrakeBodies(self.drake, scene, time_step)

    def robots(self, scene: RobotScene, time_step: float) -> DrakeRobots:
        """Return the robots of the scene in the initial state."""
        return DrakeRobots(self.drake, scene, time_step)


class _Plant:
    """A plant, and the simulator that advances the plant."""

    def __init__(self, drake, time_step: float, gravity: float) -> None:
        self.drake, self.time_step = drake, time_step
        self.builder = drake.DiagramBuilder()
        config = drake.MultibodyPlantConfig(
            time_step=time_step,
            discrete_contact_approximation="sap",
            contact_model="hydroelastic_with_fallback",
        )
        self.plant, self.graph = drake.AddMultibodyPlant(config, self.builder)
        self.plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -gravity])
        self.instance = self.plant.AddModelInstance("loose")
        self.settings = f"drake {version('drake')}, SAP"

    def add_floor(self, friction: float) -> None:
        drake, properties = self.drake, self.drake.ProximityProperties()
        drake.AddContactMaterial(
            friction=drake.CoulombFriction(friction, friction), properties=properties
        )
        drake.AddRigidHydroelasticProperties(properties)
        self.plant.RegisterCollisionGeometry(
            self.plant.world_body(), drake.RigidTransform(), drake.HalfSpace(), FLOOR, properties
        )

    def add_free(self, name: str, shape, inertia, friction: float, yields: bool):
        drake, properties = self.drake, self.drake.ProximityProperties()
        drake.AddContactMaterial(
            friction=drake.CoulombFriction(friction, friction), properties=properties
        )
        if yields:
            drake.AddCompliantHydroelasticProperties(1.0, _MODULUS, properties)
        body = self.plant.AddRigidBody(name, self.instance, inertia)
        self.plant.RegisterCollisionGeometry(body, drake.RigidTransform(), shape, name, properties)
        return body

    def start(self) -> None:
        self.plant.Finalize()
        self.diagram = self.builder.Build()
        self.simulator = self.drake.Simulator(self.diagram)
        self.whole = self.simulator.get_mutable_context()
        self.context = self.plant.GetMyMutableContextFromRoot(self.whole)
        self.done = 0

    def run(self, count: int) -> None:
        self.done += count
        self.simulator.AdvanceTo(self.done * self.time_step)

    def push(self, body, force) -> None:
        """Apply a constant force at the origin of a body's frame, from now on."""
        drake = self.drake
        wrench = drake.ExternallyAppliedSpatialForce()
        wrench.body_index = body.index()
        wrench.p_BoBq_B = np.zeros(3)
        wrench.F_Bq_W = drake.SpatialForce(np.zeros(3), np.array(force, float))
        port = self.plant.get_applied_spatial_force_input_port()
        port.FixValue(self.context, drake.Value([wrench]))


class DrakeBodies(_Plant):
    """The bodies of a Scene in this engine."""

    def __init__(self, drake, scene: Scene, time_step: float) -> None:
        super().__init__(drake, time_step, GRAVITY)
        rolls = scene.name == "rolling"
        mu = scene.mu(FLOOR, scene.bodies[0].kind)
        self.add_floor(_ROLLING[FLOOR] if rolls else mu)
        self.bodies = []
        for k, body in enumerate(scene.bodies):
            if body.is_ball:
                shape = drake.Sphere(body.size[0])
                inertia = drake.SpatialInertia.SolidSphereWithMass(body.mass, body.size[0])
            else:
                shape = drake.Box(*body.size)
                inertia = drake.SpatialInertia.SolidBoxWithMass(body.mass, *body.size)
            friction = _ROLLING[body.kind] if rolls else mu
            name = f"{body.kind}{k}"
            self.bodies.append(self.add_free(name, shape, inertia, friction, not body.is_ball))
        self.start()
        for body, described in zip(self.bodies, scene.bodies):
            pose = drake.RigidTransform(np.array(described.position))
            self.plant.SetFreeBodyPose(self.context, body, pose)
        if scene.force is not None:
            self.push(self.bodies[0], scene.force)

    def step(self, count: int) -> None:
        """Make `count` steps."""
        self.run(count)

    def state(self) -> State:
        """Return positions and velocities of the bodies."""
        plant, context = self.plant, self.context
        places = [plant.EvalBodyPoseInWorld(context, b).translation() for b in self.bodies]
        motion = [plant.EvalBodySpatialVelocityInWorld(context, b) for b in self.bodies]
        velocities = np.array([m.translational() for m in motion])
        return State(np.array(places), velocities, np.array([m.rotational() for m in motion]))


class DrakeRobots(_Plant):
    """The robots of a RobotScene in this engine."""

    def __init__(self, drake, scene: RobotScene, time_step: float) -> None:
        super().__init__(drake, time_step, scene.gravity)
        self.scene, model = scene, scene.model
        if scene.floor:
            self.add_floor(FRICTION)
        config = drake.SceneGraphConfig()
        config.default_proximity_properties.compliance_type = "compliant"
        config.default_proximity_properties.hydroelastic_modulus = _MODULUS
        config.default_proximity_properties.static_friction = FRICTION
        config.default_proximity_properties.dynamic_friction = FRICTION
        self.graph.set_config(config)
        self.robots = []
        for k in range(scene.count):
            parser = drake.Parser(self.plant, self.graph, f"robot{k}")
            self.robots += parser.AddModelsFromString(plain_urdf(model.urdf), "urdf")
        self._keep_apart()
        for robot in self.robots:
            for name, (kp, kd) in scene.gains.items():
                joint = self.plant.GetJointByName(name, robot)
                actuator = self.plant.AddJointActuator(f"{name}{int(robot)}", joint)
                actuator.set_controller_gains(drake.PdControllerGains(p=kp, d=kd))
        if scene.ball is not None:
            inertia = drake.SpatialInertia.SolidSphereWithMass(scene.ball.mass, scene.ball.radius)
            self.ball = self.add_free(
                "ball", drake.Sphere(scene.ball.radius), inertia, FRICTION, False
            )
        self.start()
        self._places()

    def _keep_apart(self) -> None:
        """Disable the self-collisions of each robot."""
        for robot in self.robots:
            bodies = [self.plant.get_body(k) for k in self.plant.GetBodyIndices(robot)]
            geometries = self.plant.CollectRegisteredGeometries(bodies)
            manager = self.graph.collision_filter_manager()
            manager.Apply(self.drake.CollisionFilterDeclaration().ExcludeWithin(geometries))

    def _places(self) -> None:
        drake, scene, q = self.drake, self.scene, self.scene.q
        turn = drake.Quaternion(wxyz=q[[6, 3, 4, 5]])
        for robot, (x, y) in zip(self.robots, scene.places()):
            base = self.plant.GetBodyByName(scene.model.base_link, robot)
            pose = drake.RigidTransform(turn, q[:3] + [x, y, 0.0])
            self.plant.SetFreeBodyPose(self.context, base, pose)
            for name in scene.model.joint_names:
                joint = self.plant.GetJointByName(name, robot)
                joint.set_angle(self.context, q[scene.model.joint(name).q_index])
            if scene.gains:
                aims = []
                for k in self.plant.GetJointActuatorIndices(robot):
                    name = self.plant.get_joint_actuator(k).joint().name()
                    aims.append(q[scene.model.joint(name).q_index])
                port = self.plant.get_desired_state_input_port(robot)
                port.FixValue(self.context, np.concatenate([aims, np.zeros(len(aims))]))
        self.base = self.plant.GetBodyByName(scene.model.base_link, self.robots[0])
        if scene.ball is not None:
            pose = drake.RigidTransform(np.array(scene.ball.position))
            self.plant.SetFreeBodyPose(self.context, self.ball, pose)
            velocity = drake.SpatialVelocity(np.zeros(3), np.array(scene.ball.velocity))
            self.plant.SetFreeBodySpatialVelocity(self.ball, velocity, self.context)
        self._lifted = 0.0

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps."""
        if lift != self._lifted:
            self.push(self.base, (0.0, 0.0, lift))
            self._lifted = lift
        self.run(count)

    def state(self):
        """Return q and v of the first robot."""
        plant, context, model = self.plant, self.context, self.scene.model
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        pose = plant.EvalBodyPoseInWorld(context, self.base)
        motion = plant.EvalBodySpatialVelocityInWorld(context, self.base)
        R = pose.rotation().matrix()
        q[:3] = pose.translation()
        w, *xyz = pose.rotation().ToQuaternion().wxyz()
        q[3:7] = [*xyz, w]
        v[:3], v[3:6] = R.T @ motion.translational(), R.T @ motion.rotational()
        for name in model.joint_names:
            joint, described = plant.GetJointByName(name, self.robots[0]), model.joint(name)
            q[described.q_index] = joint.get_angle(context)
            v[described.v_index] = joint.get_angular_rate(context)
        return q, v

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the ball."""
        motion = self.plant.EvalBodySpatialVelocityInWorld(self.context, self.ball)
        return motion.translational().copy()
