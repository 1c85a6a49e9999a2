# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A markdown table of scenes with a known answer: the truth, hrpsim, and MuJoCo twice.

MuJoCo has its elliptic cone and the scene's step in both columns; "stiff" has contacts of two
steps, impratio 100 and nearly constant impedance. From the folder test/, or with it on the path:

    python -m world.closed_form_report
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from evidence.experiments.framework.engines import mujoco_module, peer_name
from hrpsim import Box, Cylinder, Sphere, World

GRAVITY = 9.80665
STEP = 1e-3


class Case(NamedTuple):
    """A scene, its exact answer, and the same measured in both engines."""

    what: str
    truth: float
    ours: Callable[[], float]
    theirs: Callable[[bool], float] | None  # takes whether contacts are stiff


def mujoco_scene(bodies: str, stiff: bool, integrator="implicitfast", gravity=GRAVITY, contact=""):
    """Return model and data of MuJoCo for the bodies of a scene; `contact` replaces solref."""
    mujoco = mujoco_module()
    if stiff and not contact:
        contact = f'solref="{2 * STEP} 1" solimp="0.99 0.9999 0.0001"'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" cone="elliptic" integrator="{integrator}"'
        f' gravity="0 0 {-gravity}" impratio="{100 if stiff else 1}" tolerance="1e-12"'
        ' iterations="200"><flag refsafe="disable"/></option><compiler angle="radian"/>'
        f"<default><geom {contact}/></default><worldbody>{bodies}</worldbody></mujoco>"
    )
    return model, mujoco.MjData(model)


def advance(model, data, steps: int) -> None:
    mujoco = mujoco_module()
    for _ in range(steps):
        mujoco.mj_step(model, data)


def free(geom: str, position: str, turned: str = "1 0 0 0") -> str:
    return f'<body pos="{position}" quat="{turned}"><freejoint/><geom {geom}/></body>'


def ground(friction: float) -> str:
    return f'<geom type="plane" size="9 9 1" friction="{friction} 0 0"/>'


# -- a ball on a spring and damper ------------------------------------------------------------

STIFFNESS, DAMPING_TIME, PHASES = 1e4, 2e-4, 10


def gaps() -> np.ndarray:
    return 5e-4 + np.linspace(0.0, 1.0, PHASES, endpoint=False) * STEP


def rebound_truth() -> float:
    def motion(t, s):
        return s[1], max(0.0, -STIFFNESS * (s[0] + DAMPING_TIME * s[1]))

    return float(solve_ivp(motion, (0.0, 0.1), (0.0, -1.0), rtol=1e-10, max_step=1e-4).y[1, -1])


def farthest(values, truth: float) -> float:
    return max(values, key=lambda value: abs(value - truth))


def soft_ball() -> Case:
    def one(gap: float) -> float:
        world = World(STEP, gravity=(0, 0, 0), sleeping=False)
        world.set_friction("default", "default", 0.0)
        world.set_contact("default", "default", compliance=1 / STIFFNESS, damping_time=DAMPING_TIME)
        world.add_ground()
        ball = world.add_body(Sphere(0.1), 1.0, (0, 0, 0.1 + gap), velocity=(0, 0, -1))
        world.step(100)
        return float(ball.velocity[2])

    def other(gap: float, stiff: bool) -> float:
        contact = f'solref="{-STIFFNESS} {-STIFFNESS * DAMPING_TIME}"'
        contact += ' solimp="0.9999 0.9999 0.001"' if stiff else ""
        ball = free('type="sphere" size="0.1" mass="1"', f"0 0 {0.1 + gap}")
        model, data = mujoco_scene(ground(0) + ball, stiff, gravity=0.0, contact=contact)
        data.qvel[2] = -1.0
        advance(model, data, 100)
        return float(data.qvel[2])

    truth = rebound_truth()
    return Case(
        "ball of 1 kg meets 1e4 N/m and 2 Ns/m at 1 m/s: final speed [m/s], worst of 10 phases",
        truth,
        lambda: farthest(map(one, gaps()), truth),
        lambda stiff: farthest((other(gap, stiff) for gap in gaps()), truth),
    )


# -- a box over tiles --------------------------------------------------------------------------


def tiles() -> Case:
    size, places = 0.25, range(14)

    def ours() -> float:
        world = World(STEP, sleeping=False)
        world.set_friction("default", "default", 0.0)
        for k in places:
            world.add_static(Box((size, 1, 0.1)), position=(size * k, 0, -0.05))
        box = world.add_body(Box((0.2,) * 3), 5.0, (0.05, 0, 0.1), velocity=(1, 0, 0))
        world.step(2000)
        return float(box.velocity[0])

    def theirs(stiff: bool) -> float:
        scene = "".join(
            f'<geom type="box" size="{size / 2} 0.5 0.05" pos="{size * k} 0 -0.05"'
            ' friction="1e-9 0 0"/>'
            for k in places
        )
        box = free('type="box" size="0.1 0.1 0.1" mass="5" friction="1e-9 0 0"', "0.05 0 0.1")
        model, data = mujoco_scene(scene + box, stiff)
        data.qvel[0] = 1.0
        advance(model, data, 2000)
        return float(data.qvel[0])

    return Case(
        "box slides at 1 m/s over flush boxes without friction: speed after 2 s [m/s]",
        1.0,
        ours,
        theirs,
    )


# -- a ball off a fixed ball -------------------------------------------------------------------


def ball_off_a_ball(integrator: str, peer: str) -> Case:
    start = math.radians(15)
    x, z = 1.1 * math.sin(start), 1.1 * math.cos(start)

    def ours() -> float:
        world = World(STEP, integrator=integrator, sleeping=False)
        world.set_friction("default", "default", 2.0)
        world.add_static(Sphere(1.0))
        ball = world.add_body(Sphere(0.1), 1.0, (x, 0, z))
        last = height = 1.0
        while height > 0.3:
            world.step(1)
            height = float(ball.position[2] / np.linalg.norm(ball.position))
            last = height if np.any(world.contact_arrays().forces) else last
        return last

    def theirs(stiff: bool) -> float:
        fixed = '<geom type="sphere" size="1" friction="2 0 0"/>'
        ball = free('type="sphere" size="0.1" mass="1" friction="2 0 0"', f"{x} 0 {z}")
        model, data = mujoco_scene(fixed + ball, stiff, peer)
        last = height = 1.0
        while height > 0.3:
            advance(model, data, 1)
            height = float(data.qpos[2] / np.linalg.norm(data.qpos[:3]))
            last = height if np.any(data.efc_force) else last
        return last

    return Case(
        f"ball rolls and slips off a ball, friction 2, {integrator}: cos a at the separation",
        0.5730,
        ours,
        theirs,
    )


# -- slender bodies that tumble ----------------------------------------------------------------


def tumbling_rod(integrator: str, peer: str) -> Case:
    moments, spin = np.array((0.01, 1e-6, 0.01)), np.array((20.0, 150.0, 10.0))

    def energy(w: np.ndarray) -> float:
        return float(moments @ w**2 / (moments @ spin**2))

    def ours() -> float:
        world = World(STEP, gravity=(0, 0, 0), integrator=integrator, sleeping=False)
        body = world.add_body(
            Cylinder(0.005, 0.5), 0.5, inertia=np.diag(moments), angular_velocity=spin
        )
        world.step(1000)
        return energy(Rotation.from_quat(body.orientation).inv().apply(body.angular_velocity))

    def theirs(stiff: bool) -> float:
        rod = (
            "<body><freejoint/>"
            f'<inertial pos="0 0 0" mass="0.5" diaginertia="{" ".join(map(str, moments))}"/>'
            "</body>"
        )
        model, data = mujoco_scene(rod, stiff, peer, 0.0)
        data.qvel[3:] = spin
        advance(model, data, 1000)
        return energy(data.qvel[3:])

    return Case(
        f"rod that tumbles for 1 s, {integrator}: energy / initial energy", 1.0, ours, theirs
    )


# -- a ball on a turntable ---------------------------------------------------------------------


def turntable(integrator: str, peer: str) -> Case:
    spin, radius, start, speed = 2.0, 0.05, np.array((0.5, 0.0)), np.array((0.0, 0.3))
    slip = speed - spin * np.array((-start[1], start[0]))
    turn = (-slip[1] / radius, slip[0] / radius, 0.0)
    # A solid ball goes round a circle at 2/7 of the table's rate, wherever it starts.
    centre = start + np.array(((0, -1), (1, 0))) @ speed / (2 / 7 * spin)
    angle = 2 / 7 * spin * 5.0
    turned = np.array(((math.cos(angle), -math.sin(angle)), (math.sin(angle), math.cos(angle))))
    end = centre + turned @ (start - centre)

    def ours() -> float:
        world = World(STEP, integrator=integrator, sleeping=False)
        world.set_friction("default", "default", 2.0)
        table = world.add_body(
            Cylinder(3.0, 0.1), 100.0, (0, 0, -0.05), angular_velocity=(0, 0, spin)
        )
        world.connect(None, table, "hinge", point=(0, 0, 0), axis=(0, 0, 1)).drive("rz", spin, 1e6)
        ball = world.add_body(
            Sphere(radius), 0.5, (*start, radius), velocity=(*speed, 0), angular_velocity=turn
        )
        world.step(5000)
        return float(np.linalg.norm(ball.position[:2] - end))

    def theirs(stiff: bool) -> float:
        table = (
            '<body pos="0 0 -0.05"><joint axis="0 0 1"/>'
            '<geom type="cylinder" size="3 0.05" mass="1e7" friction="2 0 0"/></body>'
        )
        ball = free(
            f'type="sphere" size="{radius}" mass="0.5" friction="2 0 0"',
            f"{start[0]} {start[1]} {radius}",
        )
        model, data = mujoco_scene(table + ball, stiff, peer)
        data.qvel[:] = spin, *speed, 0.0, *turn
        advance(model, data, 5000)
        return float(np.linalg.norm(data.qpos[1:3] - end))

    return Case(
        f"ball on a turntable for 5 s, {integrator}: error of position [m]", 0.0, ours, theirs
    )


# -- a tower whose weights grow by ten ---------------------------------------------------------


def tower() -> Case:
    count, edge = 10, 0.2

    def ours() -> float:
        world = World(STEP, sleeping=False)
        world.add_ground()
        boxes = [
            world.add_body(Box((edge,) * 3), 10.0**k, (0, 0, edge * (k + 0.5)))
            for k in range(count)
        ]
        world.step(1000)
        return float(edge * (count - 0.5) - boxes[-1].position[2])

    def theirs(stiff: bool) -> float:
        boxes = "".join(
            free(
                f'type="box" size="{edge / 2} {edge / 2} {edge / 2}" mass="{10.0**k}"',
                f"0 0 {edge * (k + 0.5)}",
            )
            for k in range(count)
        )
        model, data = mujoco_scene(ground(1) + boxes, stiff)
        advance(model, data, 1000)
        return float(edge * (count - 0.5) - data.qpos[-5])

    return Case(
        "tower of ten boxes, 1 kg at the bottom to 1e9 kg at the top: sag in 1 s [m]",
        0.0,
        ours,
        theirs,
    )


def cases() -> list[Case]:
    """Every scene of the table."""
    peers = (("semi_implicit", "implicitfast"), ("rk4", "RK4"))
    return [
        soft_ball(),
        tiles(),
        *(ball_off_a_ball(*pair) for pair in peers),
        *(tumbling_rod(*pair) for pair in peers),
        *(turntable(*pair) for pair in peers),
        tower(),
    ]


def main() -> None:
    """Print the table."""
    module = mujoco_module()
    print(
        f"| scene | truth | hrpsim | {peer_name(module)} | mujoco with stiff contacts |\n"
        + 5 * "| --- "
        + "|"
    )
    for case in cases():
        found = [case.ours()]
        if module is not None and case.theirs is not None:
            found += [case.theirs(False), case.theirs(True)]
        shown = " | ".join([f"{value:.6g}" for value in found] + ["-"] * (3 - len(found)))
        print(f"| {case.what} | {case.truth:.6g} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
