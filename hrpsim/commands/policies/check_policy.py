# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim check-policy`: names the differences that can make a policy fail in hrpsim.

Compares the description of an ONNX policy with the network (sizes, and entries of the exporter),
with the robot (joints, default posture, gains, effort limits) and with the world's time step. If
the exporter's entries differ, the command simulates both. With a recording of the training
simulator, the command also compares the network's answers to the recorded observations, and the
observations in hrpsim under the recorded actions. Status 1 if anything differs.
"""

import argparse
from pathlib import Path

from hrpsim.commands.parts.output import print_report
from hrpsim.common.arguments import positive
from hrpsim.common.errors import HrpsimError, require_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("policy", type=Path, help="description of the policy (YAML)")
    parser.add_argument("world", type=Path, help="world file or MJCF with the robot at its start")
    parser.add_argument(
        "--time-step", type=positive, metavar="S", help="step [s]; the world's by default"
    )
    parser.add_argument("--robot", metavar="NAME", help="name of the robot, if there are several")
    parser.add_argument(
        "--recording",
        type=Path,
        metavar="FILE",
        help="of the training's simulator: .npz with observations (t, n), actions (t, m) and, if "
        "known, joint_names; or CSV with a header line, observations then actions",
    )
    parser.add_argument(
        "--duration", type=positive, default=1.0, help="of the recording, compared [s]"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=check_policy)


def check_policy(options: argparse.Namespace) -> int:
    """Print the differences. Return 1 if there are any."""
    from hrpsim.bridges import policy_check
    from hrpsim.world.file.load_world import load_world

    robots = load_world(options.world, time_step=options.time_step).robots
    if not robots:
        raise HrpsimError(f"{options.world}: the world has no robot")
    name = options.robot or next(iter(robots))
    require_name("robot", name, robots, HrpsimError)
    differs = policy_check.check_policy(
        options.policy, robots[name], options.recording, options.duration
    )
    if options.json:
        print_report({"robot": name, "differs": differs}, True)
    else:
        print("\n".join(differs or ["nothing differs"]))
    return 1 if differs else 0
