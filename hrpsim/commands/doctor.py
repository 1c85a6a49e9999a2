# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim doctor`: reports the installed packages, and the packages that each feature lacks."""

import argparse
import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import NamedTuple

from hrpsim.commands.parts.output import print_json
from hrpsim.common.extras import EXTRA_PACKAGES, EXTRA_PURPOSES

EPILOG = """Exit status 0: the base works, whatever else is missing. 1: the base does not work.
"""

_OK, _MISSING, _BROKEN = "ok", "missing", "broken"
_BASE = (
    "lxml",
    "numba",
    "numpy",
    "scipy",
    "trimesh",
    "urdf_parser_py",
    "voluptuous",
    "xacro",
    "yaml",
)
_DRAWING_LIMIT = 60.0  # [s, wall]
_DRAW = """
import mujoco
from mujoco.egl import GLContext
from OpenGL import GL
from hrpsim.viewer.rendering.renderer import Lens, Renderer
renderer = Renderer([], Lens(64, 48, 1.0, 0.1, 10.0))
with renderer._gl.as_current():
    print(GL.glGetString(GL.GL_RENDERER).decode())
"""


class Finding(NamedTuple):
    """A line of the report. `state` is "ok", "missing" (not needed by the base) or "broken"."""

    what: str
    state: str
    text: str
    cure: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=doctor)


def doctor(options: argparse.Namespace) -> int:
    """Examine the installation. Return 0 if all required parts work, else 1."""
    findings = [_checked(subject, check) for subject, check in _CHECKS.items()]
    findings += [_extra(name) for name in EXTRA_PURPOSES]
    works = all(finding.state != _BROKEN for finding in findings)
    if options.json:
        print_json({"base_works": works, "findings": [finding._asdict() for finding in findings]})
        return int(not works)
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.state:8}{finding.what:{width}}  {finding.text}")
        if finding.cure:
            print(f"{'':{8 + width}}  -> {finding.cure}")
    print("the base works" if works else "the base does not work: see the lines marked broken")
    return int(not works)


def _checked(what: str, check: Callable[[], tuple[str, str, str]]) -> Finding:
    """Return the finding of a check. An unexpected error becomes a finding "broken"."""
    try:
        return Finding(what, *check())
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        return Finding(what, _BROKEN, f"{type(error).__name__}: {reason}", "install hrpsim again")


def _python() -> tuple[str, str, str]:
    return _OK, f"{platform.python_version()} ({sys.executable}), {platform.machine()}", ""


def _hrpsim() -> tuple[str, str, str]:
    from hrpsim.common.resources import share_path
    from hrpsim.common.version import __version__

    return _OK, f"{__version__} in {Path(__file__).parents[1]}, shared files in {share_path()}", ""


def _packages() -> tuple[str, str, str]:
    missing = [name for name in _BASE if importlib.util.find_spec(name) is None]
    if missing:
        return _BROKEN, f"not installed: {', '.join(missing)}", f"pip install {' '.join(missing)}"
    import numba
    import numpy

    return _OK, f"numpy {numpy.__version__}, numba {numba.__version__}", ""


def _cache() -> tuple[str, str, str]:
    from hrpsim.common.stored_files import VARIABLE, cache_home

    home = cache_home()
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    if not os.access(place, os.W_OK):
        cure = f"let {VARIABLE} name a folder that can be written"
        return _MISSING, f"{home} cannot be written: each start compiles what is not there", cure
    size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
    return _OK, f"{home}, {size / 1e6:.0f} MB", ""


def _kernels() -> tuple[str, str, str]:
    import hrpsim.engine.step.step as step
    from hrpsim.engine.compile.compiled import is_cached
    from hrpsim.engine.compile.lazy_kernels import absent_kernels, declared_lazy_kernels

    absent, every = absent_kernels(), declared_lazy_kernels()
    compiled = f"{len(every) - len(absent)} of {len(every)} kernels are compiled"
    if not is_cached(step.advance):
        compiled = f"the step is not compiled yet, {compiled}"
        return (
            _OK,
            compiled,
            "the first start compiles for up to a minute: hrpsim warm-up does so now",
        )
    return _OK, f"the step and {compiled}", "hrpsim warm-up compiles the others" if absent else ""


def _step() -> tuple[str, str, str]:
    import hrpsim.engine.step.step as step
    from hrpsim.engine.compile.compiled import is_cached

    if not is_cached(step.advance):
        return _OK, "not tried: the step is not compiled yet", ""
    from hrpsim.model.shapes.geometry import Sphere
    from hrpsim.world.world import World

    world = World()
    ball = world.add_body(Sphere(0.1), mass=1.0, position=(0.0, 0.0, 10.0))
    world.step(1000)
    fallen = 10.0 - float(ball.position[2])
    if abs(fallen - 0.5 * 9.80665) > 1e-3:
        return _BROKEN, f"a ball falls {fallen:g} m in a second", "report it"
    return _OK, f"a ball falls {fallen:.3f} m in a second", ""


def _ros() -> tuple[str, str, str]:
    sourced = os.environ.get("ROS_DISTRO")
    if importlib.util.find_spec("rclpy") is None:
        if sourced:
            cure = f"this Python is not that of ROS 2 {sourced}: use the system's Python"
            return _MISSING, f"{sourced} is sourced, but this Python has no rclpy", cure
        return _MISSING, "no rclpy", "pip install 'hrpsim[ros]', or source a ROS 2"
    (folder,) = importlib.util.find_spec("rclpy").submodule_search_locations
    where = f"{sourced}, sourced" if sourced else "from Python packages"
    middleware = os.environ.get("RMW_IMPLEMENTATION", "default middleware")
    optional = ("tf2_msgs", "control_msgs", "simulation_interfaces")
    missing = [name for name in optional if importlib.util.find_spec(name) is None]
    cure = " ".join(["pip install", *(f"./interfaces/{name}" for name in missing)])
    text = f"rclpy in {folder} ({where}, {middleware})"
    if missing:
        return _OK, f"{text}; without {', '.join(missing)}", f"{cure}, from a checkout"
    return _OK, text, ""


def _pictures() -> tuple[str, str, str]:
    if importlib.util.find_spec("mujoco") is None:
        return _MISSING, "MuJoCo is not installed", "pip install 'hrpsim[camera]'"
    command = [sys.executable, "-c", _DRAW]  # a driver may end the process
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_DRAWING_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return _MISSING, f"EGL does not answer within {_DRAWING_LIMIT:g} s", "look at the driver"
    if done.returncode == 0:
        driver = done.stdout.strip()
        slow = " (no GPU: the processor draws)" if "llvmpipe" in driver else ""
        return _OK, f"EGL draws by {driver}{slow}", ""
    reason = " ".join((done.stderr.splitlines() or ["no reason given"])[-1].split())[:160]
    cure = "sudo apt install libegl1 libgl1-mesa-dri, or a driver of the GPU with EGL"
    return _MISSING, f"EGL cannot draw: {reason}", cure


_CHECKS: dict[str, Callable[[], tuple[str, str, str]]] = {
    "Python": _python,
    "hrpsim": _hrpsim,
    "packages": _packages,
    "cache": _cache,
    "kernels": _kernels,
    "a step": _step,
    "ROS 2": _ros,
    "pictures": _pictures,
}


def _extra(name: str) -> Finding:
    """Return a finding on the packages of an extra."""
    modules = EXTRA_PACKAGES[name]
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    purpose = EXTRA_PURPOSES[name]
    if missing:
        cure = f"pip install 'hrpsim[{name}]'"
        return Finding(f"[{name}]", _MISSING, f"{purpose}: no {', '.join(missing)}", cure)
    return Finding(f"[{name}]", _OK, f"{purpose}: {', '.join(map(_versioned, modules))}")


def _versioned(module: str) -> str:
    for distribution in packages_distributions().get(module, (module,)):
        try:
            return f"{module} {version(distribution)}"
        except PackageNotFoundError:
            continue
    return module
