# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim warm-up`: compiles in advance the kernels that worlds would compile at first use."""

import argparse
import contextlib
import gc
import io
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

from hrpsim.common.arguments import whole
from hrpsim.common.errors import HrpsimError, require_name
from hrpsim.common.progress import Progress

STEP, READING, WALKING, RAYS = "step", "reading", "walking", "rays"
_OF_STEP = "find_contacts", "prepare_rows", "solve_rows"  # of every step, compiled on first use
# Kernels of walks, compiled on first use.
_OF_WALKS = "keep_momentum", "seek_grip", "solve_displacement", "solve_by_newton_method"
_LOWEST = 19  # priority
# Measured processor time of parts relative to a part of weight 1. Long parts start first.
_WEIGHTS = {"let_nothing_pass": 16.0, "solve_by_newton_method": 11.0, STEP: 8.5, WALKING: 7.0}
_WEIGHTS |= {"prepare_rows": 4.0, "integrate_rk4": 4.0, "find_contacts": 3.0, "seek_grip": 2.0}
_WEIGHTS |= {READING: 2.0, RAYS: 2.0}
_USUAL = 1.0  # time of a part of weight 1 [s]
_LOOK_PERIOD = 1.0  # between lines of progress [s, wall]
_ROBOT = """<robot name="warm_up"><link name="base"/><link name="arm"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <hrpsim reference="arm"><sensor name="scan" type="height_scan"/></hrpsim></robot>"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "kernels", nargs="*", metavar="KERNEL", help="compile these lazily compiled kernels only"
    )
    parser.add_argument("--idle", action="store_true", help="at the lowest priority")
    parser.add_argument(
        "--processes",
        type=whole(1, 1024),
        help="that compile side by side; one a processor by default",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile the step and all kernels called by the step, and store the kernels on disk."""
    begin = time.perf_counter()
    known = parts()
    for name in options.kernels:
        require_name("kernel", name, known, HrpsimError)
    if options.idle:
        os.nice(_LOWEST)
    _compile(options.kernels or known, options.processes)
    print(f"kernels are ready ({time.perf_counter() - begin:.1f} s)")
    return 0


def compile_for_walks() -> None:
    """Compile the step and the kernels of walks on all processors, unless already compiled.

    Without this call, worlds compile the kernels one after another at first use. The same happens
    if nothing can be stored on disk.
    """
    from hrpsim.control.balance.stabilizing import stabilize
    from hrpsim.engine.compile.compiled import is_cached
    from hrpsim.engine.compile.kernel_folders import cache_directory
    from hrpsim.engine.compile.lazy_kernels import absent_kernels
    from hrpsim.engine.step.step import advance

    absent = set(absent_kernels())
    to_compile = [] if is_cached(advance) else [STEP]
    to_compile += [name for name in (*_OF_STEP, *_OF_WALKS) if name in absent]
    if not is_cached(stabilize):
        to_compile.append(WALKING)
    if len(to_compile) > 1 and os.access(cache_directory, os.W_OK):
        _compile(to_compile, None)


def _compile(names: list[str], processes: int | None) -> None:
    workers = min(processes or os.cpu_count() or 1, len(names))
    if workers <= 1:
        for part in names:
            compile_part(part)
        return
    longest_first = in_order(names)
    begin, progress = time.perf_counter(), Progress("compiling", "parts")
    spawn = multiprocessing.get_context("spawn")  # numba's state does not survive a fork
    # These processes end soon, so garbage collection is not needed.
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=gc.disable) as pool:
        parts = {pool.submit(_timed, part): part for part in longest_first}
        left = set(parts)
        while left:
            took = {parts[future]: future.result() for future in parts if future not in left}
            remaining = seconds_left(longest_first, took, workers, time.perf_counter() - begin)
            progress.show(len(took), len(parts), f"{remaining:.0f} s left")
            left = wait(left, _LOOK_PERIOD, FIRST_COMPLETED).not_done
        progress.end()
        for future in parts:
            future.result()


def _timed(part: str) -> float:
    """Compile a group of kernels. Return the duration [s]."""
    begin = time.perf_counter()
    # On a terminal the line of progress shows this.
    output = io.StringIO() if sys.stderr.isatty() else sys.stderr
    with contextlib.redirect_stderr(output):
        compile_part(part)
    return time.perf_counter() - begin


def seconds_left(
    longest_first: list[str], took: dict[str, float], workers: int, elapsed: float
) -> float:
    """Return the remaining time of compiling [s, wall], from the times of finished parts [s]."""
    done = sum(map(_weight, took))
    seconds_per_weight = sum(took.values()) / done if done else _USUAL
    ends = [0.0] * workers
    for part in longest_first:
        ends[ends.index(min(ends))] += _weight(part)
    return max(max(ends) * seconds_per_weight - elapsed, 1.0)


def in_order(names: Iterable[str]) -> list[str]:
    """Return groups of kernels in the order of compilation, the longest first."""
    return sorted(names, key=_weight, reverse=True)


def _weight(part: str) -> float:
    return _WEIGHTS.get(part, 1.0)


def parts() -> list[str]:
    """Return the names of groups of kernels: the step, sensors, the walk, and lazy kernels."""
    import hrpsim.engine.step.step  # noqa: F401  which declares the kernels
    from hrpsim.engine.compile.lazy_kernels import declared_lazy_kernels

    return [STEP, READING, WALKING, RAYS, *declared_lazy_kernels()]


def compile_part(part: str) -> None:
    """Compile a group of kernels, unless a process has already compiled the group."""
    if part == WALKING:
        _compile_walk()
        return
    import numpy as np

    from hrpsim.engine.compile.compiled import entry_point
    from hrpsim.engine.compile.lazy_kernels import compile_ahead, let_compile
    from hrpsim.engine.compile.reference import TupleReference
    from hrpsim.engine.step.side_by_side import SPAN, TURN, advance_side_by_side
    from hrpsim.engine.step.step import advance
    from hrpsim.model.load import load_model
    from hrpsim.model.shapes.convex_hull import ConvexHull
    from hrpsim.model.shapes.geometry import Sphere
    from hrpsim.world.start import world_kinetic_energy
    from hrpsim.world.world import World

    world = World(sleeping=False)
    world.add_ground()
    world.add_body(Sphere(0.1), mass=1.0, position=(0.0, 0.0, 0.1))
    if part == READING:
        robot = world.add_robot(load_model(_ROBOT, base="fixed"))
        robot.command(efforts=robot.constraint_efforts())
        _compile_dynamics(robot.model, robot.q, robot.v)
        world.contact_arrays(), world.link_poses(), world.link_velocities()
        world.contacts_of(world.bodies["sphere"])
        world.connect(None, "sphere").wrench  # noqa: B018  compiles what reads it
        world_kinetic_energy(world)
        return
    if part == RAYS:
        world.add_static(ConvexHull(np.eye(4, 3)))
        robot = world.add_robot(load_model(_ROBOT, base="fixed"))
        world.cast_rays((0.0, 0.0, 1.0), (0.0, 0.0, -1.0))
        robot.sensors["scan"].measure()
        return
    let_compile(lambda names: True)  # other processes compile the other kernels of this world
    try:
        if part == STEP:
            entry_point(advance, TupleReference(world.scene), 1)
            turns, memory = np.zeros(1, TURN), np.zeros((1, 1), SPAN)
            entry_point(advance_side_by_side, TupleReference(world.scene), 0, turns, memory)
        else:
            compile_ahead(world.scene, part)
    finally:
        let_compile(None)


def _compile_dynamics(model, q, v) -> None:
    """Compile the kernels of the dynamics functions of a model."""
    from hrpsim import dynamics

    dynamics.inverse_dynamics(model, q, v, dynamics.forward_dynamics(model, q, v, v))
    dynamics.forward_dynamics_derivatives(model, q, v, v)
    dynamics.inverse_dynamics_derivatives(model, q, v, v)
    dynamics.mass_matrix(model, q), dynamics.energy(model, q, v)
    dynamics.inverse_dynamics_along(model, [q], [v], [v]), dynamics.centers_of_mass(model, [q])


def _compile_walk() -> None:
    """Compile the kernels of the walking controller's period, and of planning."""
    import numpy as np

    from hrpsim.common.resources import share_path
    from hrpsim.control.framework.controller import controlled_joints
    from hrpsim.control.motion.leg_kinematics import LegKinematics
    from hrpsim.control.motion.motion_sequence import Channel, MotionSequence
    from hrpsim.control.walk import Walk
    from hrpsim.engine.compile.lazy_kernels import let_compile
    from hrpsim.model.load import load_model
    from hrpsim.world.objects.robot_reader import RobotReader
    from hrpsim.world.world import World

    model = load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    joints = controlled_joints(model)
    still = Channel(np.array([0.0, 0.1]), np.zeros((2, len(joints))))
    walk = Walk(MotionSequence(joints, pos=still))
    walk.configure(model, {})
    LegKinematics(model, walk.soles[0]).solve((0.0, 0.0, -0.6), np.eye(3), clamp=True)
    let_compile(lambda names: True)  # the kernels of this world's step belong to other parts
    try:
        RobotReader(World().add_robot(model), joints).read()
    finally:
        let_compile(None)
