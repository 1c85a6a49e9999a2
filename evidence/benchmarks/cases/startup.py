# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Import, load and first step in new processes, and the compilation of all kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort
from evidence.experiments.framework.engines import mujoco_module, pinocchio_module

CACHED_BOUND, COLD_BOUND = 1.0, 20.0  # [s]
PARTS = ("import", "load", "first step")
OURS = "hrpsim"
_CLOCK = """
import json, time
marks = [time.process_time()]
def mark(): marks.append(time.process_time())
"""
_END = "\nprint(json.dumps(marks))"
_OURS = """
import hrpsim
from hrpsim import share_path
hrpsim.World, hrpsim.load_model
mark()
model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"), xacro_arguments={"bush": "true"})
mark()
world = hrpsim.World()
world.add_ground()
world.add_robot(model)
world.step()
mark()
"""
_MUJOCO = """
import mujoco
mark()
model = mujoco.MjModel.from_xml_path(PATH)
data = mujoco.MjData(model)
mark()
mujoco.mj_step(model, data)
mark()
"""
_PINOCCHIO = """
import pinocchio
mark()
model = pinocchio.buildModelFromUrdf(PATH, pinocchio.JointModelFreeFlyer())
data = model.createData()
mark()
pinocchio.aba(model, data, pinocchio.neutral(model), *[__import__("numpy").zeros(model.nv)] * 2)
mark()
"""


def durations(program: str, **environment: str) -> np.ndarray:
    """Return the processor times of import, load and first step in a new process [s]."""
    done = subprocess.run(
        [sys.executable, "-c", _CLOCK + program + _END],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return np.diff(json.loads(done.stdout.splitlines()[-1]))


def _peer_programs(folder: str) -> dict[str, str]:
    """Return programs of peers that load the same robot, without the xacro step."""
    from evidence.benchmarks.engines.urdf import plain_urdf
    from evidence.experiments.scenes.standing import humanoid

    path = os.path.join(folder, "robot.urdf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(plain_urdf(humanoid().urdf))
    programs = {}
    if mujoco_module() is not None:
        programs["mujoco"] = _MUJOCO.replace("PATH", repr(path))
    if pinocchio_module() is not None:
        programs["pinocchio, ABA"] = _PINOCCHIO.replace("PATH", repr(path))
    return programs


def run(result: CaseResult, effort: Effort) -> None:
    """Start processes in turn. Unless quick, also compile all kernels once from scratch."""
    with tempfile.TemporaryDirectory() as folder:
        programs = {OURS: _OURS, **_peer_programs(folder)}
        keeps = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": os.path.join(folder, "pyc")}
        for program in programs.values():
            durations(program, **keeps)  # compiles if necessary
        turns = [
            [durations(program, **keeps) for program in programs.values()]
            for _ in range(2 if effort.quick else 5)
        ]
    reference = next((name for name in programs if name != OURS), OURS)
    arrays = dict(zip(programs, np.array(turns).swapaxes(0, 1)))
    for k, part in enumerate(PARTS):
        times = {name: values[:, k] for name, values in arrays.items()}
        result.note(part, times, reference, {OURS: True}, {})
    totals = {name: values.sum(axis=1) for name, values in arrays.items()}
    result.note("in all", totals, reference, {OURS: True}, {})
    text = "time to the first step of a later process [s]"
    result.claims.append(Claim(text, float(np.median(totals[OURS])), CACHED_BOUND))
    if not effort.quick:
        with tempfile.TemporaryDirectory() as empty:
            cold = float(durations(_OURS, HRPSIM_CACHE_DIR=empty).sum())
        result.claims.append(
            Claim("time to the first step without compiled kernels [s]", cold, COLD_BOUND)
        )
    result.notes += [
        "Python stores its compiled files, as by default",
        "Times are processor times. hrpsim expands xacro, the others read URDF",
    ]


CASE = Case("Start-up", run, unit="ms", scale=1e3)
