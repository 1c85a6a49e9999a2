# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrp2_like in the half-sitting posture, in hrpsim and in MuJoCo, and worlds for walking."""

import copy
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from lxml import etree

from hrpsim import Box, Model, World, load_model
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.resources import share_path
from hrpsim.world.objects.robot import Robot

HALF_SITTING = {2: -0.4538, 3: 0.8727, 4: -0.4189}  # leg joints [rad]
WAIST_HEIGHT = 0.6487
FRICTION = 0.8
GRIDS = {8: (1, 1), 16: (2, 1), 32: (2, 2), 64: (4, 2), 128: (4, 4)}  # rows, columns of boxes
_FILLED = 0.9  # ratio of a box's edges to its cell of the sole
BUSH_SETS = ("openhrp", "jaxon", "hrp2_soft", "hrp2_stiff")
PUSH_TIME = 0.1  # [s]


@dataclass(frozen=True)
class Push:
    """A constant force on the waist for 0.1 s."""

    impulse: float  # [Ns]
    heading: float  # direction of the force, from x [rad]
    begin: float  # [s]


@dataclass(frozen=True)
class Conditions:
    """The surroundings of a walk, and how the true robot differs from the controller's model."""

    bush: bool = True
    bush_set: str = BUSH_SETS[0]
    friction: float = FRICTION
    mass_factor: float = 1.0  # factor on the mass of every link
    slope: float = 0.0  # slope of the floor, which rises towards slope_heading [rad]
    slope_heading: float = 0.0  # [rad]
    plate: float = 0.0  # height of a plate at x > plate_edge [m]
    plate_edge: float = 0.5  # [m]
    push: Push | None = None
    time_step: float = 1e-3  # [s]


def humanoid(points: int = 8, bush: bool = True) -> Model:
    """Return the robot hrp2_like. Both soles together touch a floor at `points` points."""
    urdf = load_model(
        share_path("urdf/hrp2_like.urdf.xacro"), xacro_arguments={"bush": str(bush).lower()}
    ).urdf
    tree = etree.fromstring(urdf.encode())
    for side in "LR":
        _split_sole(tree.find(f"link[@name='{side}LEG_SOLE']"), GRIDS[points])
    return load_model(etree.tostring(tree, encoding="unicode"))


def _split_sole(link, grid: tuple[int, int]) -> None:
    """Replace the collision box of a sole by a grid of boxes with gaps."""
    if grid == (1, 1):
        return
    sole = link.find("collision")
    size = np.array(sole.find("geometry/box").get("size").split(), dtype=float)
    centre = np.array(sole.find("origin").get("xyz").split(), dtype=float)
    cell = size[:2] / grid
    link.remove(sole)
    for i in range(grid[0]):
        for j in range(grid[1]):
            part = copy.deepcopy(sole)
            part.set("name", f"{link.get('name')}_{i}_{j}")
            at = centre[:2] - size[:2] / 2 + (np.array([i, j]) + 0.5) * cell
            part.find("origin").set("xyz", f"{at[0]:.9g} {at[1]:.9g} {centre[2]:.9g}")
            x, y = _FILLED * cell
            part.find("geometry/box").set("size", f"{x:.9g} {y:.9g} {size[2]:.9g}")
            link.append(part)


def half_sitting(model: Model) -> np.ndarray:
    """Return the configuration (nq,) with bent knees and soles on the floor."""
    q = model.neutral()
    q[2] = WAIST_HEIGHT
    for side in "RL":
        for number, angle in HALF_SITTING.items():
            q[model.joint(f"{side}LEG_JOINT{number}").q_index] = angle
    return q


def our_standing(model: Model, **options) -> tuple[World, Robot]:
    """Return (world, robot) at rest with the gains of the description, with options of World."""
    world = World(**options)
    world.add_ground()
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    return world, robot


def mujoco_spec(mujoco, model: Model, time_step: float = 1e-3, **compiler: str):
    """Return MuJoCo's specification of the same robot and gains, with World's default friction."""
    spec = mujoco.MjSpec.from_string(_urdf_for_mujoco(model, compiler))
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, 1
        geom.condim, geom.friction[0] = 3, FRICTION
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    floor.contype, floor.conaffinity, floor.condim, floor.friction[0] = 1, 0, 3, FRICTION
    system = model.system
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            continue
        k = model.joint(joint.name).v_index
        joint.armature = system.rotor_inertia[k]
        joint.damping[0] = system.damping[k]
        joint.stiffness[0] = system.stiffness[k]
        kp, kd = model.gains.get(joint.name, (0.0, 0.0))
        if kp > 0.0:
            actuator = spec.add_actuator(name=joint.name, target=joint.name)
            actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
            actuator.set_to_position(kp=kp, kv=kd)
    spec.option.timestep = time_step
    spec.option.gravity[:] = (0.0, 0.0, -STANDARD_GRAVITY)
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return spec


def mujoco_standing(mujoco, model: Model, q: np.ndarray, time_step: float = 1e-3):
    """Return (MjModel, MjData) of `mujoco_spec` at `q`."""
    mj_model = mujoco_spec(mujoco, model, time_step).compile()
    data = mujoco.MjData(mj_model)
    data.qpos[:3] = q[:3]
    data.qpos[3:7] = q[[6, 3, 4, 5]]
    for k in range(1, mj_model.njnt):
        name = mj_model.joint(k).name
        data.joint(name).qpos[:] = q[model.joint(name).q_index]
    for k in range(mj_model.nu):
        data.ctrl[k] = q[model.joint(mj_model.actuator(k).name).q_index]
    mujoco.mj_forward(mj_model, data)
    return mj_model, data


def _urdf_for_mujoco(model: Model, compiler: dict[str, str]) -> str:
    """Return the robot's URDF on a free joint, without elements that MuJoCo does not read."""
    urdf = re.sub(
        r"<hrpsim\b.*?</hrpsim>|<ros2_control\b.*?</ros2_control>", "", model.urdf, flags=re.S
    )
    compiler = {"fusestatic": "true", "discardvisual": "true", "strippath": "false", **compiler}
    settings = " ".join(f'{name}="{value}"' for name, value in compiler.items())
    return urdf.replace(
        "</robot>",
        f"<mujoco><compiler {settings}/></mujoco>"
        '<link name="mujoco_world"/><joint name="mujoco_root" type="floating">'
        f'<parent link="mujoco_world"/><child link="{model.base_link}"/></joint></robot>',
    )


def described(conditions: Conditions) -> Model:
    """Return the model of hrp2_like that the controller uses."""
    return load_model(
        share_path("urdf/hrp2_like.urdf.xacro"),
        xacro_arguments={"bush": str(conditions.bush).lower(), "bush_set": conditions.bush_set},
    )


def standing_robot(conditions: Conditions) -> Robot:
    """Return the robot at rest in half-sitting, at the start of the walk."""
    world = World(time_step=conditions.time_step)
    slope, heading = conditions.slope, conditions.slope_heading
    normal = (-math.sin(slope) * math.cos(heading), -math.sin(slope) * math.sin(heading), 1.0)
    world.add_ground(normal=(normal[0], normal[1], math.cos(slope)), material="floor")
    world.set_friction("sole", "floor", conditions.friction)
    if conditions.plate:
        position = (conditions.plate_edge + 2.0, 0.0, 0.5 * conditions.plate)
        world.add_static(
            Box((4.0, 8.0, conditions.plate)), position, material="floor", name="plate"
        )
    model = _with_mass(described(conditions), conditions.mass_factor)
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    return robot


def _with_mass(model: Model, factor: float) -> Model:
    """Multiply all masses and inertias of a robot by `factor`."""
    if factor == 1.0:
        return model
    tree = etree.fromstring(model.urdf.encode())
    for inertial in tree.iter("inertial"):
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        mass.set("value", repr(factor * float(mass.get("value"))))
        for name, value in inertia.items():
            inertia.set(name, repr(factor * float(value)))
    return load_model(etree.tostring(tree, encoding="unicode"))


def pushing(robot: Robot, push: Push | None) -> Callable[[float], None]:
    """Return a function apply(time) that applies the push. Call the function before each period."""
    if push is None:
        return lambda time: None
    force = push.impulse / PUSH_TIME * np.array([math.cos(push.heading), math.sin(push.heading), 0])

    def apply(time: float) -> None:
        if push.begin - 1e-9 <= time < push.begin + PUSH_TIME - 1e-9:
            robot.apply_wrench(robot.model.base_link, force)

    return apply
