# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of a step of humanoids with 12, 36 and 60 joints on 0, 8 and 64 contact points."""

from __future__ import annotations

import numpy as np
from lxml import etree

from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes.standing import half_sitting, humanoid, mujoco_standing
from hrpsim import Model, World, load_model

JOINTS, POINTS = (12, 36, 60), (0, 8, 64)
OURS, STEP, MUJOCO = "hrpsim linearize", "hrpsim step", "mjd_transitionFD, centred"
BOUND = 12.0  # largest time of a linearisation, in steps
DIFFERENCE = 1e-6
_FINGER = (
    '<link name="{0}"><inertial><mass value="0.05"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" '
    'ixy="0" ixz="0" iyz="0"/></inertial></link>'
)


def robot(joints: int, points: int) -> Model:
    """Return hrp2_like on rigid feet: legs alone, unchanged, or with 12 fingers on each hand."""
    model = humanoid(max(points, 8), bush=False)
    tree = etree.fromstring(model.urdf.encode())
    if joints < model.nv - 6:
        fixed = {name for name in model.joint_names if "LEG" not in name}
        for element in list(tree):
            if element.get("reference") in fixed or element.tag == "ros2_control":
                tree.remove(element)
            elif element.tag == "joint" and element.get("name") in fixed:
                element.set("type", "fixed")
    for k in range(max(joints - (model.nv - 6), 0)):
        parent = f"{'LR'[k % 2]}ARM_LINK6"
        tree.append(etree.fromstring(_FINGER.format(f"finger{k}")))
        tree.append(
            etree.fromstring(
                f'<joint name="finger{k}" type="revolute"><parent link="{parent}"/><child '
                f'link="finger{k}"/><origin xyz="0 0.01 -0.0{k % 9}"/><axis xyz="1 0 0"/><limit '
                'lower="-1" upper="1" effort="10" velocity="10"/></joint>'
            )
        )
    return load_model(etree.tostring(tree, encoding="unicode"))


def subjects(model: Model, points: int, mujoco) -> list[Subject]:
    """Return subjects: hrpsim's step, hrpsim's derivatives, and MuJoCo's central differences."""
    world = World(sleeping=False)
    q = half_sitting(model)
    if points:
        world.add_ground()
    else:
        q[2] += 1.0
    world.add_robot(model, q=q)
    if points:
        world.settle()
    world.step(3)
    start = world.snapshot()
    timed = [
        Subject(OURS, lambda n: [world.linearize() for _ in range(n)], True),
        Subject(STEP, world.step, True, lambda: world.restore(start), most=200),
    ]
    if mujoco is not None:
        mj, data = mujoco_standing(mujoco, model, q)
        mujoco.mj_step(mj, data, nstep=3)
        size = 2 * mj.nv
        A, B = np.empty((size, size)), np.empty((size, mj.nu))

        def differences(count) -> None:
            for _ in range(count):
                mujoco.mjd_transitionFD(mj, data, DIFFERENCE, 1, A, B, None, None)

        timed.append(Subject(MUJOCO, differences))
    return timed


def run(result: CaseResult, effort: Effort) -> None:
    """Time the derivatives for all robots and all numbers of contact points."""
    mujoco = mujoco_module()
    for joints in JOINTS:
        for points in POINTS:
            model = robot(joints, points)
            label = f"{model.nv - 6} joints, {points} points"
            times = result.measure(label, subjects(model, points, mujoco), effort)
            if joints == 36:
                ratio = median_ratio(times, OURS, STEP)
                result.claims.append(Claim(f"{label}: linearize, in steps", ratio, BOUND))
            if joints == 36 and mujoco is not None:
                ratio = median_ratio(times, OURS, MUJOCO)
                result.claims.append(Claim(f"{label}: linearize over MuJoCo's", ratio, 1.0))
    result.notes += [
        "at rest, B by the efforts of all joints. hrpsim: its step and the exact derivative of it, "
        f"mujoco: central differences of {DIFFERENCE:g}, B by position commands",
        "12 joints: the legs alone. 60: twelve more on each hand",
    ]


CASE = Case("Derivatives of a step", run)
