# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bits of a robot's motion, to be compared between compilers, releases and machines.

HRPSIM_PLAIN_COMPILER=1 must give the same; another LLVM, another processor may not: they fuse other
products and sums. `pytest -rP test/world/test_trajectory_bits.py` shows what is printed.
"""

import hashlib

import llvmlite.binding
import numba
import numpy as np

from hrpsim import load_world, share_path

STEPS = 1000


def bits_of_a_motion() -> str:
    """Return a digest of all states while arms, chest and head of hrp2_like are moved about."""
    world = load_world(share_path("config/stand.yaml"))
    robot = world.robots["hrp2"]
    names = ("RARM_JOINT0", "LARM_JOINT3", "HEAD_JOINT0", "CHEST_JOINT0")
    digest = hashlib.sha256()
    for step in range(STEPS):
        if step % 50 == 0:
            goal = 0.15 * (step // 50 * 7 % 5 - 2)
            robot.command(names=names, positions=[goal] * len(names), over=0.05)
        world.step()
        digest.update(np.concatenate([robot.q, robot.v]).tobytes())
    return digest.hexdigest()[:16]


def test_a_motion_has_the_same_bits_each_time():
    """Law: worlds that are loaded from the same files and treated alike move alike, bit for bit."""
    bits = bits_of_a_motion()
    llvm = ".".join(map(str, llvmlite.binding.llvm_version_info))
    processor = llvmlite.binding.get_host_cpu_name()
    print(f"hrp2_like, {STEPS} steps: {bits}; numba {numba.__version__}, LLVM {llvm}, {processor}")
    assert bits == bits_of_a_motion()
