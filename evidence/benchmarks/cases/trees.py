# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Chains and binary trees of 10 to 1000 joints: forward dynamics, and a whole step."""

from __future__ import annotations

from itertools import product

import numpy as np

from evidence.benchmarks.cases import rigid_body_kernels as kernels
from evidence.benchmarks.engines.pinocchio_algorithms import LOOP, PinocchioAlgorithms
from evidence.benchmarks.figures import draw_against_size
from evidence.benchmarks.results import Case, CaseResult, Claim, fit
from evidence.benchmarks.robots import mujoco_model
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module, pinocchio_module
from hrpsim import World, load_model
from hrpsim.engine.dynamics.articulated import new_workspace

SIZES = (10, 30, 100, 300, 1000)
SHAPES = {"chain": lambda k: k - 1, "tree": lambda k: (k - 1) // 2}  # parent of link k
PINOCCHIO_LARGEST = 100  # joints: Pinocchio's data take 0.9 GB at 300 and more than 12 GB at 1000
STATES = 4
OURS_ABA, OURS_STEP, MUJOCO = "hrpsim ABA", "hrpsim step", "mujoco step"


def tree_urdf(shape: str, joints: int) -> str:
    """Return a URDF of links of 0.1 m and 1 kg. The joint axes are x, y, z in rotation."""
    inertia = '<inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/>'
    parts = [
        f'<link name="l{k}"><inertial><origin xyz="0.05 0 0"/><mass value="1"/>{inertia}'
        "</inertial></link>"
        for k in range(joints + 1)
    ]
    for k in range(1, joints + 1):
        axis = ("1 0 0", "0 1 0", "0 0 1")[k % 3]
        y = 0.03 * (-1) ** k if shape == "tree" else 0.0
        parts.append(
            f'<joint name="j{k}" type="revolute"><parent link="l{SHAPES[shape](k)}"/>'
            f'<child link="l{k}"/><origin xyz="0.1 {y} 0"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="100" velocity="100"/></joint>'
        )
    return f'<robot name="{shape}">{"".join(parts)}</robot>'


def random_states(model) -> list[np.ndarray]:
    """Return q, v, tau, dv of a free base and of joints with small angles."""
    random = np.random.default_rng(1)
    q = np.tile(model.neutral(), (STATES, 1))
    q[:, 7:] = random.uniform(-0.3, 0.3, (STATES, model.nq - 7))
    v, tau, dv = random.normal(size=(3, STATES, model.nv)) * 0.1
    tau[:, :6] = 0.0
    return [q, v, tau, dv]


def run(result: CaseResult, effort: Effort) -> None:
    """Time forward dynamics and steps of every tree in turn, and fit power laws."""
    pinocchio, mujoco = pinocchio_module(), mujoco_module()
    sizes = (10, 100, 1000) if effort.quick else SIZES
    times: dict[tuple[str, str], list] = {}
    for shape, size in product(SHAPES, sizes):
        model = load_model(tree_urdf(shape, size))
        q, v, tau, dv = random_states(model)
        dynamics = [_our_aba(model, q, v, tau)]
        if pinocchio is not None and size <= PINOCCHIO_LARGEST:
            dynamics += PinocchioAlgorithms(pinocchio, model, q, v, tau, dv).subjects("ABA")[:1]
        steps = [_our_step(model, q[0])]
        if mujoco is not None:
            steps.append(_mujoco_step(mujoco, model, q[0]))
        for kind, subjects in (("ABA", dynamics), ("step", steps)):
            new = result.measure(f"{shape} of {size} joints, {kind}", subjects, effort)
            for name, values in new.items():
                times.setdefault((shape, name), []).append(values)
    for (shape, name), values in times.items():
        is_ours = name in (OURS_ABA, OURS_STEP)
        if is_ours or name in (LOOP, MUJOCO):
            few = sizes[: len(values)]
            result.fits.append(fit(f"{name}, {shape}", "joints", few, values, is_ours))
        if is_ours:
            exponent = result.fits[-1].exponent
            result.claims.append(Claim(f"exponent of {name}, {shape}", exponent, 1.0))
    result.notes += [
        "The trees fall with a free base and no contact. ABA includes kinematics, over four "
        "states, in pinocchio's loop over them. A step includes sensors and integration",
        "pinocchio is left out from 300 joints on: its data take 0.9 GB at 300 joints and over "
        "12 GB at 1000",
        "mujoco factorises the mass matrix. Its work grows with the depth of the tree",
    ]


def _our_aba(model, q, v, tau) -> Subject:
    space, out = new_workspace(model.system), np.zeros((STATES, model.nv))
    return Subject(OURS_ABA, lambda n: kernels.run_aba(space, q, v, tau, n, out), ours=True)


def _our_step(model, q) -> Subject:
    world = World()
    world.add_robot(model, q=q)
    start = world.snapshot()
    return Subject(OURS_STEP, world.step, True, lambda: world.restore(start), most=200)


def _mujoco_step(mujoco, model, q) -> Subject:
    mj = mujoco_model(mujoco, model)
    mj.opt.timestep, mj.opt.gravity[2] = 1e-3, -9.80665
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(mj)
    start = data.qpos.copy()
    for k in range(1, mj.njnt):
        start[mj.jnt_qposadr[k]] = q[model.joint(mj.joint(k).name).q_index]

    def reset() -> None:
        data.qpos[:], data.qvel[:] = start, 0.0

    return Subject(MUJOCO, lambda n: mujoco.mj_step(mj, data, nstep=n), reset=reset, most=200)


def draw(result: CaseResult, figure) -> None:
    """Draw times of chains on the left, and of trees on the right."""
    for axes, shape in zip(figure.subplots(1, 2, sharey=True), SHAPES):
        sizes = {
            f"{shape} of {size} joints, {kind}": float(size)
            for size in SIZES
            for kind in ("ABA", "step")
        }
        draw_against_size(result, axes, sizes, f"joints of a {shape}")


CASE = Case("Chains and trees", run, draw)
