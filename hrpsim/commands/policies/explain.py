# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim explain`: finds why a policy falls or drifts in hrpsim, but not in a reference.

The command runs the policy in both simulators from perturbed starts. The differences between the
simulators are removed one by one and together. The reference is MuJoCo, or a recording of the
states.
"""

import argparse
import sys
from pathlib import Path

from hrpsim.commands.parts.output import print_report
from hrpsim.commands.policies.rollout import add_spread, add_velocity
from hrpsim.common.arguments import positive, whole
from hrpsim.common.errors import HrpsimError, require_packages

EPILOG = """exit status: 0 the two behave alike; 1 the two differ, or an error; 2 usage.

  hrpsim explain policy.yaml robot.xml --keyframe stand --command 0.5 0 0
  hrpsim explain policy.yaml world.yaml --mjcf robot.xml
  hrpsim explain policy.yaml world.yaml --reference run.npz
"""
_MUJOCO = "mujoco"
_REMEDY = "pip install 'hrpsim[onnx,sweep]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("policy", type=Path, help="description of the policy (YAML)")
    parser.add_argument("world", type=Path, help="world file or MJCF with the robot at its start")
    parser.add_argument(
        "--reference",
        default=_MUJOCO,
        metavar="NAME",
        help="mujoco, or a recording (.npz, .csv, bag); mujoco by default",
    )
    parser.add_argument(
        "--mjcf",
        type=Path,
        metavar="FILE",
        help="the robot for mujoco; by default the world, if the world is an MJCF",
    )
    parser.add_argument(
        "--mujoco-period",
        type=positive,
        metavar="SECONDS",
        help="of the PD control in mujoco [s]; the policy's by default",
    )
    parser.add_argument("--robot", metavar="NAME", help="name of the robot, if there are several")
    parser.add_argument(
        "--keyframe", default="", metavar="NAME", help="posture of the description to start in"
    )
    add_velocity(parser, (0.0, 0.0, 0.0))
    parser.add_argument("--duration", type=positive, default=3.0, help="of a run [s]")
    parser.add_argument("--starts", type=whole(2, 200), default=8, help="perturbed starts")
    add_spread(parser)
    parser.add_argument("--processes", type=whole(1, 1000), help="by default one per processor")
    parser.add_argument(
        "--output", type=Path, default=Path("explanation"), help="folder of the page"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=explain)


def explain(options: argparse.Namespace) -> int:
    """Compare, write the page and print the findings. Return 1 if the simulators differ."""
    require_packages("explain", ("onnxruntime", "xarray"), _REMEDY)
    from hrpsim.explain import Case, write_page
    from hrpsim.explain import explain as find
    from hrpsim.explain.page import as_data, summary
    from hrpsim.sweeps.executors import process_pool

    case = Case(
        policy=options.policy.absolute(),
        world=options.world.absolute(),
        robot=options.robot,
        keyframe=options.keyframe,
        commands=((0.0, *options.command),),
        duration=options.duration,
        starts=options.starts,
        joint_spread=options.spread,
    )
    reference = _reference(case, options)
    with process_pool(options.processes) as make:
        comparison = find(
            case, reference, make(), lambda text: print(f"{text} ...", file=sys.stderr)
        )
    page, _ = write_page(comparison, options.output)
    if options.json:
        print_report(as_data(comparison), True)
    else:
        print("\n".join([*summary(comparison), f"Page: {page}"]))
    return 1 if comparison.differs else 0


def _reference(case, options: argparse.Namespace):
    from hrpsim.explain import MujocoReference, RecordedReference

    if options.reference != _MUJOCO:
        for name in ("mjcf", "mujoco-period"):
            if getattr(options, name.replace("-", "_")) is not None:
                raise HrpsimError(
                    f"--{name} has no effect without --reference mujoco. Leave it out"
                )
        return RecordedReference(case, Path(options.reference))
    mjcf = options.mjcf or options.world
    if mjcf.suffix != ".xml":
        raise HrpsimError(
            f"{mjcf} is not an MJCF. Name the robot for MuJoCo by --mjcf FILE, or a recording by "
            "--reference FILE"
        )
    return MujocoReference(case, mjcf.absolute(), period=options.mujoco_period)
