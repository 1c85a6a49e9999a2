# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""mjbatch's worlds in a separate interpreter, because mjbatch needs another version of MuJoCo.

The interpreter runs this file as a script, with the folder that `MjbatchWorlds` has written. Each
input line is a number of steps. The script makes the steps, and prints the processor time. The
number 0 resets all worlds to the state after the first steps.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PYTHON = "HRPSIM_MJBATCH_PYTHON"  # environment variable with an interpreter that has mjbatch


class MjbatchWorlds:
    """Worlds of an XML model, with arrays of states, controls and factors.

    processor_time: processor time of the process after the last step [s].
    """

    def __init__(self, xml: str, threads: int, **arrays: np.ndarray) -> None:
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        (folder / "model.xml").write_text(xml, encoding="utf-8")
        np.savez(folder / "worlds.npz", **arrays)
        command = [os.environ[PYTHON], str(Path(__file__).resolve()), str(folder), str(threads)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.processor_time = 0.0
        self._read()

    def step(self, count: int) -> None:
        """Make `count` steps in every world."""
        self._process.stdin.write(f"{count}\n")
        self._read()

    def reset(self) -> None:
        """Return all worlds to the state after the first call of `step`."""
        self.step(0)

    def _read(self) -> None:
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("mjbatch's process has ended")
        self.processor_time = float(answer)

    def close(self) -> None:
        """End the process."""
        self._process.communicate("")
        self._folder.cleanup()


def randomise(arrays, of_model) -> None:
    """Write masses, friction and gains.

    of_model(name) returns the values of a field (worlds, ...).
    """
    for name in ("body_mass", "body_inertia"):
        values = of_model(name)
        values *= arrays["masses"].reshape(-1, *[1] * (values.ndim - 1))
    of_model("geom_friction")[:, :, 0] = arrays["frictions"][:, None]
    for name in ("actuator_gainprm", "actuator_biasprm"):
        of_model(name)[:] *= arrays["gains"][:, None, None]


def _serve(folder: Path, threads: int) -> None:
    import mjbatch
    import mujoco

    arrays = np.load(folder / "worlds.npz")
    model = mujoco.MjModel.from_xml_path(str(folder / "model.xml"))
    batch = mjbatch.Batch(model, len(arrays["qpos"]), num_threads=threads)
    randomise(arrays, batch.expand)
    batch.set_const()
    for name in ("qpos", "qvel", "ctrl"):
        batch.bind(name)[:] = arrays[name]
    print(time.process_time(), flush=True)
    start: dict[str, np.ndarray] = {}
    for line in sys.stdin:
        if int(line):
            batch.step(nstep=int(line))
        for name in ("qpos", "qvel"):
            if name not in start:
                start[name] = batch.bind(name).copy()
            elif int(line) == 0:
                batch.bind(name)[:] = start[name]
        print(time.process_time(), flush=True)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
