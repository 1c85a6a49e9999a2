# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The two-link pendulum of E9: Lagrange's equations with dry friction, and three models.

Kuroda, 8.2: two boxes of 2 x 2 x 6 m and 5 kg. Each box hangs on an axis along x, 1 m below its
upper face. The second axis is 4 m below the first. I is the moment of inertia of a box about the
axis, s the distance from axis to centre, and l the distance between the axes. theta_1 is relative
to link 1, and tau is the friction torque:

    (2 I + m l^2 + 2 m l s c) theta_0'' + (I + m l s c) theta_1'' - m l s sin(theta_1) w (2 u + w)
        + m g (s + l) sin(theta_0) + m g s sin(theta_0 + theta_1) = tau_0
    (I + m l s c) theta_0'' + I theta_1'' + m l s sin(theta_1) u^2
        + m g s sin(theta_0 + theta_1) = tau_1

with c = cos(theta_1), u = theta_0', w = theta_1'. The printed equation (8.5) has brackets in other
positions. Friction is -f sign(rate) in motion, and between -f and f at rest.
"""

import itertools
import math

import numpy as np
from scipy.integrate import solve_ivp

from hrpsim import Box, World, load_model

MASS, GRAVITY = 5.0, 9.8
LENGTHS = (2.0, 2.0, 6.0)
CENTRE, NEXT = 2.0, 4.0  # from an axis to the centre of its box and to the next axis [m]
SPIN = MASS * (LENGTHS[1] ** 2 + LENGTHS[2] ** 2) / 12.0
INERTIA = SPIN + MASS * CENTRE**2  # moment of inertia about the axis: 110/3 [kg m^2]
PRINTED_INERTIA = 100.0 / 3.0
START = np.array([math.pi / 4, 0.0])
FRICTION = 0.3  # [Nm]
HALF_WIDTH = 1.0  # from the centre of a hinge to each of its springs [m], not given in the thesis
DAMPING_TIME = 0.1  # damping over stiffness of the springs [s]
SPRING_STEP = 1.0 / 50  # time step at which their extension is w [s]


class Lagrange:
    """The exact motion of one or two links, starting at rest."""

    def __init__(self, start=START, friction: float = FRICTION, inertia: float = INERTIA) -> None:
        self.start, self.friction, self.inertia = np.array(start), friction, inertia
        self.count = len(self.start)

    def _equations(self, angles, rates):
        """Return the mass matrix, and the torques of gravity and velocities."""
        weight = MASS * GRAVITY
        if self.count == 1:
            return np.array([[self.inertia]]), weight * CENTRE * np.sin(angles)
        c, s = math.cos(angles[1]), math.sin(angles[1])
        b = MASS * NEXT * CENTRE
        across = self.inertia + b * c
        M = np.array(
            [[2.0 * self.inertia + MASS * NEXT**2 + 2.0 * b * c, across], [across, self.inertia]]
        )
        lower = weight * CENTRE * math.sin(angles.sum())
        u, w = rates
        h = [
            weight * (CENTRE + NEXT) * math.sin(angles[0]) + lower - b * s * w * (2.0 * u + w),
            lower + b * s * u * u,
        ]
        return M, np.array(h)

    def _forces(self, state, signs):
        """Return accelerations and friction torques.

        signs: signs of the joint rates, 0 for a joint that friction holds.
        """
        n = self.count
        M, h = self._equations(state[:n], state[n:])
        torque = -self.friction * np.array(signs, dtype=float)
        moving = np.flatnonzero(signs)
        acceleration = np.zeros(n)
        if moving.size:
            acceleration[moving] = np.linalg.solve(M[np.ix_(moving, moving)], (torque - h)[moving])
        stuck = np.flatnonzero(np.equal(signs, 0))
        torque[stuck] = (M @ acceleration + h)[stuck]
        return acceleration, torque

    def _signs(self, state, standing):
        """Return the signs of the joints' next motion. The joints `standing` are at rest."""
        n = self.count
        known = np.sign(state[n:])
        choices = [(0, 1, -1) if k in standing else (int(known[k]),) for k in range(n)]
        for signs in itertools.product(*choices):
            acceleration, torque = self._forces(state, signs)
            fits = all(
                abs(torque[k]) <= self.friction if signs[k] == 0 else acceleration[k] * signs[k] > 0
                for k in standing
            )
            if fits:
                return signs
        raise ArithmeticError(f"no consistent friction at {state}")

    def angles(self, times: np.ndarray) -> np.ndarray:
        """Return the angles (len(times), n) [rad] by DOP853 with tolerance 1e-12.

        The integration restarts whenever a joint stops or starts to move.
        """
        n, begin, end = self.count, 0.0, float(times[-1])
        state = np.concatenate([self.start, np.zeros(n)])
        path = np.zeros((len(times), n))
        standing = set(range(n))
        while True:
            signs = self._signs(state, standing)
            if not any(signs):
                path[times >= begin] = state[:n]
                return path
            part = self._part(state, signs, begin, end)
            inside = (times >= begin) & (times <= part.t[-1])
            path[inside] = part.sol(times[inside])[:n].T
            begin, state = float(part.t[-1]), part.y[:, -1].copy()
            if part.status == 0:
                return path
            standing = {k for k in range(n) if signs[k] == 0}
            for k in range(n):
                if signs[k] and len(part.t_events[k]):
                    state[n + k] = 0.0
                    standing.add(k)

    def _stop_of(self, joint: int, signs):
        """Return a function whose zero is a moving joint's stop, or a held joint's start."""
        if signs[joint]:
            return lambda _, y: signs[joint] * y[self.count + joint]
        return lambda _, y: self.friction - abs(self._forces(y, signs)[1][joint])

    def _part(self, state, signs, now: float, end: float):
        """Integrate until a moving joint stops or a held joint starts to move."""
        n = self.count

        def flow(_, y):
            return np.concatenate([y[n:], self._forces(y, signs)[0]])

        events = []
        for k in range(n):
            event = self._stop_of(k, signs)
            event.terminal = True
            event.direction = -1.0
            events.append(event)
        return solve_ivp(
            flow, (now, end), state, "DOP853", rtol=1e-12, atol=1e-13,
            events=events, dense_output=True,
        )  # fmt: skip


def urdf(friction: float = FRICTION, count: int = 2) -> str:
    """Return the links as a robot below the ceiling.

    At zero angles the links hang straight down.
    """
    across = MASS * (LENGTHS[0] ** 2 + LENGTHS[2] ** 2) / 12.0
    along = MASS * (LENGTHS[0] ** 2 + LENGTHS[1] ** 2) / 12.0
    parts, parent, z = ['<link name="ceiling"/>'], "ceiling", 0.0
    for k in range(count):
        parts.append(
            f'<link name="link{k}"><inertial><origin xyz="0 0 {-CENTRE}"/><mass value="{MASS}"/>'
            f'<inertia ixx="{SPIN}" iyy="{across}" izz="{along}" ixy="0" ixz="0" iyz="0"/>'
            f'</inertial></link><joint name="joint{k}" type="continuous">'
            f'<parent link="{parent}"/><child link="link{k}"/><origin xyz="0 0 {z}"/>'
            f'<axis xyz="1 0 0"/><dynamics friction="{friction}"/></joint>'
        )
        parent, z = f"link{k}", -NEXT
    return f'<robot name="pendulum">{"".join(parts)}</robot>'


class Tree:
    """The pendulum as a robot with joint coordinates (articulated-body algorithm)."""

    def __init__(
        self, time_step, integrator="semi_implicit", start=START, friction=FRICTION
    ) -> None:
        self.world = World(time_step, gravity=(0.0, 0.0, -GRAVITY), integrator=integrator)
        model = load_model(urdf(friction, len(start)), base="fixed")
        self.robot = self.world.add_robot(model, q=np.array(start))

    def look(self) -> np.ndarray:
        """Return the present angles [rad]."""
        return np.array(self.robot.joint_positions)


class Boxes:
    """The pendulum as free boxes. Subclasses define how `_join` connects boxes."""

    def __init__(
        self, time_step, integrator="semi_implicit", start=START, friction=FRICTION
    ) -> None:
        self.world = World(time_step, gravity=(0.0, 0.0, -GRAVITY), integrator=integrator)
        self.friction, self.boxes, self.count = friction, [], len(start)
        axis, above = np.zeros(3), None
        for angle, relative in zip(np.cumsum(start), start, strict=True):
            down = np.array([0.0, math.sin(angle), -math.cos(angle)])
            box = self.world.add_body(
                Box(LENGTHS),
                MASS,
                position=axis + CENTRE * down,
                orientation=(math.sin(angle / 2), 0.0, 0.0, math.cos(angle / 2)),
            )
            self._join(above, box, axis, float(relative))
            self.boxes.append(box)
            above, axis = box, axis + NEXT * down

    def _join(self, above, box, point, angle):
        """Hang a box at `point` [m] on the upper box or the world.

        angle: angle of the box relative to the upper box [rad].
        """
        raise NotImplementedError

    def look(self) -> np.ndarray:
        """Return the present angles [rad], in the range from -pi to pi."""
        total = np.array([2.0 * math.atan2(b.orientation[0], b.orientation[3]) for b in self.boxes])
        relative = np.diff(total, prepend=0.0)
        return (relative + math.pi) % (2.0 * math.pi) - math.pi


class Hinged(Boxes):
    """Free boxes with hinges of the constraint solver, solved directly.

    Friction is a motor with target speed zero and a torque limit.
    """

    def _join(self, above, box, point, angle) -> None:
        hinge = self.world.connect(above, box, kind="hinge", point=point, axis=(1.0, 0.0, 0.0))
        if self.friction > 0.0:
            hinge.drive("rz", 0.0, self.friction)


class Sprung(Boxes):
    """Free boxes with damped springs of natural length 0, two for each box.

    The springs are on both sides of the axis. In steps of 1/50 s each spring extends by
    `max_extension` (the thesis's w) [m] under the weight of both boxes. In shorter steps the
    stiffness is proportional to 1 / dt^2, which is the stability limit of explicit springs.
    `longest` is the longest extension. The springs are ball connections with compliance.
    """

    def __init__(self, time_step, max_extension: float, **options) -> None:
        self.max_extension, self.longest, self.springs = max_extension, 0.0, []
        super().__init__(time_step, **options)

    def _join(self, above, box, point, angle) -> None:
        weight = MASS * GRAVITY * (self.count - len(self.boxes))
        stiffer = (SPRING_STEP / self.world.time_step) ** 2
        for side in (-HALF_WIDTH, HALF_WIDTH):
            spring = self.world.connect(
                above,
                box,
                kind="ball",
                point=point + np.array([side, 0.0, 0.0]),
                compliance=self.max_extension / (stiffer * weight),
                damping_time=DAMPING_TIME,
            )
            self.springs.append(spring)
        if self.friction > 0.0:
            self.springs[-1].drive("rx", 0.0, self.friction)

    def look(self) -> np.ndarray:
        """Return the present angles [rad], and update the longest extension."""
        extensions = [np.linalg.norm(spring.error[:3]) for spring in self.springs]
        self.longest = max(self.longest, *extensions)
        return super().look()


def swing(model, duration: float) -> np.ndarray:
    """Step a model for `duration` [s].

    Return the initial angles, and the angles after each step.
    """
    seen = [model.look()]
    for _ in range(round(duration / model.world.time_step)):
        model.world.step()
        seen.append(model.look())
    return np.array(seen)


def times(time_step: float, duration: float) -> np.ndarray:
    """Return the times of the results of `swing` [s]."""
    return np.arange(round(duration / time_step) + 1) * time_step
