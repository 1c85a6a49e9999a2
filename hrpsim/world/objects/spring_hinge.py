"""Hinges of four constrained springs between loose bodies (Kuroda, ch. 6)."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from hrpsim.constraints.penalty_rows import STABLE_BELOW, STIFFNESS_SHARE
from hrpsim.constraints.rows import DESCENT, DIRECT, ITERATIVE
from hrpsim.constraints.spring_rows import AT_LIMIT, CREEPING, FREE, HELD, SPRING_HINGE
from hrpsim.errors import WorldError, unknown_name
from hrpsim.step.late_kernels import provide_used
from hrpsim.values import finite_vector, not_negative, positive
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.ends import End, find_end

SPRING_SOLVERS = {"iterative": ITERATIVE, "direct": DIRECT, "steepest_descent": DESCENT}
_PHASES = {FREE: "free", HELD: "held", CREEPING: "creeping", AT_LIMIT: "at limit"}


class SpringHinge:
    """Two springs on an axis and two that carry torque; `World.add_spring_hinge` makes them."""

    def __init__(self, world, name: str, ends: tuple[End, End], collide: bool, number: int):
        self.world = world
        self.name = name
        self.ends = ends
        self.collide = collide
        self.number = number  # of all that the world ever had
        self.index = -1  # in the world's arrays; -1: not in the world
        self.enabled = True
        self._initial = np.zeros(1, dtype=SPRING_HINGE)

    def __repr__(self) -> str:
        a, b = (end.owner[0] for end in self.ends)
        return f"<SpringHinge {self.name!r} of {a} and {b}>"

    def _record(self) -> np.void:
        if self.index < 0:
            raise WorldError(f"spring hinge {self.name!r} was taken out of the world")
        return self.world.spring_hinge_records[self.index]

    @property
    def angle(self) -> float:
        """Angle of b from a at the start of the last step [rad], turns counted."""
        return float(self._record()["angle"])

    @property
    def rate(self) -> float:
        """Rate of the angle at the start of the last step [rad/s]."""
        return float(self._record()["rate"])

    @property
    def phase(self) -> str:
        """What holds its angle: nothing ("free"), friction ("held", "creeping"), or "at limit"."""
        return _PHASES[int(self._record()["phase"])]

    @property
    def extension(self) -> np.ndarray:
        """Extension of both axis springs, then both torque springs (4,) [m], as `angle`."""
        return self._record()["extension"].copy()

    @property
    def tension(self) -> np.ndarray:
        """What each spring pulled with in the last step, constraint force included (4,) [N]."""
        return self._record()["impulse"][:4] / self.world.time_step

    @property
    def axis_torque(self) -> float:
        """Torque of motor and sliding friction on b about the axis in the last step [Nm]."""
        return -float(self._record()["impulse"][4]) / self.world.time_step

    @property
    def max_extension(self) -> float:
        """Extension that no spring exceeds [m]."""
        return float(self._record()["max_extension"])

    @property
    def stiffness(self) -> float:
        """Stiffness of each spring [N/m]."""
        return float(self._record()["stiffness"])

    @property
    def damping(self) -> float:
        """Viscous damping of each spring [Ns/m]."""
        return float(self._record()["damping"])

    @property
    def torque(self) -> float:
        """Torque of the motor on b about the axis [Nm]; assign to change it."""
        return float(self._record()["torque"])

    @torque.setter
    def torque(self, value: float) -> None:
        self._record()["torque"] = finite_vector("torque", [value], 1)[0]

    def keep_as_initial(self) -> None:
        """Make the present state that which a reset returns to."""
        self._initial[0] = self._record()

    def initialise(self) -> None:
        """Return to how it was made, or kept since."""
        present = self._record()
        for side in ("body_a", "body_b"):  # they count anew when others leave the world
            self._initial[side] = present[side]
        self.world.spring_hinge_records[self.index] = self._initial[0]


class Springing:
    """What `World` can do with hinges of constrained springs."""

    def __init__(self):
        self._spring_hinges: dict[str, SpringHinge] = {}
        self._springs_made = 0
        self.spring_hinge_records = np.zeros(0, dtype=SPRING_HINGE)  # the scene's own

    @property
    def spring_hinges(self) -> MappingProxyType:
        """Hinges of constrained springs by name."""
        return MappingProxyType(self._spring_hinges)

    def add_spring_hinge(
        self,
        a,
        b=None,
        *,
        point,
        axis,
        half_width: float,
        radius: float,
        max_extension: float,
        stiffness: float | None = None,
        damping_ratio: float = 0.2,
        angle: float = 0.0,
        limits: tuple[float, float] = (-np.inf, np.inf),
        friction: float = 0.0,
        static_friction: float | None = None,
        solver: str = "iterative",
        name: str | None = None,
        collide: bool = False,
    ) -> SpringHinge:
        """Join two loose bodies, or one and the world, by four constrained springs; return it.

        point (3,) [m] and axis (3,) in the world, now. Two springs lie on the axis, `half_width`
        [m] to either side of the point, and two, `radius` [m] from the axis, hold the angle while
        friction or a limit does. Springs have the natural length 0, `stiffness` [N/m] and the
        damping ratio of one that moves both bodies where they are lightest; by default
        k = 0.5 m / dt^2 for that mass m. No spring is longer than max_extension [m]: beyond the
        spring's force a constraint force acts, found by `solver` "iterative", "direct" or
        "steepest_descent" (before, and not together with, all other constraints). It acts along
        the line between the spring's ends as their velocities carry them on, so the bound is kept
        where it is large beside what gravity moves in a step, 10 dt^2.
        angle [rad] is that of b from a now, limits (lower, upper) [rad] bound it, friction [Nm] is
        the torque of kinetic friction and static_friction (the same by default) what holds it.
        Raises WorldError for anything that is not so, for links of robots, for integrators other
        than "semi_implicit", and for springs that are too stiff for the time step.
        """
        if self.integrator != "semi_implicit":
            raise WorldError(
                "spring hinges need the integrator 'semi_implicit': their explicit springs gain "
                f"energy with {self.integrator!r}"
            )
        self.wake()
        ends = find_end(self, a), find_end(self, b)
        for end in ends:
            if not (end.entity is None or isinstance(end.entity, Body)):
                raise WorldError(
                    f"a spring hinge joins loose bodies; {'/'.join(end.owner)} is a robot's link"
                )
        if ends[0].body_of_scene == ends[1].body_of_scene:
            raise WorldError(f"both ends of the spring hinge, {a!r} and {b!r}, are the same")
        if solver not in SPRING_SOLVERS:
            raise WorldError(unknown_name("solver of spring hinges", str(solver), SPRING_SOLVERS))
        if name is not None and name in self._spring_hinges:
            raise WorldError(f"the world already has a spring hinge called {name!r}")
        record = np.zeros(1, dtype=SPRING_HINGE)[0]
        _place(record, ends, [end.pose(self) for end in ends], point, axis, angle)
        for what, value in {"half_width": half_width, "radius": radius}.items():
            record[what] = positive(what, value)
        record["max_extension"] = positive("max_extension", max_extension)
        lower, upper = limits
        if not (np.isnan(lower) or np.isnan(upper)) and lower >= upper:
            raise WorldError(f"limits must be (lower, upper), got {limits!r}")
        record["lower"], record["upper"] = lower, upper
        kinetic = not_negative("friction", friction, 1)[0]
        static = kinetic if static_friction is None else static_friction
        record["kinetic_friction"] = kinetic
        record["static_friction"] = not_negative("static_friction", static, 1)[0]
        if record["static_friction"] < kinetic:
            raise WorldError(f"static_friction {static} must not be below friction {kinetic}")
        mass = 1.0 / sum(_largest_response(end, record, side) for end, side in zip(ends, "ab"))
        dt = self.time_step
        k = STIFFNESS_SHARE * mass / dt**2
        if stiffness is not None:
            k = positive("stiffness", stiffness)
        c = 2.0 * not_negative("damping_ratio", damping_ratio, 1)[0] * np.sqrt(k * mass)
        if (k * dt**2 + 2.0 * c * dt) / mass >= STABLE_BELOW:
            raise WorldError(
                f"springs of {k:g} N/m and {c:g} Ns/m are too stiff for steps of {dt:g} s: with "
                f"this damping ratio up to {_stiffest(damping_ratio) * mass / dt**2:g} N/m is "
                "surely stable"
            )
        record["stiffness"], record["damping"] = k, c
        record["solver"], record["angle"] = SPRING_SOLVERS[solver], angle
        return self._hold_spring_hinge(name, ends, bool(collide), record)

    def _hold_spring_hinge(self, name, ends, collide: bool, record: np.void) -> SpringHinge:
        self._springs_made += 1
        hinge = SpringHinge(
            self, name or f"spring_hinge_{self._springs_made}", ends, collide, self._springs_made
        )
        hinge.index = len(self.spring_hinge_records)
        self._spring_hinges[hinge.name] = hinge
        records = np.zeros(hinge.index + 1, dtype=SPRING_HINGE)
        records[:-1], records[-1] = self.spring_hinge_records, record
        self._use_spring_hinges(records)
        hinge.keep_as_initial()
        self.refresh_exclusions()
        return hinge

    def remove_spring_hinge(self, hinge: SpringHinge | str) -> None:
        """Take a spring hinge out of the world for good."""
        name = hinge if isinstance(hinge, str) else hinge.name
        known = self._spring_hinges.get(name)
        if known is None or (not isinstance(hinge, str) and known is not hinge):
            raise WorldError(f"spring hinge {name!r} is not in this world")
        del self._spring_hinges[name]
        self._use_spring_hinges(np.delete(self.spring_hinge_records, known.index))
        for later in self._spring_hinges.values():
            later.index -= later.index > known.index
        known.index = -1
        self.refresh_exclusions()

    def _use_spring_hinges(self, records: np.ndarray) -> None:
        self.spring_hinge_records = records
        if self._scene is not None:
            work = self._scene.work._replace(spring_hinges_start=np.zeros_like(records))
            self._scene = self._scene._replace(spring_hinges=records, work=work)
            provide_used(self._scene)


def _place(record: np.void, ends, poses, point, axis, angle: float) -> None:
    """Write where the hinge is in both bodies."""
    point = finite_vector("point", point, 3)
    n = finite_vector("axis", axis, 3)
    if np.linalg.norm(n) < 1e-9:
        raise WorldError("the axis of a spring hinge must not be zero")
    n /= np.linalg.norm(n)
    u = np.cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0, 0.0))
    u /= np.linalg.norm(u)
    angle = finite_vector("angle", [angle], 1)[0]
    for end, pose, side, turn in zip(ends, poses, "ab", (0.0, angle), strict=True):
        x = np.cos(turn) * u + np.sin(turn) * np.cross(n, u)
        record[f"body_{side}"] = end.body_of_scene
        record[f"p_{side}"] = pose.R.T @ (point - pose.p)
        record[f"R_{side}"] = pose.R.T @ np.column_stack([x, np.cross(n, x), n])


def _largest_response(end: End, record: np.void, side: str) -> float:
    """Return how a body answers to four springs at most: largest eigenvalue of M^-1 J^T J [1/kg].

    Springs count in all directions, so that it holds however they lie.
    """
    if end.entity is None:
        return 0.0
    system = end.entity.system
    centre = record[f"p_{side}"] - system.com[0]
    R = record[f"R_{side}"]
    far = ((record["half_width"], 2), (record["radius"], 0))
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = system.inertia[0], system.mass[0] * np.eye(3)
    K = np.zeros((6, 6))
    for distance, axis in far:
        for sign in (1.0, -1.0):
            x, y, z = centre + sign * distance * R[:, axis]
            J = np.hstack([[[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]], np.eye(3)])
            K += J.T @ J
    return float(np.linalg.eigvals(np.linalg.solve(M, K)).real.max())


def _stiffest(damping_ratio: float) -> float:
    """Return the largest k dt^2 / m that is stable: s^2 + 4 zeta s = 4."""
    root = -2.0 * damping_ratio + np.sqrt(4.0 * damping_ratio**2 + STABLE_BELOW)
    return float(root**2)
