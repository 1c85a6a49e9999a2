# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The spring hinges of a world: joints of four constrained springs between loose bodies."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.constraints.penalty_rows import STABLE_BELOW, STIFFNESS_SHARE
from hrpsim.constraints.spring_rows import SPRING_HINGE
from hrpsim.errors import WorldError, unknown_name
from hrpsim.values import finite_vector, not_negative, positive
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.ends import End, EndLike, find_end
from hrpsim.world.objects.spring_hinge import SPRING_SOLVERS, SpringHinge
from hrpsim.world.parts.exclusions import JoiningPart


class SpringHinges(JoiningPart):
    """Hinges of constrained springs."""

    @property
    def spring_hinges(self) -> MappingProxyType:
        """Hinges of constrained springs by name."""
        return MappingProxyType(self._contents.spring_hinges)

    def add_spring_hinge(  # many parameters: keywords, told by name
        self,
        a: EndLike,
        b: EndLike = None,
        *,
        point: ArrayLike,
        axis: ArrayLike,
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
        """Join two loose bodies, or one and the world, by four springs; return the hinge.

        Two springs lie on the axis, and two, at a radius from it, hold the angle while friction or
        a limit does. Springs have the natural length 0. Beyond the maximum extension a constraint
        force adds to the spring's force. It acts along the line between the spring's ends as their
        velocities carry them on, so the bound holds where it is large compared with the motion by
        gravity in a step, 10 dt^2.

        Args:
            a: a loose body.
            b: a loose body, or None for the world.
            point: of the hinge in the world, now (3,) [m].
            axis: of the hinge in the world, now (3,).
            half_width: distance of the springs on the axis from the point [m].
            radius: distance of the other two springs from the axis [m].
            max_extension: of each spring [m].
            stiffness: of each spring [N/m]; by default k = 0.5 m / dt^2 for the mass m of a spring
                that moves both bodies where they are lightest.
            damping_ratio: of a spring for that mass.
            angle: of b from a, now [rad].
            limits: lower and upper bound of the angle [rad].
            friction: torque of kinetic friction [Nm].
            static_friction: largest torque of static friction [Nm]; that of kinetic friction by
                default.
            solver: of the constraint forces, "iterative", "direct" or "steepest_descent" (before,
                and not together with, all other constraints).
            name: unique in the world; made up by default.
            collide: whether the two bodies collide with each other.

        Raises:
            WorldError: for other values, for links of robots, for integrators other than
                "semi_implicit", and for springs that are too stiff for the time step.
        """
        contents = self._contents
        if contents.integrator != "semi_implicit":
            raise WorldError(
                "spring hinges need the integrator 'semi_implicit': their explicit springs gain "
                f"energy with {contents.integrator!r}"
            )
        self._sleep.wake()
        ends = self._find_ends(a, b)
        if solver not in SPRING_SOLVERS:
            raise WorldError(unknown_name("solver of spring hinges", str(solver), SPRING_SOLVERS))
        if name is not None and name in contents.spring_hinges:
            raise WorldError(f"the world already has a spring hinge called {name!r}")
        record = np.zeros(1, dtype=SPRING_HINGE)[0]
        poses = [end.pose(self._world) for end in ends]
        _place(record, ends, poses, point, axis, angle)
        for what, value in {"half_width": half_width, "radius": radius}.items():
            record[what] = positive(what, value)
        record["max_extension"] = positive("max_extension", max_extension)
        _set_limits(record, limits)
        _set_friction(record, friction, static_friction)
        _set_springs(record, ends, stiffness, damping_ratio, contents.time_step)
        record["solver"], record["angle"] = SPRING_SOLVERS[solver], angle
        return self._hold(name, ends, bool(collide), record)

    def _find_ends(self, a, b) -> tuple[End, End]:
        ends = find_end(self._world, a), find_end(self._world, b)
        for end in ends:
            if not (end.entity is None or isinstance(end.entity, Body)):
                raise WorldError(
                    f"a spring hinge joins loose bodies; {'/'.join(end.owner)} is a robot's link"
                )
        if ends[0].body_of_scene == ends[1].body_of_scene:
            raise WorldError(f"both ends of the spring hinge, {a!r} and {b!r}, are the same")
        return ends

    def _hold(self, name, ends, collide: bool, record: np.void) -> SpringHinge:
        contents = self._contents
        self._made += 1
        name = name or f"spring_hinge_{self._made}"
        hinge = SpringHinge(self._world, name, ends, collide, self._made)
        hinge.index = len(contents.spring_hinge_records)
        contents.spring_hinges[hinge.name] = hinge
        records = np.zeros(hinge.index + 1, dtype=SPRING_HINGE)
        records[:-1], records[-1] = contents.spring_hinge_records, record
        self._scenes.use_spring_hinges(records)
        hinge.keep_as_initial()
        self._exclusions.refresh()
        return hinge

    def remove_spring_hinge(self, hinge: SpringHinge | str) -> None:
        """Remove a spring hinge, or one of this name, from the world for good."""
        contents = self._contents
        name = hinge if isinstance(hinge, str) else hinge.name
        known = contents.spring_hinges.get(name)
        if known is None or (not isinstance(hinge, str) and known is not hinge):
            raise WorldError(f"spring hinge {name!r} is not in this world")
        del contents.spring_hinges[name]
        self._scenes.use_spring_hinges(np.delete(contents.spring_hinge_records, known.index))
        for later in contents.spring_hinges.values():
            later.index -= later.index > known.index
        known.index = -1
        self._exclusions.refresh()


def _set_limits(record: np.void, limits: tuple[float, float]) -> None:
    lower, upper = limits
    if not (np.isnan(lower) or np.isnan(upper)) and lower >= upper:
        raise WorldError(f"limits must be (lower, upper), got {limits!r}")
    record["lower"], record["upper"] = lower, upper


def _set_friction(record: np.void, kinetic, static) -> None:
    kinetic = not_negative("friction", kinetic, 1)[0]
    static = not_negative("static_friction", kinetic if static is None else static, 1)[0]
    record["kinetic_friction"], record["static_friction"] = kinetic, static
    if static < kinetic:
        raise WorldError(f"static_friction {static} must not be below friction {kinetic}")


def _set_springs(record: np.void, ends, stiffness, damping_ratio, dt: float) -> None:
    """Write stiffness and damping; WorldError for what is not stable in steps of dt [s]."""
    mass = 1.0 / sum(_largest_response(end, record, side) for end, side in zip(ends, "ab"))
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
