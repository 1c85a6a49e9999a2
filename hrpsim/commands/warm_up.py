"""The command `hrpsim warm-up`: compile now what worlds would compile when they first need it."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

from hrpsim.arguments import whole

STEP, READING = "step", "reading"
_ROBOT = """<robot name="warm_up"><link name="base"/><link name="arm"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""


def add_parser(commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("warm-up", help="compile every kernel now, for later processes")
    parser.add_argument(
        "--processes",
        type=whole(1, 1024),
        help="that compile side by side; one a processor by default",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile, and keep on disk, the step and all kernels that it calls."""
    from hrpsim.step.late_kernels import late_kernel_names

    begin = time.perf_counter()
    parts = [STEP, READING, *late_kernel_names()]
    workers = min(options.processes or os.cpu_count() or 1, len(parts))
    if workers <= 1:
        for part in parts:
            compile_part(part)
    else:
        spawn = multiprocessing.get_context("spawn")  # numba's state does not survive a fork
        with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
            list(pool.map(compile_part, parts))
    print(f"kernels are ready ({time.perf_counter() - begin:.1f} s)")
    return 0


def compile_part(part: str) -> None:
    """Compile the step, what reads and commands, or one late kernel, unless the cache has it."""
    from hrpsim.model.load import load_model
    from hrpsim.model.shapes.geometry import Sphere
    from hrpsim.step.late_kernels import compile_late_kernel
    from hrpsim.world.world import World

    world = World(sleeping=False)
    world.add_ground()
    world.add_body(Sphere(0.1), mass=1.0, position=(0.0, 0.0, 0.1))
    if part == STEP:
        world.step()
    elif part == READING:
        robot = world.add_robot(load_model(_ROBOT, base="fixed"))
        robot.command(efforts=robot.constraint_efforts())
        world.contact_arrays(), world.link_poses(), world.link_velocities()
        world.contacts_of(world.bodies["sphere"])
        world.connect(None, "sphere").wrench  # noqa: B018  compiles what reads it
    else:
        compile_late_kernel(world.scene, part)
