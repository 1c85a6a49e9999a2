"""The `hrpsim` command: descriptions, worlds, walks, motions, recordings, experiments."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from hrpsim.commands import bench, crane, inverse_dynamics, record, view, walk, wrench_plot
from hrpsim.errors import HrpsimError


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status: 0 done, 1 refused or failed, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (HrpsimError, OSError) as error:
        print(f"hrpsim: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hrpsim", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="step a world file and report on it")
    run.add_argument("world", type=Path, help="world file (YAML)")
    run.add_argument("--duration", type=float, default=10.0, help="simulated time [s]")
    run.add_argument("--time-step", type=float, help="step [s]; the world file's by default")
    run.add_argument("--integrator", help="semi_implicit, rk4 or euler")
    run.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    run.add_argument("--json", action="store_true", help="print JSON")
    view.add_arguments(run)
    view.add_film_argument(run)
    run.set_defaults(run=run_world)
    walk.add_parser(commands)
    crane.add_parser(commands)
    inverse_dynamics.add_parser(commands)
    record.add_parser(commands)
    wrench_plot.add_parser(commands)
    check = commands.add_parser("check-urdf", help="load a description and say what it holds")
    check.add_argument("urdf", type=Path, help="URDF or xacro file")
    check.add_argument("--base", choices=("free", "fixed"), default="free")
    check.add_argument("--xacro", action="append", default=[], metavar="NAME:=VALUE")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(run=check_urdf)
    again = commands.add_parser("reproduce", help="run experiments of the source documents")
    again.add_argument("experiments", nargs="+", metavar="EXPERIMENT", help="E7 E8 ..., or all")
    again.add_argument("--quick", action="store_true", help="fewer cases, the same targets")
    again.add_argument(
        "--output", type=Path, default=Path("output/reproduce"), help="folder of the figures"
    )
    again.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    again.add_argument("--json", action="store_true", help="print JSON")
    again.set_defaults(run=reproduce_experiments)
    bench.add_parser(commands)
    warm_up = commands.add_parser("warm-up", help="compile every kernel now, for later processes")
    warm_up.set_defaults(run=warm_up_kernels)
    return parser


def _xacro_arguments(texts: list[str]) -> dict[str, str]:
    arguments = {}
    for text in texts:
        name, separator, value = text.partition(":=")
        if not separator:
            raise HrpsimError(f"--xacro takes NAME:=VALUE, got {text!r}")
        arguments[name] = value
    return arguments


def run_world(options: argparse.Namespace) -> int:
    """Step a world for a while and print how it went, or play it in a browser."""
    from hrpsim.world.load import load_world

    world = load_world(
        options.world,
        time_step=options.time_step,
        integrator=options.integrator,
        xacro_arguments=_xacro_arguments(options.xacro),
    )
    if options.viewer:
        return view.view(options, world)
    if options.film:
        return view.make_film(options, world)
    world.step()
    steps = max(round(options.duration / world.time_step) - 1, 0)
    begin = time.perf_counter()
    world.step(steps)
    took = time.perf_counter() - begin
    report = {
        "simulated_time": world.time,
        "steps": steps + 1,
        "microseconds_per_step": 1e6 * took / max(steps, 1),
        "real_time_factor": steps * world.time_step / max(took, 1e-12),
        "contacts": world.stats.contact_count,
        "iterations": world.stats.iterations,
        "residual": world.stats.residual,
        "max_penetration": world.stats.max_penetration,
        "robots": {
            name: {
                "base_position": [round(float(x), 6) for x in robot.q[:3]],
                "wrenches": {
                    sensor.description.name: [round(float(x), 4) for x in sensor.wrench]
                    for sensor in robot.sensors.values()
                    if sensor.description.kind == "force_torque"
                },
            }
            for name, robot in world.robots.items()
        },
    }
    _print(report, options.json)
    return 0


def check_urdf(options: argparse.Namespace) -> int:
    """Load a description; print its joints, links, mass and sensors."""
    from hrpsim.model.load import load_model

    model = load_model(
        options.urdf, base=options.base, xacro_arguments=_xacro_arguments(options.xacro)
    )
    report = {
        "name": model.name,
        "base": model.base,
        "nq": model.nq,
        "nv": model.nv,
        "mass": round(model.mass, 6),
        "links": len(model.link_names),
        "bodies": model.body_count,
        "joints": list(model.joint_names),
        "sensors": {s.name: f"{s.kind} on {s.link}" for s in model.sensors},
        "collision_shapes": len(model.shapes),
        "meshes_without_collision": [uri for _, uri in model.skipped_meshes],
    }
    _print(report, options.json)
    return 0


def reproduce_experiments(options: argparse.Namespace) -> int:
    """Run experiments beside theory and other engines; status 1 if a target is missed."""
    from hrpsim.experiments.reproduce import reproduce

    return reproduce(
        options.experiments,
        options.output,
        quick=options.quick,
        as_json=options.json,
        markdown=options.markdown,
    )


def warm_up_kernels(options: argparse.Namespace) -> int:
    """Compile and cache every kernel that stepping a world needs."""
    from hrpsim.model.geometry import Sphere
    from hrpsim.world.world import World

    begin = time.perf_counter()
    world = World()
    world.add_ground()
    world.add_body(Sphere(0.1), mass=1.0, position=(0.0, 0.0, 0.1))
    world.step()
    print(f"kernels are ready ({time.perf_counter() - begin:.1f} s)")
    return 0


def _print(report: dict, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report, indent=2))
        return
    for key, value in report.items():
        if isinstance(value, dict) and value:
            print(f"{key}:")
            for name, item in value.items():
                print(f"  {name}: {item}")
        elif isinstance(value, float):
            print(f"{key}: {value:.6g}")
        else:
            print(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")


if __name__ == "__main__":
    sys.exit(main())
