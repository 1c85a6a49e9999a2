# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A gripper that holds a box over a floor with many objects, in hrpsim and in MuJoCo.

The hand moves sideways (x) and up (z) on velocity motors. Two fingers close along y. One finger has
a motor with limited force, and the other is a mimic joint, so each pad presses with half of the
force. The hand grips the box on the floor, drags and lifts the box, and shakes the box along the
pads. Boxes, cylinders and balls fall on the same floor in two heaps next to the box.
"""

import math
from dataclasses import dataclass

import numpy as np

from hrpsim import Box, Cylinder, Sphere, World, load_model
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.world.objects.body import rotation_matrix

TIME_STEP = 1e-3
EDGE, MASS = 0.06, 1.0  # edge and mass of the held box [m], [kg]
PAD_FRICTION, FLOOR_FRICTION = 0.6, 0.5
PAD_COMPLIANCE = 1e-6  # of each contact point [m/N], hard rubber: 4 N/um for the pad
GRIP = 25.0  # force of each pad [N]
OPEN = 0.01  # initial gap between a pad and the box [m]
CLOSING = 0.02  # [m/s]
PAD = (0.04, 0.01, 0.04)  # [m]
HAND, CARRIAGE, FINGER = 2.0, 0.5, 0.3  # masses, the carriage belongs to the hand [kg]
SHAKE, FREQUENCY = 0.5 * GRAVITY, 2.0  # amplitude [m/s^2], [Hz]
LIFT, DRAG = 0.25, 0.05  # [m]
OBJECTS = 30
DENSITY = 600.0  # [kg/m^3]
HEAP = 0.38  # distance along y from the box to the middle of each heap [m]
RIM = (0.7, 0.65, 0.1)  # half lengths of the floor's rim, and height of the rim [m]
MOTOR_LIMIT = 500.0  # force limit of the hand's two motors [N]
SLIDERS = ("sideways", "lift")
FINGERS = ("left_finger", "right_finger")


CLOSED = 0.8  # time from which the hand holds the box [s]
DRAGGED, LIFTED, SHAKEN = (1.0, 1.5), (1.6, 2.4), 2.5  # begin and end, begin of shaking [s]


def hand_speeds(time: float) -> tuple[float, float]:
    """Return the hand's sideways and upward speed at a time [s] [m/s]."""
    sideways = DRAG * _bell(time, *DRAGGED)
    if time > SHAKEN:
        omega = 2.0 * math.pi * FREQUENCY
        sideways += SHAKE / omega * math.sin(omega * (time - SHAKEN))
    return sideways, LIFT * _bell(time, *LIFTED)


def _bell(time: float, begin: float, end: float) -> float:
    """Return the speed of a quintic motion from 0 to 1 between two times."""
    s = (time - begin) / (end - begin)
    return 30.0 * s * s * (1.0 - s) ** 2 / (end - begin) if 0.0 < s < 1.0 else 0.0


def margin() -> float:
    """Return the ratio of the pads' largest friction force to the friction force that is needed.

    The needed force on both pads results from the largest acceleration of the hand and gravity.
    """
    lift = 10.0 / math.sqrt(3.0) * LIFT / (LIFTED[1] - LIFTED[0]) ** 2  # largest of a quintic
    needed = MASS * max(math.hypot(GRAVITY, SHAKE), GRAVITY + lift)
    return 2.0 * PAD_FRICTION * GRIP / needed


def urdf() -> str:
    """Return the hand: two sliders, a palm, and two fingers.

    The right finger mimics the left finger.
    """
    start = EDGE / 2 + PAD[1] / 2 + OPEN
    links = [_link("carriage", CARRIAGE), _link("palm", HAND - CARRIAGE)]
    links += [_link(name, FINGER, PAD) for name in FINGERS]
    joints = [
        _joint("sideways", "base", "carriage", (1, 0, 0), (0, 0, EDGE / 2)),
        _joint("lift", "carriage", "palm", (0, 0, 1), (0, 0, 0)),
        _joint("left_finger", "palm", "left_finger", (0, -1, 0), (0, start, 0)),
        _joint("right_finger", "palm", "right_finger", (0, 1, 0), (0, -start, 0), "left_finger"),
    ]
    return f'<robot name="gripper"><link name="base"/>{"".join(links + joints)}</robot>'


def _link(name: str, mass: float, pad=None) -> str:
    moment = mass * 1e-3
    shape = ""
    if pad is not None:
        size = " ".join(map(str, pad))
        shape = f'<collision><geometry><box size="{size}"/></geometry></collision>'
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="{moment}" '
        f'iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>'
    )


def _joint(name, parent, child, axis, origin, mimics: str = "") -> str:
    def text(values):
        return " ".join(map(str, values))

    mimic = f'<mimic joint="{mimics}"/>' if mimics else ""
    return (
        f'<joint name="{name}" type="prismatic"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{text(origin)}"/><axis xyz="{text(axis)}"/>'
        f'<limit lower="-1" upper="1" effort="1000" velocity="10"/>{mimic}</joint>'
    )


@dataclass(frozen=True)
class Thing:
    """An object on the floor: shape, mass [kg], initial pose [m, quaternion x y z w]."""

    shape: object
    mass: float
    position: np.ndarray
    orientation: np.ndarray


def rim() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return centres and lengths (3,) [m] of four boards that keep the objects on the floor."""
    x, y, height = RIM
    boards = []
    for sign in (-1.0, 1.0):
        boards.append((np.array([sign * x, 0, height / 2]), np.array([0.04, 2 * y, height])))
        boards.append((np.array([0, sign * y, height / 2]), np.array([2 * x, 0.04, height])))
    return boards


def things(count: int = OBJECTS) -> list[Thing]:
    """Return objects with random orientations in two heaps next to the hand's path.

    The objects do not overlap initially.
    """
    random = np.random.default_rng(14)
    solids = []
    for k in range(count):
        a, b, c = random.uniform(0.04, 0.09, 3)
        kind = k % 3
        if kind == 0:
            shape, volume = Box((a, b, c)), a * b * c
        elif kind == 1:
            shape, volume = Cylinder(a / 2, b), math.pi * a * a / 4 * b
        else:
            shape, volume = Sphere(a / 2), math.pi * a**3 / 6
        q = random.normal(size=4)
        side, number = 1.0 - 2.0 * (k % 2), k // 2
        column, layer = number % 5, number // 5
        at = [0.2 * (column - 2), side * HEAP, 0.12 + 0.2 * layer]
        at += np.append(random.uniform(-0.02, 0.02, 2), 0.0)
        solids.append(Thing(shape, DENSITY * volume, np.array(at), q / np.linalg.norm(q)))
    return solids


class Scene:
    """The hrpsim world of `kind` "hybrid", "direct" or "iterative".

    With "hybrid", all constraints of the gripper, its motors and its contacts are solved directly.
    All other constraints are solved iteratively.
    """

    def __init__(
        self,
        kind: str = "hybrid",
        count: int = OBJECTS,
        turn: float = 0.0,
        compliance: float = PAD_COMPLIANCE,
    ) -> None:
        """Make the world with `count` objects on the floor.

        turn: angle of the box from the pads' plane [rad]. compliance: compliance of the pads [m/N].
        """
        solver = [{"solver": "direct", "bodies": "gripper"}] if kind == "hybrid" else kind
        if kind == "hybrid":
            solver.append({"solver": "iterative"})
        self.world = world = World(TIME_STEP, (0.0, 0.0, -GRAVITY), solver=solver)
        world.set_friction("default", "held", static=PAD_FRICTION)
        world.set_contact("default", "held", compliance=compliance)
        for material in ("default", "held"):
            world.set_friction(material, "floor", static=FLOOR_FRICTION)
        world.set_friction("default", "default", static=FLOOR_FRICTION)
        world.add_ground(material="floor")
        for centre, lengths in rim():
            world.add_static(Box(lengths), centre, material="floor")
        self.robot = world.add_robot(load_model(urdf(), base="fixed"))
        self.box = world.add_body(
            Box((EDGE,) * 3),
            MASS,
            position=(0, 0, EDGE / 2),
            orientation=(0, 0, math.sin(turn / 2), math.cos(turn / 2)),
            material="held",
            name="held",
        )
        self.things = things(count)
        for k, thing in enumerate(self.things):
            world.add_body(
                thing.shape,
                thing.mass,
                position=thing.position,
                orientation=thing.orientation,
                name=f"thing_{k}",
            )
        self.robot.drive("left_finger", CLOSING, 2.0 * GRIP)
        self.steer()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.world.time

    def steer(self) -> None:
        """Set the targets of the hand's motors to the speeds at the end of the next step."""
        self.robot.drive(list(SLIDERS), hand_speeds(self.time + TIME_STEP), MOTOR_LIMIT)

    def step(self) -> None:
        """Make one step."""
        self.world.step()

    def corners(self) -> np.ndarray:
        """Return the corners of the box in the frame of each finger (2, 8, 3) [m]."""
        R = rotation_matrix(self.box.orientation)
        return corners_from_fingers(self.box.position, R, self.robot.joint_positions)

    def stands(self) -> bool:
        """Return whether the gripped box still touches the floor."""
        return bool(self.box.position[2] < EDGE / 2 + 1e-7)

    def pad_forces(self) -> list[float]:
        """Return the normal force of each pad on the box [N]."""
        pads = [self.robot.contact_arrays(finger) for finger in FINGERS]
        return [float(np.sum(pad.forces * pad.normals)) for pad in pads]


class MujocoScene:
    """The scene in MuJoCo: elliptic cone, implicitfast, Newton.

    MuJoCo's motors are not constraints, and stiff forces are included only after friction is
    solved. The hand therefore follows the path by soft position actuators.
    """

    def __init__(self, mujoco, impratio: float = 1.0) -> None:
        """Make the scene. impratio: stiffness of friction relative to normal forces."""
        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(_mjcf(things(), impratio))
        self.data = mujoco.MjData(self.model)
        self.data.ctrl[2] = CLOSING
        mujoco.mj_forward(self.model, self.data)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.data.time)

    def steer(self) -> None:
        """Set the actuators' targets."""
        self.data.ctrl[:2] += np.multiply(hand_speeds(self.time + TIME_STEP), TIME_STEP)

    def step(self) -> None:
        """Make one step."""
        self.mujoco.mj_step(self.model, self.data)

    def corners(self) -> np.ndarray:
        """Return the corners of the box in the frame of each finger (2, 8, 3) [m]."""
        q = self.data.qpos
        return corners_from_fingers(q[4:7], rotation_matrix(q[[8, 9, 10, 7]]), q[:4])


def corners_from_fingers(position, R, joints) -> np.ndarray:
    """Return the corners of the box (2, 8, 3) [m] in the fingers' frames, which do not rotate."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = position + signs * EDGE / 2 @ np.asarray(R).T
    sideways, lift, left, right = joints
    start = EDGE / 2 + PAD[1] / 2 + OPEN
    fingers = [(sideways, start - left, lift), (sideways, right - start, lift)]
    return corners[None] - np.array(fingers)[:, None]


def _mjcf(objects: list[Thing], impratio: float) -> str:
    def text(*values) -> str:
        return " ".join(f"{value:.17g}" for value in values)

    start = EDGE / 2 + PAD[1] / 2 + OPEN
    fingers = "".join(
        f'<body pos="0 {sign * start} 0"><joint name="{name}" type="slide" axis="0 {-sign} 0"/>'
        f'<geom type="box" size="{text(*np.array(PAD) / 2)}" mass="{FINGER}" '
        f'friction="{PAD_FRICTION} 0 0"/></body>'
        for name, sign in zip(FINGERS, (1, -1), strict=True)
    )
    inertial = '<inertial pos="0 0 0" mass="{}" diaginertia="1e-3 1e-3 1e-3"/>'
    hand = (
        f'<body pos="0 0 {EDGE / 2}"><joint name="sideways" type="slide" axis="1 0 0"/>'
        f'{inertial.format(CARRIAGE)}<body><joint name="lift" type="slide" axis="0 0 1"/>'
        f"{inertial.format(HAND - CARRIAGE)}{fingers}</body></body>"
    )
    bodies = [
        f'<body pos="0 0 {EDGE / 2}"><freejoint/><geom type="box" size="{text(*[EDGE / 2] * 3)}" '
        f'mass="{MASS}" friction="{PAD_FRICTION} 0 0"/></body>'
    ]
    for thing in objects:
        kind = type(thing.shape).__name__.lower()
        size = {
            "box": lambda s: np.array(s.lengths) / 2,
            "cylinder": lambda s: (s.radius, s.length / 2),
            "sphere": lambda s: (s.radius,),
        }[kind](thing.shape)
        bodies.append(
            f'<body pos="{text(*thing.position)}" quat="{text(*thing.orientation[[3, 0, 1, 2]])}">'
            f'<freejoint/><geom type="{kind}" size="{text(*size)}" mass="{thing.mass:.17g}"/>'
            "</body>"
        )
    boards = "".join(
        f'<geom type="box" pos="{text(*p)}" size="{text(*lengths / 2)}" priority="1"/>'
        for p, lengths in rim()
    )
    drives = "".join(f'<position joint="{name}" kp="2e4" kv="4e2"/>' for name in SLIDERS)
    limit = 2.0 * GRIP
    drives += f'<velocity joint="{FINGERS[0]}" kv="1e4" forcerange="-{limit} {limit}"/>'
    return (
        f'<mujoco><option timestep="{TIME_STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic" '
        f'integrator="implicitfast" impratio="{impratio}"/>'
        f'<default><geom condim="3" friction="{FLOOR_FRICTION} 0 0"/></default>'
        f'<worldbody><geom type="plane" size="0 0 1" priority="1"/>{boards}{hand}{"".join(bodies)}'
        f'</worldbody><equality><joint joint1="{FINGERS[1]}" joint2="{FINGERS[0]}"/></equality>'
        f"<actuator>{drives}</actuator></mujoco>"
    )
